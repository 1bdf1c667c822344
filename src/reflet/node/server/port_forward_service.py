"""``/portForward/NAMESPACE/POD``: what ``kubectl port-forward`` asks a node for.

Each connection is a pair: its bytes, and what went wrong.  In SPDY, tunneled through a WebSocket or
not, the pair is two streams of one request id, and connections come and go.  Clients in Python
speak ``v4.channel.k8s.io``: the query names ports, each of them is connected to once and has two
channels, and the first message on either is the port's number.

The ports of a pod are those of this machine's loopback, since processes share its network.  So only
ports that the pod declares are forwarded: who may look into one pod must not reach what else
listens.

Upstream: cri-streaming/pkg/streaming/portforward/httpstream.go, httpStreamHandler;
    websocket.go, handleWebSocketStreams
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from functools import partial
from typing import Final

from reflet.api.core.pods import Pod
from reflet.errors import RefletError, TransportError
from reflet.node.descriptor_budget import MOST_FORWARDED
from reflet.node.server.log_service import FindPod, Lives
from reflet.node.server.stream_channels import until_taken
from reflet.node.server.upgrading import SPDY, agreed_protocol
from reflet.pleg.runtime_status import RuntimeState
from reflet.resolution.places import containers_of
from reflet.runtime.tasks import TaskOwner
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text
from reflet.transport.upgrades.byte_streams import FAREWELL, ByteStream, SocketBytes
from reflet.transport.upgrades.channels import (
    MOST_CHANNELS,
    V4,
    Channel,
    ChannelSocket,
    WebSocketChannel,
)
from reflet.transport.upgrades.spdy import SpdySession, SpdyStream
from reflet.transport.upgrades.websocket import TunneledBytes, WebSocket

PROTOCOL: Final = "portforward.k8s.io"
TUNNEL: Final = f"{SPDY}+{PROTOCOL}"
LOOPBACKS: Final = ("127.0.0.1", "::1")
CONNECT_TIMEOUT: Final = 10.0  # seconds
LARGEST_PORT: Final = 2**16 - 1


class PortForwardService:
    """Forwards connections to ports of this node's pods, whoever asks; at most *most* at a time."""

    def __init__(self, *, find_pod: FindPod, records: Lives, most: int = MOST_FORWARDED) -> None:
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
        agreed = agreed_protocol(question, websocket=(TUNNEL, V4), spdy=(PROTOCOL,), unnamed=V4)
        if isinstance(agreed, Answer):
            return agreed
        if agreed.protocol != V4:
            return Upgrade(agreed.headers, partial(self._serve, pod, agreed.is_websocket))
        try:
            ports = asked_ports(question.ports)
        except ValueError as error:
            return text(400, str(error))
        return Upgrade(agreed.headers, partial(self._serve_channels, pod, ports))

    async def _serve_channels(self, pod: Pod, ports: Sequence[int], line: ByteStream) -> None:
        """Forward one connection to each of *ports*, until all of them or the WebSocket ended."""
        websocket, count = WebSocket(line, is_client=False), 2 * len(ports)
        socket = ChannelSocket(websocket, V4, incoming=range(0, count, 2), count=count)
        try:
            for channel in socket.channels:
                await channel.write(ports[channel.number // 2].to_bytes(2, "little"))
            async with TaskOwner("forwarded ports") as tasks:
                reading = tasks.start(socket.run(), name="channels of ports")
                forwarded: set[asyncio.Task[None]] = {
                    tasks.start(self._until_gone(pod, str(port), *pair), name="forwarded port")
                    for port, *pair in zip(
                        ports, socket.channels[::2], socket.channels[1::2], strict=True
                    )
                }
                while forwarded and not reading.done():
                    first = asyncio.FIRST_COMPLETED
                    _, going_on = await asyncio.wait({*forwarded, reading}, return_when=first)
                    forwarded &= going_on
                if forwarded:  # whoever asked is gone, and its last words are on their way
                    await asyncio.wait(forwarded, timeout=FAREWELL)
                socket.drop()
                await until_taken(websocket.finish(), reading)
        finally:
            await socket.close()

    async def _serve(self, pod: Pod, is_tunnel: bool, line: ByteStream) -> None:
        if is_tunnel:
            line = TunneledBytes(WebSocket(line, is_client=False))
        waiting: dict[str, SpdyStream] = {}  # by request id, for the other of the pair

        def opened(stream: SpdyStream) -> None:
            for name in [name for name, each in waiting.items() if each.is_over]:
                del waiting[name]  # who resets one after the other would fill our memory
            request = stream.headers.get("requestid", str(stream.number))
            other = waiting.pop(request, None)
            kinds = {each.headers.get("streamtype"): each for each in (stream, other) if each}
            match kinds:
                case {"data": data, "error": errors}:
                    forwarding = self._until_gone(pod, data.headers.get("port", ""), data, errors)
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

    async def _until_gone(
        self, pod: Pod, said: str, data: PairedChannel, errors: PairedChannel
    ) -> None:
        errors.inbox.drop()  # what a client says there is for nobody, and must not fill the room
        with contextlib.suppress(TransportError):
            await self._forward(pod, said, data, errors)

    async def _forward(self, pod: Pod, said: str, data: PairedChannel, errors: Channel) -> None:
        target: SocketBytes | None = None
        words = f"error forwarding port {said} to pod {pod.metadata.name}, uid {pod.metadata.uid}"
        self._forwarded += 1
        try:
            target = await self._connected(pod, said)
            await _exchange(target, data)
        except _Refused as error:
            await errors.write(f"{words}: {error}".encode())
        except TransportError as error:
            if not data.can_finish:
                await errors.write(f"{words}: {error}".encode())
            await data.reset()
        finally:
            self._forwarded -= 1
            data.inbox.drop()  # what still comes has nobody to go to
            if target is not None:
                await target.close()
            await data.finish()
            await errors.finish()

    async def _connected(self, pod: Pod, said: str) -> SocketBytes:
        try:
            (port,) = asked_ports((said,))
        except ValueError:
            raise _Refused("this is no port") from None
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
        # asyncio's own words, "Connect call failed", do not say why.
        number = problem.errno if isinstance(problem, OSError) else None
        words = os.strerror(number).lower() if number else "no answer in time"
        raise _Refused(f"failed to connect to localhost:{port}: {words}")

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


def asked_ports(values: Sequence[str]) -> tuple[int, ...]:
    """Read the ports that a query names; ValueError in the kubelet's words."""
    if not values:
        raise ValueError('query parameter "port" is required')
    ports: list[int] = []
    for value in values:
        for said in value.split(","):
            port = int(said) if said.isascii() and said.isdecimal() and len(said) <= 5 else 0
            if not 0 < port <= LARGEST_PORT:
                raise ValueError(f'unable to parse "{value}" as a port')
            ports.append(port)
    if 2 * len(ports) > MOST_CHANNELS:
        raise ValueError(f"{len(ports)} ports are more than one WebSocket has channels for")
    return tuple(ports)


def declared_ports(pod: Pod) -> frozenset[int]:
    """The TCP ports that the containers of a pod say they listen on."""
    return frozenset(
        port.container_port
        for placed in containers_of(pod.spec)
        for port in placed.container.ports
        if port.protocol in {"", "TCP"}
    )


PairedChannel = SpdyStream | WebSocketChannel


class _Refused(Exception):
    """Why a connection is not forwarded."""


async def _exchange(target: SocketBytes, data: Channel) -> None:
    """Carry both directions, each to its end; to the first where they cannot end alone."""
    sending = asyncio.create_task(_copy(data, target), name="to a port")
    receiving = asyncio.create_task(_copy(target, data), name="from a port")
    enough = asyncio.FIRST_EXCEPTION if data.can_finish else asyncio.FIRST_COMPLETED
    try:
        await asyncio.wait((sending, receiving), return_when=enough)
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
