"""A server in memory that fails when it is told to, for the parts that only write.

Owns: what was written, and the failures to come.  Must not know who writes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from reflet.errors import AlreadyExists, NotFound, TransportError


class FakeCluster:
    """Takes every write; ``failures`` are raised first, one for each request.

    ``lost_answers`` are raised after a create has been done, one for each.
    """

    def __init__(self) -> None:
        self.writes: list[tuple[str, str, Any]] = []
        self.failures: deque[Exception] = deque()
        self.lost_answers: deque[TransportError] = deque()
        self.objects: dict[str, Any] = {}

    def resource(
        self, kind: type[Any], *, namespace: str | None = None, raw: bool = False
    ) -> FakeResource:
        return FakeResource(self, kind)

    def note(self, verb: str, name: str, body: Any) -> None:
        if self.failures:
            raise self.failures.popleft()
        self.writes.append((verb, name, body))


class FakeResource:
    def __init__(self, cluster: FakeCluster, kind: type[Any]) -> None:
        self._cluster = cluster
        self._kind = kind

    async def get(self, name: str) -> Any:
        self._cluster.note("get", name, None)
        if name not in self._cluster.objects:
            raise NotFound(f"{name} not found", code=404)
        return self._cluster.objects[name]

    async def create(self, body: Any, *_: Any, **__: Any) -> Any:
        name = body["metadata"]["name"] if isinstance(body, Mapping) else body.metadata.name
        self._cluster.note("create", name, body)
        if name in self._cluster.objects:
            raise AlreadyExists(f"{name} exists", code=409)
        made = self._kind() if isinstance(body, Mapping) else body
        metadata = replace(made.metadata, name=name, uid="u1", resource_version="1")
        made = self._cluster.objects[name] = replace(made, metadata=metadata)
        if self._cluster.lost_answers:
            raise self._cluster.lost_answers.popleft()
        return made

    async def replace(self, body: Any, *_: Any, **__: Any) -> Any:
        self._cluster.note("replace", body.metadata.name, body)
        self._cluster.objects[body.metadata.name] = body
        return body

    async def patch(self, name: str, body: Any, *_: Any, **__: Any) -> Any:
        self._cluster.note("patch", name, body)
        if name not in self._cluster.objects:
            raise NotFound(f"{name} not found", code=404)
        return self._cluster.objects[name]

    async def delete(self, name: str, options: Any) -> None:
        self._cluster.note("delete", name, options)
