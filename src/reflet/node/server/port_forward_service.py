"""``/portForward/NAMESPACE/POD``: what ``kubectl port-forward`` asks a node for.

Each connection is two SPDY streams of one request id: its bytes, and what went wrong.  The ports
of a pod are those of this machine's loopback, since processes share its network.  So only ports
that the pod declares are forwarded: who may look into one pod must not reach what else listens.

Upstream: cri-streaming/pkg/streaming/portforward/httpstream.go, httpStreamHandler
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import Final

from reflet.api.core.pods import Pod
from reflet.errors import RefletError, TransportError
from reflet.node.descriptor_budget import MOST_FORWARDED
from reflet.node.server.log_service import FindPod, Records
from reflet.node.server.upgrading import SPDY, agreed_protocol
from reflet.pleg.runtime_status import RuntimeState
from reflet.resolution.places import containers_of
from reflet.runtime.tasks import TaskOwner
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text
from reflet.transport.upgrades.byte_streams import ByteStream, SocketBytes
from reflet.transport.upgrades.channels import Channel
from reflet.transport.upgrades.spdy import SpdySession, SpdyStream
from reflet.transport.upgrades.websocket import TunneledBytes, WebSocket

PROTOCOL: Final = "portforward.k8s.io"
TUNNEL: Final = f"{SPDY}+{PROTOCOL}"
LOOPBACKS: Final = ("127.0.0.1", "::1")
CONNECT_TIMEOUT: Final = 10.0  # seconds
LARGEST_PORT: Final = 2**16 - 1


class PortForwardService:
    """Forwards connections to ports of this node's pods, whoever asks; at most *most* at a time."""

    def __init__(self, *, find_pod: FindPod, records: Records, most: int = MOST_FORWARDED) -> None:
        self._find_pod = find_pod
        self._records = records
        self._most = most
        self._forwarded = 0

    async def answer(self, question: Question) -> Answer | Upgrade:
        """Answer one request to forward."""
        if len(question.path) not in (3, 4):
            return text(404, "ports are forwarded at /portForward/NAMESPACE/POD")
        _, namespace, name, *uid = question.path
        pod = self._find_pod(namespace, name)
        if pod is None or uid not in ([], [pod.metadata.uid]):
            return text(404, f'pods "{name}" not found')
        agreed = agreed_protocol(question, websocket=(TUNNEL,), spdy=(PROTOCOL,))
        if isinstance(agreed, Answer):
            return agreed
        return Upgrade(agreed.headers, partial(self._serve, pod, agreed.is_websocket))

    async def _serve(self, pod: Pod, is_tunnel: bool, line: ByteStream) -> None:
        if is_tunnel:
            line = TunneledBytes(WebSocket(line, is_client=False))
        waiting: dict[str, SpdyStream] = {}  # by request id, for the other of the pair

        def opened(stream: SpdyStream) -> None:
            request = stream.headers.get("requestid", str(stream.number))
            other = waiting.pop(request, None)
            kinds = {each.headers.get("streamtype"): each for each in (stream, other) if each}
            match kinds:
                case {"data": data, "error": errors}:
                    forwarding = self._until_gone(pod, data, errors)
                    tasks.start(forwarding, name="forwarded connection")
                case {"data": _} | {"error": _} if other is None:
                    waiting[request] = stream
                case _:
                    for each in filter(None, (stream, other)):
                        tasks.start(_reset(each), name="refused stream")

        async with TaskOwner("forwarded ports") as tasks:
            session = SpdySession(line, is_client=False, on_stream=opened)
            try:
                await session.run()
            finally:
                await session.close()

    async def _until_gone(self, pod: Pod, data: SpdyStream, errors: SpdyStream) -> None:
        with contextlib.suppress(TransportError):
            await self._forward(pod, data, errors)

    async def _forward(self, pod: Pod, data: SpdyStream, errors: SpdyStream) -> None:
        said = data.headers.get("port", "")
        target: SocketBytes | None = None
        self._forwarded += 1
        try:
            target = await self._connected(pod, said)
            await _exchange(target, data)
        except _Refused as error:
            metadata = pod.metadata
            words = f"error forwarding port {said} to pod {metadata.name}, uid {metadata.uid}"
            await errors.write(f"{words}: {error}".encode())
        except TransportError:
            await data.reset()
        finally:
            self._forwarded -= 1
            data.inbox.drop()  # what still comes has nobody to go to
            if target is not None:
                await target.close()
            await data.finish()
            await errors.finish()

    async def _connected(self, pod: Pod, said: str) -> SocketBytes:
        port = int(said) if said.isascii() and said.isdecimal() and len(said) <= 5 else 0
        if not 0 < port <= LARGEST_PORT:
            raise _Refused("this is no port")
        if self._forwarded > self._most:
            raise _Refused(f"{self._most} connections are forwarded, and no more fit")
        if not await self._runs(pod):
            raise _Refused("the pod does not run")
        if port not in declared_ports(pod):
            raise _Refused(
                "it is no containerPort of the pod, which shares this machine's network: declare it"
            )
        problem: Exception | None = None
        for host in LOOPBACKS:
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    reader, writer = await asyncio.open_connection(host, port)
            except (OSError, TimeoutError) as error:
                problem = problem or error
            else:
                return SocketBytes(reader, writer, f"port {port}")
        words = problem.strerror if isinstance(problem, OSError) else None
        raise _Refused(f"failed to connect to localhost:{port}: {words or 'no answer in time'}")

    async def _runs(self, pod: Pod) -> bool:
        """Whether it is still there: its port may be another's by now."""
        now = self._find_pod(pod.metadata.namespace, pod.metadata.name)
        if now is None or now.metadata.uid != pod.metadata.uid:
            return False
        try:
            records = await self._records(pod.metadata.uid)
        except RefletError as error:
            raise _Refused(f"nobody can say now whether the pod runs: {error}") from error
        return any(record.state is RuntimeState.RUNNING for record in records)


def declared_ports(pod: Pod) -> frozenset[int]:
    """The TCP ports that the containers of a pod say they listen on."""
    return frozenset(
        port.container_port
        for placed in containers_of(pod.spec)
        for port in placed.container.ports
        if port.protocol in {"", "TCP"}
    )


class _Refused(Exception):
    """Why a connection is not forwarded."""


async def _exchange(target: SocketBytes, data: SpdyStream) -> None:
    """Carry both directions, each to its end."""
    sending = asyncio.create_task(_copy(data, target), name="to a port")
    receiving = asyncio.create_task(_copy(target, data), name="from a port")
    try:
        await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_EXCEPTION)
        for task in (receiving, sending):
            if task.done():
                task.result()
    finally:
        for task in (sending, receiving):
            task.cancel()
        await asyncio.gather(sending, receiving, return_exceptions=True)


async def _copy(source: Channel | SocketBytes, target: Channel | SocketBytes) -> None:
    while data := await source.read():
        await target.write(data)
    await target.finish()


async def _reset(stream: SpdyStream) -> None:
    with contextlib.suppress(TransportError):
        await stream.reset()
