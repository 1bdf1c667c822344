"""A container runtime that we own: CRI over a unix socket, saying what a test tells it to.

Owns: the answers, the recording of the calls, and the ways to misbehave.  ``answers`` has for each
method a message, an error, or a coroutine that gets the call and does what it likes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Self, TypeAlias

from reflet.cri.messages.containers import ListContainersResponse
from reflet.cri.messages.sandboxes import ListPodSandboxResponse
from reflet.cri.messages.service import VersionResponse
from reflet.cri.wire import CriMessage, MessageT, decode, encode
from reflet.errors import RpcError
from reflet.transport.http.grpc_channel import CODES
from tests.unit.transport.scripted_servers import Http2Peer, Http2Request, Http2Server

Script: TypeAlias = "Callable[[Call], Awaitable[None]]"
Answer: TypeAlias = "CriMessage | RpcError | Script"


class Call:
    """One call, and what can be answered to it."""

    def __init__(self, request: Http2Request) -> None:
        self.request = request
        self.method = request.path.rpartition("/")[2]
        self._has_begun = False

    def message(self, kind: type[MessageT]) -> MessageT:
        """What was sent."""
        return decode(kind, self.request.body[5:])

    async def send(self, message: CriMessage | bytes) -> None:
        """Answer one message."""
        self._begin()
        body = message if isinstance(message, bytes) else encode(message)
        await self.request.data(framed(body))

    async def send_raw(self, data: bytes) -> None:
        """Send a piece of the body as it is, whole message or not."""
        self._begin()
        await self.request.data(data)

    def end(self, code: str = "OK", description: str = "") -> None:
        """Say how the call ended."""
        status = [("grpc-status", str(CODES.index(code))), ("grpc-message", description)]
        if self._has_begun:
            self.request.trailers(status)
        else:
            fields = [("content-type", "application/grpc"), *status]
            self.request.head(200, fields, end=True)

    async def hang(self) -> None:
        """Say nothing more until the client gives up."""
        await self.request.for_ever()

    def _begin(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self.request.head(200, [("content-type", "application/grpc")])


class CriServer(Http2Server):
    """Listens at *path* while the context is open; can be entered again afterwards."""

    def __init__(self, path: Path, **answers: Answer) -> None:
        super().__init__(self._answer)
        self.path = path
        self.calls: list[str] = []
        self.answers: dict[str, Answer] = {
            "Version": VersionResponse(
                version="0.1.0",
                runtime_name="containerd",
                runtime_version="v2.1.0",
                runtime_api_version="v1",
            ),
            "ListPodSandbox": ListPodSandboxResponse(),
            "ListContainers": ListContainersResponse(),
            **answers,
        }

    @property
    def endpoint(self) -> str:
        """As ``--runtime-endpoint`` takes it."""
        return f"unix://{self.path}"

    def count(self, method: str) -> int:
        """How often *method* was called."""
        return self.calls.count(method)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_unix_server(lambda: Http2Peer(self), str(self.path))
        return self

    async def __aexit__(self, *failure: object) -> None:
        await super().__aexit__(*failure)
        self.path.unlink(missing_ok=True)
        self.connections.clear()

    def cut(self) -> None:
        """Break every connection, as a runtime does that is killed."""
        for peer in self.connections:
            peer.cut()

    async def _answer(self, request: Http2Request) -> None:
        await request.whole.wait()
        call = Call(request)
        self.calls.append(call.method)
        self.tell()
        answer = self.answers.get(call.method)
        if answer is None:
            call.end("Unimplemented", f"unknown method {call.method}")
        elif isinstance(answer, RpcError):
            call.end(answer.code, answer.description)
        elif isinstance(answer, CriMessage):
            await call.send(answer)
            call.end()
        else:
            await answer(call)


def framed(message: bytes) -> bytes:
    """A message behind its head of five bytes."""
    return b"\0" + len(message).to_bytes(4, "big") + message
