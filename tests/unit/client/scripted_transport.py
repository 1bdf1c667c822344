"""A transport that answers from a script and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from reflet.transport.interface import Request, Response, Stream


class ScriptedStream:
    """A body that arrives in the chunks that were written down."""

    def __init__(self, status: int, chunks: Sequence[bytes]) -> None:
        self.status = status
        self.headers: Mapping[str, str] = {}
        self._chunks = list(chunks)

    async def read(self) -> bytes:
        return self._chunks.pop(0) if self._chunks else b""


class ScriptedTransport:
    """Answers each request with the next line of its script."""

    def __init__(self, *answers: Response | ScriptedStream) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []
        self.open_streams = 0
        self.closed = False

    async def send(self, request: Request, /) -> Response:
        self.requests.append(request)
        answer = self._answers.pop(0)
        assert isinstance(answer, Response)
        return answer

    @asynccontextmanager
    async def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AsyncIterator[Stream]:
        self.requests.append(request)
        answer = self._answers.pop(0)
        assert isinstance(answer, ScriptedStream)
        self.open_streams += 1
        try:
            yield answer
        finally:
            self.open_streams -= 1

    async def close(self) -> None:
        self.closed = True


def ok(document: Any, status: int = 200) -> Response:
    return Response(status=status, headers={}, body=json.dumps(document).encode())


def refused(code: int, reason: str, message: str, **headers: str) -> Response:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }
    return Response(status=code, headers=headers, body=json.dumps(status).encode())


def events(*lines: Mapping[str, Any], status: int = 200) -> ScriptedStream:
    return ScriptedStream(status, [json.dumps(line).encode() + b"\n" for line in lines])
