"""A transport that answers lists and gets from objects in hand, and remembers what was asked.

Owns: the answers.  Must not know who asks.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from reflet.api import resources
from reflet.api.resources import Resource
from reflet.transport.interface import Request, Response, Stream
from tests.unit.client.scripted_transport import ok, refused

RUNTIME_CLASSES: Final = Resource(
    group="node.k8s.io",
    version="v1",
    plural="runtimeclasses",
    kind="RuntimeClass",
    namespaced=False,
)
_KNOWN: Final = {each.kind: each for each in (*reversed(resources.BUILT_IN), RUNTIME_CLASSES)}
METADATA: Final = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata"}


class ListedCluster:
    """Objects of any kind; *forbidden* are plurals that may not be listed."""

    def __init__(
        self,
        *objects: dict[str, Any],
        forbidden: tuple[str, ...] = (),
        failing: Exception | None = None,
    ) -> None:
        self._objects = objects
        self._forbidden = forbidden
        self._failing = failing
        self.asked: list[str] = []

    @property
    def lists(self) -> list[str]:
        """The lists that were asked for, without their namespaces."""
        return sorted(each.split(" ")[0] for each in self.asked if each.split(" ")[0].isalpha())

    async def send(self, request: Request, /) -> Response:
        namespace, plural, name = _parts(request.path)
        query = dict(request.query)
        selectors = [query[key] for key in ("labelSelector", "fieldSelector") if query.get(key)]
        self.asked.append(" ".join((f"{plural}/{name}" if name else plural, *selectors)))
        if self._failing is not None:
            raise self._failing
        if plural in self._forbidden and not name:
            return refused(403, "Forbidden", f"{plural} is forbidden: you cannot list it")
        accept = dict(request.headers).get("accept", "")
        found = [each for each in self._objects if _is_there(each, namespace, plural, name)]
        if "PartialObjectMetadata" in accept:
            found = [{**METADATA, "metadata": each["metadata"]} for each in found]
        if name:
            missing = refused(404, "NotFound", f'{plural} "{name}" not found')
            return ok(found[0]) if found else missing
        kind = next((each.kind for each in _KNOWN.values() if each.plural == plural), "")
        version = next((each.api_version for each in _KNOWN.values() if each.plural == plural), "")
        if "PartialObjectMetadata" in accept:
            kind, version = METADATA["kind"], METADATA["apiVersion"]
        return ok({"apiVersion": version, "kind": f"{kind}List", "metadata": {}, "items": found})

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[Stream]:
        raise AssertionError("nothing is watched")

    async def close(self) -> None:
        pass


def _parts(path: str) -> tuple[str, str, str]:
    words = path.strip("/").split("/")
    rest = words[2:] if words[0] == "api" else words[3:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    return namespace, rest[0], rest[1] if len(rest) > 1 else ""


def _is_there(each: dict[str, Any], namespace: str, plural: str, name: str) -> bool:
    metadata = each["metadata"]
    return (
        _KNOWN[each["kind"]].plural == plural
        and namespace in {"", metadata.get("namespace", "")}
        and name in {"", metadata["name"]}
    )
