"""HTTP in, HTTP out: who may ask, the record of requests, faults, bodies, answers and streams.

What a request means is ``verbs.dispatch``'s, the form of its answer ``printing``'s.

Upstream: apiserver/pkg/server/config.go, DefaultBuildHandlerChain;
apiserver/pkg/endpoints/handlers/watch.go
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final, final

from aiohttp import web

from reflet.apirules import refusals
from reflet.devserver.faults import Action, Fault, Faults, RequestLog, SeenRequest
from reflet.devserver.http.front_pages import Administration, FrontPages
from reflet.devserver.http.node_logs import NodeLogs
from reflet.devserver.http.node_streams import pass_through
from reflet.devserver.printing.answers import DocumentAnswer, TextAnswer
from reflet.devserver.printing.representations import (
    EventForms,
    Form,
    Rendered,
    form_of_refusals,
    negotiate,
    render,
)
from reflet.devserver.request.authentication import Authenticator, UserInfo, bearer_token
from reflet.devserver.request.bodies import Body
from reflet.devserver.request.impersonation import ANONYMOUS, UNAUTHENTICATED, impersonated
from reflet.devserver.request.request_info import ApiRequest, RequestTarget, target_of
from reflet.devserver.request.request_options import read_list_query
from reflet.devserver.verbs.dispatch import Call, PageNotFound, answer, understand, verb_of
from reflet.devserver.verbs.pod_subresources import PASSED_THROUGH, log_request
from reflet.devserver.verbs.reading import find, open_watch
from reflet.devserver.verbs.state import State
from reflet.devserver.watches.watch_connection import WatchConnection, reset
from reflet.devserver.watches.watch_feed import WatchEnding
from reflet.errors import ApiError

LARGEST_BODY: Final = 3 * 2**20  # bytes, as the real server
COMPRESSED_FROM: Final = 128 * 1024  # bytes, as the real server
COMPRESSION_LEVEL: Final = 1

OPEN_PATHS: Final = frozenset({"/healthz", "/livez", "/readyz", "/version", "/version/"})
ADMIN_PATH: Final = "/reflet.dev/"
NOT_FOUND: Final = TextAnswer(b"404 page not found\n", 404)

_HEADERS: Final[Mapping[str, str]] = {"Cache-Control": "no-cache, private"}
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})

logger = logging.getLogger(__name__)


@final
class Application:
    """Answers every request of one server.

    ``restart`` breaks all connections and listens again after some seconds; ``address`` gives
    the server's host and port.
    """

    def __init__(
        self,
        state: State,
        authenticator: Authenticator,
        *,
        restart: Callable[[float], None],
        address: Callable[[], str],
    ) -> None:
        self.state = state
        self.requests = RequestLog()
        self.faults = Faults(self._strike_now)
        self._authenticator = authenticator
        self._restart = restart
        self._forms = EventForms(state.now)
        self._front_pages = FrontPages(state.kinds, address)
        self._administration = Administration(self.faults, self.requests)
        self._streams: set[WatchConnection] = set()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; one whose client has gone meanwhile is not worth a word."""
        try:
            return await self._handle(request)
        except ConnectionError:
            _abort(request)
            return web.Response()  # which reaches nobody

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        asked = ApiRequest.read(
            request.method, request.raw_path, request.headers.get("User-Agent", "")
        )
        target = target_of(asked.path)
        if asked.path.startswith(ADMIN_PATH):
            return await self._answer(request, asked, target, None)
        seen = _seen(asked, target)
        is_known = self._authenticator.user(request.headers) is not None
        self.requests.add(seen if is_known else seen.of_a_stranger())
        fault = self.faults.strike(seen)
        if fault is not None:
            return await self._answer_faultily(request, asked, target, seen, fault)
        return await self._answer(request, asked, target, seen)

    async def _answer(
        self,
        request: web.BaseRequest,
        asked: ApiRequest,
        target: RequestTarget | None,
        seen: SeenRequest | None,
        fault: Fault | None = None,
    ) -> web.StreamResponse:
        warnings: list[str] = []
        try:
            user = self._user(request, asked)
            self.state.authorizer.check(user, asked, target)
            if target is None:
                return await self._front_page(request, asked)
            call = understand(self.state.kinds, asked, target)
            warnings = call.warnings
            if call.verb == "watch" and seen is not None:
                return await self._watch(request, call, seen, fault)
            if call.target.subresource == "log":
                return await self._log(request, call)
            if call.kind.storage_key == "pods" and call.target.subresource in PASSED_THROUGH:
                return await self._pass_through(request, call)
            body = await self._body(request)
            form = negotiate(request.headers.get("Accept", ""), asked)
            result = await answer(self.state, call, body, user, self._authenticator.owner)
            rendered = render(result, form, self.state.now())
        except PageNotFound:
            rendered = render(NOT_FOUND, Form(), self.state.now())
        except ApiError as error:
            rendered = self._refusal(request, asked, error)
            return _response(request, rendered, warnings, _retry_after(error))
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:
            logger.exception("%s %s failed", asked.method, asked.path)
            rendered = self._refusal(request, asked, error)
        return _response(request, rendered, warnings)

    # Who and what

    def _user(self, request: web.BaseRequest, asked: ApiRequest) -> UserInfo:
        user = self._authenticator.user(request.headers)
        if user is None:
            if bearer_token(request.headers.get("Authorization", "")):
                raise refusals.unauthorized()  # a wrong token opens not even an open page
            if asked.path in OPEN_PATHS or asked.path.startswith(("/livez/", "/readyz/")):
                return UserInfo(ANONYMOUS, groups=(UNAUTHENTICATED,))
            raise refusals.unauthorized()
        return impersonated(request.headers.items()) or user

    async def _body(self, request: web.BaseRequest) -> Body:
        if request.method not in _WITH_BODY or not request.body_exists:
            return Body.of(b"", request.headers.get("Content-Type", ""))
        if (request.content_length or 0) > LARGEST_BODY:
            raise refusals.too_large(LARGEST_BODY)
        if request.headers.get("Expect", "").lower() == "100-continue":
            _transport(request).write(b"HTTP/1.1 100 Continue\r\n\r\n")
        content = bytearray()
        async for piece in request.content.iter_any():
            content += piece
            if len(content) > LARGEST_BODY:
                raise refusals.too_large(LARGEST_BODY)
        return Body.of(bytes(content), request.headers.get("Content-Type", ""))

    async def _front_page(self, request: web.BaseRequest, asked: ApiRequest) -> web.StreamResponse:
        result: DocumentAnswer | None = None
        if asked.path.startswith(ADMIN_PATH):
            body = await self._body(request)
            result = self._administration.answer(asked, body)
        else:
            accept = request.headers.get("Accept", "")
            match = request.headers.get("If-None-Match", "")
            page = self._front_pages.page(asked, accept)
            if page is not None and page.etag and match.strip('"') == page.etag:
                return web.Response(status=304, headers={**_HEADERS, "ETag": f'"{page.etag}"'})
            if page is not None:
                return _response(request, page.rendered, [], page.headers())
        if result is None:
            raise PageNotFound(asked.path)
        form = form_of_refusals(request.headers.get("Accept", ""), asked)
        return _response(request, render(result, form, self.state.now()), [])

    def _refusal(self, request: web.BaseRequest, asked: ApiRequest, error: Exception) -> Rendered:
        document = refusals.status_document(error)
        form = form_of_refusals(request.headers.get("Accept", ""), asked)
        return render(DocumentAnswer(document, document["code"]), form, self.state.now())

    # Streams

    async def _watch(
        self, request: web.BaseRequest, call: Call, seen: SeenRequest, fault: Fault | None
    ) -> web.StreamResponse:
        form = negotiate(request.headers.get("Accept", ""), call.request, watch=True)
        query = read_list_query(call.request, watch=True)
        target = call.target
        feed = open_watch(
            self.state,
            call.kind,
            target.namespace,
            target.name,
            query,
            representation=self._forms.form(call.kind, form),
        )
        response = web.StreamResponse(
            headers={**_HEADERS, "Content-Type": "application/json", **_warnings(call.warnings)}
        )
        response.enable_chunked_encoding()
        await response.prepare(request)
        stream = WatchConnection(feed, _transport(request), seen)
        if fault is not None:
            stream.strike_next_line(Action(fault.action))
        self._streams.add(stream)
        try:
            ending = await feed.run(stream.write, request.writer.drain)
        except ConnectionError:
            ending = WatchEnding.ABANDONED
        finally:
            self._streams.discard(stream)
        if ending is WatchEnding.ABANDONED:
            _abort(request)
        elif stream.is_stalled:
            await asyncio.get_running_loop().create_future()
        else:
            await response.write_eof()
        return response

    async def _log(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        target = call.target
        stored = find(self.state.storage, call.kind, target.namespace, target.name)
        wanted = log_request(call.request, stored)
        source = self.state.log_source
        if source is None:
            if not stored.object.get("spec", {}).get("nodeName"):
                return _response(request, Rendered(200, b"", "text/plain"), [])
            source = NodeLogs(self.state)
        pieces = await source(wanted)
        response = web.StreamResponse(headers={**_HEADERS, "Content-Type": "text/plain"})
        await response.prepare(request)
        try:
            async for piece in pieces:
                await response.write(piece)
        finally:
            # A reader that went away must not leave the node writing.
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()
        await response.write_eof()
        return response

    async def _pass_through(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        target = call.target
        pod = find(self.state.storage, call.kind, target.namespace, target.name)
        await pass_through(self.state, request, call, pod)
        _abort(request)
        return web.Response()  # which reaches nobody: the node has answered

    # Faults

    def _strike_now(self, fault: Fault) -> None:
        action = Action(fault.action)
        if action is Action.EXPIRE:
            self.state.storage.expire_history()
        elif action is Action.RESTART:
            self._restart(fault.seconds)
        else:
            for stream in tuple(self._streams):
                if fault.matches(stream.request):
                    stream.strike_now(action)

    async def _answer_faultily(
        self,
        request: web.BaseRequest,
        asked: ApiRequest,
        target: RequestTarget | None,
        seen: SeenRequest,
        fault: Fault,
    ) -> web.StreamResponse:
        match Action(fault.action):
            case Action.DROP:
                _transport(request).close()
                return await _forever()
            case Action.RESTART:
                self._restart(fault.seconds)
                return await _forever()
            case Action.STATUS:
                return self._status_fault(request, asked, fault)
            case Action.DELAY:
                await asyncio.sleep(fault.seconds)
                return await self._answer(request, asked, target, seen)
            case Action.EXPIRE:
                self.state.storage.expire_history()
                return await self._answer(request, asked, target, seen)
            case action:
                if seen.verb == "watch":
                    return await self._answer(request, asked, target, seen, fault)
                if action is Action.STALL:
                    return await _forever()
                return await self._break(
                    request, await self._answer(request, asked, target, seen), action
                )

    def _status_fault(
        self, request: web.BaseRequest, asked: ApiRequest, fault: Fault
    ) -> web.StreamResponse:
        error = refusals.by_code(
            fault.status,
            reason=fault.reason,
            message=fault.message,
            retry_after=fault.retry_after,
        )
        return _response(request, self._refusal(request, asked, error), [], _retry_after(error))

    async def _break(
        self, request: web.BaseRequest, response: web.StreamResponse, action: Action
    ) -> web.StreamResponse:
        """Damage an answer that is no stream."""
        content = response.body if isinstance(response, web.Response) else b""
        whole = content if isinstance(content, bytes) else b""
        half = whole[: max(1, len(whole) // 2)]
        if action is Action.RESET:
            head = (
                f"HTTP/1.1 {response.status} {response.reason}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(whole)}\r\n\r\n"
            )
            transport = _transport(request)
            transport.write(head.encode() + half)
            reset(transport)
            return await _forever()
        damaged = {Action.TRUNCATE: half, Action.CORRUPT: b"\x00" + whole}.get(action, whole)
        broken = web.Response(status=response.status, body=damaged, content_type="application/json")
        broken.force_close()
        return broken


def _seen(asked: ApiRequest, target: RequestTarget | None) -> SeenRequest:
    verb = resource = ""
    if target is not None:
        verb = verb_of(asked, target)
        resource = refusals.qualified(target.plural, target.group)
        if target.subresource:
            resource = f"{resource}/{target.subresource}"
    return SeenRequest(asked.method, asked.path, asked.query, asked.user_agent, verb, resource)


def _transport(request: web.BaseRequest) -> asyncio.Transport:
    transport = request.transport
    if transport is None:
        raise ConnectionResetError("the client has closed the connection")
    return transport


def _abort(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


async def _forever() -> web.StreamResponse:
    """Wait until the connection is gone, which cancels whoever answers on it."""
    await asyncio.get_running_loop().create_future()
    raise RuntimeError("a wait without an end has ended")


def _warnings(warnings: list[str]) -> Mapping[str, str]:
    if not warnings:
        return {}
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in warnings)
    return {"Warning": ", ".join(f'299 - "{text}"' for text in quoted)}


def _retry_after(error: ApiError) -> Mapping[str, str]:
    return {} if error.retry_after is None else {"Retry-After": str(int(error.retry_after))}


def _response(
    request: web.BaseRequest,
    rendered: Rendered,
    warnings: list[str],
    more: Mapping[str, str] | None = None,
) -> web.Response:
    headers: dict[str, Any] = {
        **_HEADERS,
        "Content-Type": rendered.content_type,
        **_warnings(warnings),
        **(more or {}),
    }
    content = rendered.content
    if rendered.content_type.startswith("text/"):
        headers["X-Content-Type-Options"] = "nosniff"
    if len(content) > COMPRESSED_FROM and "gzip" in request.headers.get("Accept-Encoding", ""):
        import gzip  # noqa: PLC0415 - only for large answers

        content = gzip.compress(content, COMPRESSION_LEVEL, mtime=0)
        headers["Content-Encoding"] = "gzip"
        headers["Vary"] = ", ".join(["Accept-Encoding", *filter(None, [headers.get("Vary")])])
    return web.Response(status=rendered.code, body=content, headers=headers)
