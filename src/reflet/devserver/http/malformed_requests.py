"""Answers what is no HTTP, with one sentence that repeats nothing of it.

The HTTP library's own answer, and what it logs, quote the line that it could not read: a password
in a header that is cut would be shown to whoever reads them.

Upstream: net/http/server.go, badRequestError
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final, final

from aiohttp import web

MALFORMED: Final = "400 Bad Request"


@final
class TacitServer(web.Server):
    """Answers requests, as ``web.Server`` does, and says nothing of those that are none."""

    def __call__(self) -> web.RequestHandler:
        """Make what reads one connection."""
        return _Connection(self, loop=self._loop, **self._kwargs)


class _Connection(web.RequestHandler):
    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what could not be read; everything else as the library does."""
        if status != HTTPStatus.BAD_REQUEST:
            return super().handle_error(request, status, exc, message)
        response = web.Response(status=status, text=MALFORMED)
        response.force_close()
        return response
