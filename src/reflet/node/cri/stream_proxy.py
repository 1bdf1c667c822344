"""exec, attach and port-forward: the request goes on to the runtime's streaming server.

The runtime says where it answers one request (Exec, Attach, PortForward); from then on the bytes
of both sides are handed over as they are, whatever protocol they agreed on.

Upstream: pkg/kubelet/server/server.go, getExec (proxyStream);
apimachinery/pkg/util/proxy/upgradeaware.go, tryUpgrade
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from reflet.cri.cri_client import RuntimeService
from reflet.cri.messages.service import AttachRequest, ExecRequest
from reflet.errors import RefletError, RpcNotFound, TransportError
from reflet.node.cri.cri_container_runtime import CriContainerRuntime
from reflet.node.server.log_service import FindPod
from reflet.node.server.port_forward_service import asked_ports
from reflet.node.server.stream_channels import AskedStreams, StreamPlaces, asked_streams
from reflet.pleg.runtime_status import RuntimeState
from reflet.resolution.places import containers_of
from reflet.runtime.sockets import abort
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text
from reflet.transport.upgrades.byte_streams import ByteStream, SocketBytes
from reflet.transport.upgrades.channels import STDERR, STDIN, STDOUT

CONNECT_TIMEOUT: Final = 30.0  # seconds for the streaming server to agree
LONGEST_HEAD: Final = 64 * 1024  # bytes of its answer
HANDED_ON: Final = (
    *("connection", "upgrade", "x-stream-protocol-version", "sec-websocket-key"),
    *("sec-websocket-version", "sec-websocket-protocol", "sec-websocket-extensions"),
)
_HANDED_BACK: Final = (
    *("connection", "upgrade", "x-stream-protocol-version", "sec-websocket-accept"),
    *("sec-websocket-protocol", "sec-websocket-extensions"),
)


class StreamProxy:
    """One kind of streams; *address* asks the runtime where a question is answered.

    It returns an ``Answer`` when the question cannot be asked.
    """

    def __init__(
        self,
        address: Callable[[Question], Awaitable[str | Answer]],
        places: StreamPlaces,
    ) -> None:
        self._address = address
        self._places = places

    async def answer(self, question: Question) -> Answer | Upgrade:
        """Answer one request for streams."""
        if not question.headers.get("upgrade"):
            return text(400, "this is answered to an upgrade, to WebSocket or SPDY/3.1, alone")
        refusal = self._places.refusal()
        if refusal is not None:
            return refusal
        try:
            address = await self._address(question)
            if isinstance(address, Answer):
                return address
            async with asyncio.timeout(CONNECT_TIMEOUT):
                return await self._upgraded(address, question.headers)
        except RpcNotFound as error:
            return text(404, error.description)
        except (RefletError, OSError) as error:  # a TimeoutError is one
            return text(
                503, f"the runtime cannot serve this now: {str(error) or 'no answer in time'}"
            )

    async def _upgraded(self, address: str, headers: Mapping[str, str]) -> Answer | Upgrade:
        parsed = urlsplit(address)
        reader, writer = await asyncio.open_connection(
            parsed.hostname, parsed.port, limit=LONGEST_HEAD
        )
        try:
            path = f"{parsed.path}?{parsed.query}" if parsed.query else parsed.path
            lines = [f"POST {path} HTTP/1.1", f"host: {parsed.netloc}"]
            if headers.get("upgrade", "").lower() == "websocket":
                lines[0] = f"GET {path} HTTP/1.1"
            else:
                lines.append("content-length: 0")
            lines += [f"{name}: {headers[name]}" for name in HANDED_ON if name in headers]
            writer.write("\r\n".join((*lines, "", "")).encode("latin-1"))
            await writer.drain()
            status, answered = _head(await reader.readuntil(b"\r\n\r\n"))
            if status != 101:
                return await _refused(status, answered, reader, writer)
        except BaseException:
            abort(writer.transport)
            raise
        target = SocketBytes(reader, writer, "the runtime")
        back = tuple((name, answered[name]) for name in _HANDED_BACK if name in answered)

        async def serve(line: ByteStream) -> None:
            with self._places.place() as has_place:
                await (_exchange(line, target) if has_place else target.close())

        return Upgrade(back, serve, give_up=partial(abort, writer.transport))


class CriStreams:
    """Where the runtime answers questions about the containers of *runtime*."""

    def __init__(
        self, service: RuntimeService, runtime: CriContainerRuntime, find_pod: FindPod
    ) -> None:
        self._service = service
        self._runtime = runtime
        self._find_pod = find_pod

    async def exec(self, question: Question) -> str | Answer:
        """Where a command is run."""
        asked = asked_streams(question, self._find_pod)
        if isinstance(asked, Answer):
            return asked
        if not question.command:
            return text(400, "you must specify at least 1 command for the container")
        container = await self._running(asked)
        if container is None:
            return text(404, f'container not found ("{asked.container}")')
        return await self._service.exec(
            ExecRequest(
                container_id=container,
                cmd=question.command,
                tty=asked.tty,
                stdin=STDIN in asked.streams,
                stdout=STDOUT in asked.streams,
                stderr=STDERR in asked.streams,
            )
        )

    async def attach(self, question: Question) -> str | Answer:
        """Where a container is attached to."""
        asked = asked_streams(question, self._find_pod)
        if isinstance(asked, Answer):
            return asked
        container = await self._running(asked)
        if container is None:
            pod = asked.pod.metadata
            name = f"{pod.name}_{pod.namespace}"
            return text(404, f"container {asked.container} not found in pod {name}")
        # What the container has decides, since the runtime gives it nothing else.
        tty = any(
            placed.container.tty
            for placed in containers_of(asked.pod.spec)
            if placed.container.name == asked.container
        )
        return await self._service.attach(
            AttachRequest(
                container_id=container,
                tty=tty,
                stdin=STDIN in asked.streams,
                stdout=STDOUT in asked.streams,
                stderr=STDERR in asked.streams and not tty,
            )
        )

    async def port_forward(self, question: Question) -> str | Answer:
        """Where ports of a pod are forwarded."""
        if len(question.path) not in (3, 4):
            return text(404, "ports are forwarded at /portForward/NAMESPACE/POD")
        _, namespace, name, *uid = question.path
        pod = self._find_pod(namespace, name)
        if pod is None or uid not in ([], [pod.metadata.uid]):
            return text(404, f'pods "{name}" not found')
        try:
            ports = asked_ports(question.ports) if question.ports else ()
        except ValueError as error:
            return text(400, str(error))
        sandbox = await self._runtime.sandbox_id(pod.metadata.uid)
        if sandbox is None:
            return text(404, f'pods "{name}" does not run')
        return await self._service.port_forward(sandbox, ports)

    async def _running(self, asked: AskedStreams) -> str | None:
        for life in await self._runtime.records(asked.pod.metadata.uid):
            if life.name == asked.container and life.state is RuntimeState.RUNNING:
                return life.id
        return None


def _head(data: bytes) -> tuple[int, dict[str, str]]:
    """Read the head of an answer; TransportError for what is none."""
    first, *lines = data.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if len(words) < 2 or not words[1].isdecimal():
        raise TransportError("the runtime's streaming server does not speak HTTP")
    pairs = (line.partition(":") for line in lines if line)
    return int(words[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _refused(
    status: int,
    headers: Mapping[str, str],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> Answer:
    """What the streaming server said instead of agreeing."""
    length = headers.get("content-length", "")
    wanted = min(int(length), LONGEST_HEAD) if length.isdecimal() else 0
    body = b""
    with suppress(asyncio.IncompleteReadError):
        body = await reader.readexactly(wanted)
    writer.close()
    return text(max(400, status), body.decode(errors="replace").strip() or "it was refused")


async def _exchange(line: ByteStream, target: SocketBytes) -> None:
    """Carry both directions until either side has ended."""
    sending = asyncio.create_task(_copy(line, target), name="to the runtime")
    receiving = asyncio.create_task(_copy(target, line), name="from the runtime")
    try:
        await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
        if receiving.done():
            await line.flush()
    finally:
        for task in (sending, receiving):
            task.cancel()
        await asyncio.gather(sending, receiving, return_exceptions=True)
        await target.close()


async def _copy(source: ByteStream, target: ByteStream) -> None:
    with suppress(TransportError, OSError):
        while data := await source.read():
            await target.write(data)
