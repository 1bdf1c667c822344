"""What is around a sidecar: a web server that remembers, and faults before the API server.

Must not know what is expected.
"""

from __future__ import annotations

import asyncio
import base64
import http.server
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from reflet.errors import TransportError
from reflet.transport.interface import Request, Response, Stream, Transport

Document = dict[str, Any]


class WebTarget(http.server.ThreadingHTTPServer):
    """Reload and download target; remembers each request."""

    daemon_threads = False

    def __init__(self) -> None:
        self.log: list[Document] = []
        self.seen: dict[str, int] = {}
        super().__init__(("127.0.0.1", 0), _TargetHandler)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


class _TargetHandler(http.server.BaseHTTPRequestHandler):
    server: WebTarget

    def log_message(self, *_: object) -> None:
        pass

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        target = self.server
        path = self.path
        target.seen[path] = count = target.seen.get(path, 0) + 1
        entry: Document = {"method": self.command, "path": path}
        for name in ("authorization", "content-type"):
            if name in self.headers:
                entry[name] = self.headers[name]
        if body:
            entry["body"] = body.decode()
        login = self.headers.get("authorization", "")
        code, data, kind = _answer_to(path, count, login)
        target.log.append(entry)
        self.send_response(code)
        if code == 302:
            self.send_header("Location", "/text/after-redirect")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = answer  # noqa: N815 - the names of http.server


def _answer_to(path: str, count: int, login: str) -> tuple[int, bytes, str]:
    text = "text/plain; charset=utf-8"
    secured = "Basic " + base64.b64encode(b"user1:pass:w\xf6rd").decode()
    match path.split("/")[1].partition("?")[0]:
        case "text":
            return 200, f"downloaded {path}".encode(), text
        case "latin":
            return 200, "café".encode("latin-1"), "text/plain; charset=iso-8859-1"
        case "binary":
            return 200, bytes(range(256)), "application/octet-stream"
        case "404":
            return 404, b"no such page", text
        case "500" | "503" as code:
            return int(code), b"broken inside", text
        case "flaky":
            return (500, b"not yet", text) if count <= 2 else (200, b"at last", text)
        case "late":
            return (500, b"not yet", text) if count <= 6 else (200, b"at last", text)
        case "redirect":
            return 302, b"", text
        case "secured" if login != secured:
            return 401, b"Not authenticated", text
        case "secured":
            return 200, b"allowed", text
        case "version":
            return 200, f"version {count}".encode(), text
        case _:
            return 200, b"ok", text


class FaultyTransport:
    """Between a sidecar and the API server: refusals, and connections that break."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._cut = asyncio.Event()
        self.is_refusing = False
        self.faults: list[Document] = []
        self.requests: list[str] = []
        self.silences: set[float | None] = set()

    def cut(self) -> None:
        """Break every stream that is open."""
        self._cut.set()
        self._cut = asyncio.Event()

    async def send(self, request: Request, /) -> Response:
        refusal = self._refusal(request)
        return refusal if refusal is not None else await self._inner.send(request)

    @asynccontextmanager
    async def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AsyncIterator[Stream]:
        refusal = self._refusal(request)
        if refusal is not None:
            yield _WholeBody(refusal)
            return
        self.silences.add(silence)
        async with self._inner.stream(request, silence=silence) as stream:
            yield _CutStream(stream, self._cut)

    async def close(self) -> None:
        await self._inner.close()

    def _refusal(self, request: Request) -> Response | None:
        query = "&".join(f"{name}={value}" for name, value in request.query)
        path = f"{request.path}?{query}"
        self.requests.append(path)
        if self.is_refusing:
            raise TransportError("the server is away")
        for fault in self.faults:
            if fault["times"] > 0 and all(each in path for each in fault["match"]):
                fault["times"] -= 1
                status = {
                    "kind": "Status",
                    "apiVersion": "v1",
                    "status": "Failure",
                    "reason": fault.get("reason", "Forbidden"),
                    "message": "injected",
                    "code": fault["status"],
                }
                return Response(
                    status=fault["status"],
                    headers={"content-type": "application/json"},
                    body=json.dumps(status).encode(),
                )
        return None


class _WholeBody:
    def __init__(self, response: Response) -> None:
        self.status, self.headers, self._left = response.status, response.headers, response.body

    async def read(self) -> bytes:
        left, self._left = self._left, b""
        return left


class _CutStream:
    def __init__(self, stream: Stream, cut: asyncio.Event) -> None:
        self.status, self.headers = stream.status, stream.headers
        self._stream, self._cut = stream, cut

    async def read(self) -> bytes:
        reading = asyncio.ensure_future(self._stream.read())
        cutting = asyncio.ensure_future(self._cut.wait())
        try:
            await asyncio.wait((reading, cutting), return_when=asyncio.FIRST_COMPLETED)
            if self._cut.is_set():
                raise TransportError("the connection was cut")
            return await reading
        finally:
            for task in (reading, cutting):
                task.cancel()
            await asyncio.wait((reading, cutting))
