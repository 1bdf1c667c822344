"""The OpenAPI documents by which kubectl validates, explains and merges.

kubectl 1.32 and its neighbours read OpenAPI 3: for every group version a document of its own,
found through an index whose links carry a hash.  It looks in the paths for the parameters that
a request may have, and in the components for the structure of kinds.  OpenAPI 2 is one document
with everything; kubectl asks for it, in its binary form, about kinds that it finds nowhere in
OpenAPI 3: ``List``, and those that a server does not have.

Upstream: k8s.io/kube-openapi/pkg/handler3/handler.go and pkg/handler/handler.go
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final, final

import msgspec

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.http.openapi_protobuf import encode_openapi
from reflet.devserver.http.openapi_schemas import (
    DELETE_OPTIONS,
    PATCH,
    STATUS,
    Dialect,
    kind_schemas,
    reference,
)

Document = dict[str, Any]

INFO: Final = {"title": "Kubernetes", "version": "1.36"}
# By these kubectl chooses how to patch; custom kinds have no strategic merge.
CUSTOM_PATCH_TYPES: Final = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
PATCH_TYPES: Final = (*CUSTOM_PATCH_TYPES, "application/strategic-merge-patch+json")
_MEDIA: Final = "application/json"
_BINARY_2: Final = "v2, binary"  # no path
_LIST_OPTIONS: Final = (
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
)
_WRITE_OPTIONS: Final = (
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
)
_DELETE_OPTIONS: Final = (
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
)


@final
class OpenApi:
    """The documents for the kinds that are served now; made when asked for, then kept."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._generation = -1
        self._encoded: dict[str, bytes] = {}

    def paths(self) -> tuple[str, ...]:
        """Name every OpenAPI 3 document: ``api/v1``, ``apis/apps/v1`` …"""
        return tuple(
            _path(group, version)
            for group, versions in self._kinds.groups().items()
            for version in versions
        )

    def index(self) -> Document:
        """Give the index of OpenAPI 3 documents; a link changes when its document does."""
        return {
            "paths": {
                path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={self.digest(path)}"}
                for path in self.paths()
            }
        }

    def digest(self, path: str) -> str:
        """Give the hash of a document; ``v2`` is the path of the OpenAPI 2 document."""
        return hashlib.sha512(self.encoded(path) or b"").hexdigest().upper()

    def encoded(self, path: str) -> bytes | None:
        """Give a document as JSON; ``v2``, or one of ``paths``; None for any other."""
        kept = self._kept()
        if path not in kept:
            if path == "v2":
                document = self.document_2()
            elif path in self.paths():
                document = self.document_3(path)
            else:
                return None
            kept[path] = msgspec.json.encode(document)
        return kept[path]

    def binary_2(self) -> bytes:
        """Give the OpenAPI 2 document in its binary form; it says what the JSON says."""
        kept = self._kept()
        if _BINARY_2 not in kept:
            kept[_BINARY_2] = encode_openapi(msgspec.json.decode(self.encoded("v2") or b""))
        return kept[_BINARY_2]

    def _kept(self) -> dict[str, bytes]:
        if self._generation != self._kinds.generation:
            self._encoded.clear()
            self._generation = self._kinds.generation
        return self._encoded

    def document_3(self, path: str) -> Document:
        """Make the OpenAPI 3 document of one group version."""
        kinds = [kind for kind in self._kinds if _path(kind.group, kind.version) == path]
        paths: Document = {}
        components: Document = {}
        for kind in kinds:
            paths |= dict(_kind_paths(kind, 3))
            components |= kind_schemas(kind, self._kinds.schemas, 3)
        return {
            "openapi": "3.0.0",
            "info": dict(INFO),
            "paths": paths,
            "components": {"schemas": dict(sorted(components.items()))},
        }

    def document_2(self) -> Document:
        """Make the OpenAPI 2 document of everything."""
        paths: Document = {}
        definitions: Document = {}
        for kind in self._kinds:
            paths |= dict(_kind_paths(kind, 2))
            definitions |= kind_schemas(kind, self._kinds.schemas, 2)
        return {
            "swagger": "2.0",
            "info": dict(INFO),
            "paths": paths,
            "definitions": dict(sorted(definitions.items())),
        }


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _kind_paths(kind: ServedKind, dialect: Dialect) -> Iterator[tuple[str, Document]]:
    base = f"/{_path(kind.group, kind.version)}"
    place = f"{base}/namespaces/{{namespace}}" if kind.namespaced else base
    around = [_parameter("namespace", "path", "string", dialect)] if kind.namespaced else []
    named = [_parameter("name", "path", "string", dialect), *around]
    collection: Document = {}
    if "list" in kind.verbs:
        collection["get"] = _operation(kind, "list", _LIST_OPTIONS, dialect)
    if "create" in kind.verbs:
        collection["post"] = _operation(kind, "post", _WRITE_OPTIONS, dialect)
    if "deletecollection" in kind.verbs:
        options = (*_LIST_OPTIONS[1:], *_DELETE_OPTIONS)
        collection["delete"] = _operation(kind, "deletecollection", options, dialect)
    if kind.namespaced and "list" in kind.verbs:
        everywhere = {"get": _operation(kind, "list", _LIST_OPTIONS, dialect)}
        yield f"{base}/{kind.plural}", everywhere | {"parameters": []}
    yield f"{place}/{kind.plural}", collection | {"parameters": around}
    if kind.is_stored:
        one = _object_operations(kind, dialect)
        one["delete"] = _operation(kind, "delete", _DELETE_OPTIONS, dialect)
        yield f"{place}/{kind.plural}/{{name}}", one | {"parameters": named}
        for subresource in kind.subresources:
            operations = _object_operations(kind, dialect)
            if "create" in subresource.verbs:
                operations = {"post": _operation(kind, "post", _WRITE_OPTIONS, dialect)}
            path = f"{place}/{kind.plural}/{{name}}/{subresource.name}"
            yield path, operations | {"parameters": named}


def _object_operations(kind: ServedKind, dialect: Dialect) -> Document:
    return {
        "get": _operation(kind, "get", (), dialect),
        "put": _operation(kind, "put", _WRITE_OPTIONS, dialect),
        "patch": _operation(kind, "patch", (*_WRITE_OPTIONS, ("force", "boolean")), dialect),
    }


def _operation(
    kind: ServedKind, action: str, options: tuple[tuple[str, str], ...], dialect: Dialect
) -> Document:
    parameters = [_parameter(name, "query", shape, dialect) for name, shape in options]
    answer = kind.type_name
    if action == "list":
        answer = f"{kind.type_name.rpartition('.')[0]}.{kind.list_kind}"
    elif action in {"delete", "deletecollection"}:
        answer = STATUS
    made: Document = {
        "operationId": _operation_id(kind, action),
        "responses": {"200": _response(answer, dialect)},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {
            "group": kind.group,
            "kind": kind.kind,
            "version": kind.version,
        },
    }
    body = {"patch": PATCH, "delete": DELETE_OPTIONS, "deletecollection": DELETE_OPTIONS}.get(
        action, kind.type_name if action in {"post", "put"} else ""
    )
    if body:
        patches = CUSTOM_PATCH_TYPES if kind.custom else PATCH_TYPES
        media = patches if action == "patch" else ("*/*",)
        schema = reference(body, dialect)
        if dialect == 3:
            made["requestBody"] = {"content": {each: {"schema": schema} for each in media}}
        else:
            made["consumes"] = list(media)
            parameters.insert(0, {"name": "body", "in": "body", "schema": schema})
    if parameters:
        made["parameters"] = parameters
    return made


def _operation_id(kind: ServedKind, action: str) -> str:
    group = "".join(word.capitalize() for word in (kind.group or "core").split("."))
    scope = "Namespaced" if kind.namespaced else ""
    return f"{action}{group}{kind.version.capitalize()}{scope}{kind.kind}"


def _response(name: str, dialect: Dialect) -> Document:
    schema = reference(name, dialect)
    if dialect == 2:
        return {"description": "OK", "schema": schema}
    return {"description": "OK", "content": {_MEDIA: {"schema": schema}}}


def _parameter(name: str, place: str, shape: str, dialect: Dialect) -> Document:
    made: Document = {"name": name, "in": place}
    if place == "path":
        made["required"] = True
    if dialect == 2:
        return made | {"type": shape, "uniqueItems": True}
    return made | {"schema": {"type": shape, "uniqueItems": True}}
