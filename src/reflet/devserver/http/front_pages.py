"""The pages that are not about objects: health, version, discovery, OpenAPI, and ours for tests.

Discovery and OpenAPI are remembered until the served kinds change.  By the server's own paths,
tests in another process make faults and count requests::

    GET    /reflet.dev/faults      the faults that wait, and those that have struck
    POST   /reflet.dev/faults      one fault, or a list of them
    DELETE /reflet.dev/faults      forget those that wait
    GET    /reflet.dev/requests    the requests that came
    DELETE /reflet.dev/requests    forget them

Upstream: apiserver/pkg/server/healthz/healthz.go; apiserver/pkg/endpoints/discovery
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, final

import msgspec

from reflet.apirules import refusals
from reflet.apirules.schema.json_reading import read_json
from reflet.apirules.schema.kinds import Kinds
from reflet.devserver.faults import Fault, Faults, RequestLog
from reflet.devserver.http import discovery_documents
from reflet.devserver.http.openapi import OpenApi
from reflet.devserver.http.openapi_negotiation import OPENAPI_PROTOBUF, openapi_form
from reflet.devserver.printing.answers import DocumentAnswer
from reflet.devserver.printing.representations import (
    JSON,
    TEXT,
    Rendered,
    form_of_refusals,
    render_document,
)
from reflet.devserver.request.bodies import Body
from reflet.devserver.request.request_info import ApiRequest
from reflet.errors import ConfigurationError, DecodeError

HEALTH: Final = ("/healthz", "/livez", "/readyz")
CHECKS: Final = ("ping", "log", "storage")
READING: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class FrontPage:
    """A page as it is sent; ``etag`` lets clients ask whether it has changed.

    Most pages are shown whatever the method; those that are ``is_read_only`` are not.
    """

    rendered: Rendered
    etag: str = ""
    is_read_only: bool = False

    def headers(self) -> Mapping[str, str]:
        """Give the headers that belong to the page."""
        return {"ETag": f'"{self.etag}"', "Vary": "Accept"} if self.etag else {}


@final
class FrontPages:
    """The pages of a server that serves certain kinds; ``address`` is its host and port."""

    def __init__(self, kinds: Kinds, address: Callable[[], str]) -> None:
        self._kinds = kinds
        self._address = address
        self._openapi = OpenApi(kinds)
        self._pages: dict[tuple[str, str], FrontPage | None] = {}
        self._generation = -1

    def page(self, request: ApiRequest, accept: str) -> FrontPage | None:
        """Find a page; None when there is none under the path."""
        path = request.path.rstrip("/") or "/"
        if path.startswith(HEALTH):
            return _health(path, verbose=request.flag("verbose"))
        if self._generation != self._kinds.generation:
            self._pages.clear()
            self._generation = self._kinds.generation
        key = (path, accept)
        if key not in self._pages:
            self._pages[key] = self._make(path, accept)
        page = self._pages[key]
        if page is not None and page.is_read_only and request.method not in READING:
            raise refusals.method_not_allowed()
        return page

    def _make(self, path: str, accept: str) -> FrontPage | None:
        kinds = self._kinds
        match path.removeprefix("/").split("/"):
            case [""]:
                return _json_page({"paths": sorted(self._index())})
            case ["version"]:
                return replace(_json_page(discovery_documents.version()), is_read_only=True)
            case ["api" | "apis" as root] if "apidiscovery.k8s.io" in accept:
                form = _aggregated_form(accept)
                if form is not None:
                    document = discovery_documents.aggregated(kinds, core=root == "api")
                    return _json_page(document, content_type=form, tagged=True)
                return self._plain_root(root, accept)
            case ["api" | "apis" as root]:
                return self._plain_root(root, accept)
            case ["api", version]:
                return _resources(discovery_documents.resource_list(kinds, "", version), accept)
            case ["apis", group]:
                found = discovery_documents.group(kinds, group)
                return None if found is None else _document_page(found, accept)
            case ["apis", group, version] if group in kinds.groups():
                return self._resources_of(group, version, accept)
            case ["openapi", "v2"]:
                return self._openapi_2(accept)
            case ["openapi", "v3"]:
                return _json_page(self._openapi.index())
            case ["openapi", "v3", *rest]:
                return self._openapi_page("/".join(rest))
            case _:
                return None

    def _resources_of(self, group: str, version: str, accept: str) -> FrontPage | None:
        found = discovery_documents.resource_list(self._kinds, group, version)
        if found is None and self._kinds.is_custom(group):
            return None
        return _resources(found, accept)

    def _plain_root(self, root: str, accept: str) -> FrontPage:
        if root == "api":
            versions = discovery_documents.core_versions(self._address())
            return replace(_document_page(versions, accept), is_read_only=True)
        return _document_page(discovery_documents.group_list(self._kinds), accept)

    def _openapi_2(self, accept: str) -> FrontPage:
        form = openapi_form(accept)
        if form is None:
            return FrontPage(Rendered(406, b"", TEXT))
        binary = form == OPENAPI_PROTOBUF
        content = self._openapi.binary_2() if binary else self._openapi.encoded("v2")
        # Both forms have the hash of the JSON, as on the real server.
        return FrontPage(Rendered(200, content or b"", form), self._openapi.digest("v2"))

    def _openapi_page(self, name: str) -> FrontPage | None:
        content = self._openapi.encoded(name)
        if content is None:
            return None
        return FrontPage(Rendered(200, content), self._openapi.digest(name))

    def _index(self) -> set[str]:
        paths = {"/api", "/api/v1", "/apis", "/openapi/v2", "/openapi/v3", "/version", *HEALTH}
        for group, versions in self._kinds.groups().items():
            if group:
                paths.add(f"/apis/{group}")
                paths.update(f"/apis/{group}/{version}" for version in versions)
        return paths


def _resources(document: dict[str, Any] | None, accept: str) -> FrontPage:
    if document is None:
        raise refusals.no_such_resource()
    return replace(_document_page(document, accept), is_read_only=True)


def _document_page(document: dict[str, Any], accept: str) -> FrontPage:
    """Show a document as clients like it best, in JSON or YAML."""
    return FrontPage(
        render_document(document, form_of_refusals(accept, ApiRequest("GET", "")), 200)
    )


def _aggregated_form(accept: str) -> str | None:
    """Give the content type of aggregated discovery, if the client wants it as we have it."""
    for clause in accept.split(","):
        parts = {part.strip() for part in clause.split(";")}
        if {"as=APIGroupDiscoveryList", "v=v2", "g=apidiscovery.k8s.io"} <= parts:
            return discovery_documents.AGGREGATED
    return None


def _health(path: str, *, verbose: bool) -> FrontPage | None:
    name, _, check = path[1:].partition("/")
    if check and check not in CHECKS:
        return None
    if not verbose or check:
        return FrontPage(Rendered(200, b"ok", TEXT))
    lines = [*(f"[+]{each} ok" for each in CHECKS), f"{name} check passed", ""]
    return FrontPage(Rendered(200, "\n".join(lines).encode(), TEXT))


def _json_page(document: Any, *, content_type: str = JSON, tagged: bool = False) -> FrontPage:
    content = msgspec.json.encode(document) + b"\n"
    etag = hashlib.sha256(content).hexdigest().upper() if tagged else ""
    return FrontPage(Rendered(200, content, content_type), etag)


@final
class Administration:
    """Answers requests to the server's own paths."""

    def __init__(self, faults: Faults, requests: RequestLog) -> None:
        self._faults = faults
        self._requests = requests

    def answer(self, request: ApiRequest, body: Body) -> DocumentAnswer | None:
        """Answer a request; None when there is no such path."""
        match request.path, request.method:
            case "/reflet.dev/faults", "GET":
                return self._state()
            case "/reflet.dev/faults", "POST":
                self._add(body)
                return self._state()
            case "/reflet.dev/faults", "DELETE":
                self._faults.clear()
                return self._state()
            case "/reflet.dev/requests", "GET":
                return DocumentAnswer({"requests": [asdict(each) for each in self._requests.all()]})
            case "/reflet.dev/requests", "DELETE":
                self._requests.clear()
                return DocumentAnswer({"requests": []})
            case (("/reflet.dev/faults" | "/reflet.dev/requests"), _):
                raise refusals.method_not_allowed()
            case _:
                return None

    def _add(self, body: Body) -> None:
        try:
            document = read_json(body.content)
            faults = document if isinstance(document, list) else [document]
            for fault in [Fault.from_document(each) for each in faults]:
                self._faults.add(fault)
        except (DecodeError, ConfigurationError) as error:
            raise refusals.bad_request(str(error)) from error

    def _state(self) -> DocumentAnswer:
        return DocumentAnswer(
            {
                "waiting": [fault.to_document() for fault in self._faults.waiting],
                "fired": [fault.to_document() for fault in self._faults.fired],
            }
        )
