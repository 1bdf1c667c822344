"""The strategy ``cache``: what was read is kept, and asked for again when it is too old.

How long an object stays fresh is a minute, or what an annotation of the node says: ``ttl_from``.

Upstream: pkg/kubelet/util/manager/cache_based_manager.go, objectStore and GetObjectTTLFromNodeFunc
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Final, Generic, Self

from reflet.api.core.nodes import Node
from reflet.api.options import GetOptions
from reflet.api.resource_versions import number_of
from reflet.errors import CacheNotSynced, ConfigurationError, NotFound, NotRegistered, RefletError
from reflet.managers.object_store import C, Follower, ObjectServer
from reflet.managers.watches.stream_plan import StreamPlan
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Failure

DEFAULT_TTL: Final = 60.0
"""Seconds for which an object stays fresh where the node does not say otherwise."""

_ASK: Final = GetOptions()
_REFRESH: Final = GetOptions(resource_version="0")
_LARGEST_VERSION: Final = 1 << 64

TTL_ANNOTATION: Final = "node.alpha.kubernetes.io/ttl"
"""Seconds; the cluster sets it by its size, from 0 to 300."""
_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_LARGEST: Final = 1 << 63  # what the kubelet's numbers can hold


class ExpiringObjects(Generic[C]):
    """Objects that stay fresh for a while.

    *ttl* is asked at every read and gives the seconds, None for *default_ttl*; 0 asks the
    server each time.  Readers of one object wait for each other, so that one request serves all
    of them while it is fresh.

    A new reference makes the object stale, because a new pod must see what was written before
    it.  An older version than the kept one is ignored, and so is an error while an object is
    kept: readers get what is kept, and the next one asks again.  That an object does not exist
    is believed, and asked again each time.
    """

    def __init__(
        self,
        server: ObjectServer,
        kind: type[C],
        *,
        word: str,
        clock: Clock | None = None,
        default_ttl: float = DEFAULT_TTL,
        ttl: Callable[[], float | None] | None = None,
    ) -> None:
        self._server = server
        self._kind = kind
        self._word = word
        self._clock = clock or SystemClock()
        self._default_ttl = default_ttl
        self._ttl = ttl
        self._entries: dict[tuple[str, str], _Entry[C]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        """Leave nothing behind: requests belong to those who wait for them."""

    def __len__(self) -> int:
        """How many objects are referred to."""
        return len(self._entries)

    def add_reference(self, namespace: str, name: str, _referrer: str, /) -> None:
        """Count one more; the next read asks the server, whatever is kept."""
        entry = self._entries.setdefault((namespace, name), _Entry())
        entry.references += 1
        # A read that is under way keeps the old cell: its answer may be from before.
        entry.cell = _Cell()

    def delete_reference(self, namespace: str, name: str, _referrer: str, /) -> None:
        """Count one less, and forget the object with the last one."""
        entry = self._entries.get((namespace, name))
        if entry is None:
            return
        entry.references -= 1
        if not entry.references:
            del self._entries[namespace, name]

    def references(self, namespace: str, name: str) -> int:
        """How many references there are to an object."""
        entry = self._entries.get((namespace, name))
        return 0 if entry is None else entry.references

    async def get(self, namespace: str, name: str) -> C:
        """The object, from memory while it is fresh."""
        cell = self._cell(namespace, name)
        async with cell.lock:
            if cell.object is not None and self._is_fresh(cell):
                return cell.object
            return await self._fetched(cell, namespace, name)

    def peek(self, namespace: str, name: str) -> C:
        """The object, if it is fresh; else CacheNotSynced."""
        cell = self._cell(namespace, name)
        kept = cell.object
        if kept is None or not self._is_fresh(cell):
            raise CacheNotSynced(self._word, namespace, name, reason="nothing fresh is kept")
        return kept

    def follow(self, _follower: Follower, /) -> None:
        """Raise ConfigurationError: changes are noticed by reading only."""
        raise ConfigurationError("the strategy cache notices no changes: use watch or auto")

    def plan(self) -> StreamPlan:
        """No streams."""
        return StreamPlan()

    def _cell(self, namespace: str, name: str) -> _Cell[C]:
        entry = self._entries.get((namespace, name))
        if entry is None:
            raise NotRegistered(namespace, name)
        return entry.cell

    def _is_fresh(self, cell: _Cell[C]) -> bool:
        asked = None if self._ttl is None else self._ttl()
        ttl = self._default_ttl if asked is None else asked
        return self._clock.monotonic() < cell.updated + ttl

    async def _fetched(self, cell: _Cell[C], namespace: str, name: str) -> C:
        # A refresh may come from the server's memory: it is at least as new as what is kept,
        # or is ignored.  The first read may not: the pod was perhaps made because of a change.
        options = _ASK if cell.object is None else _REFRESH
        try:
            found = await self._server.resource(self._kind, namespace=namespace).get(name, options)
        except NotFound as error:
            cell.object, cell.missing = None, error
            cell.updated = self._clock.monotonic()
            raise
        except Exception:
            if cell.object is not None:
                return cell.object
            if cell.missing is not None:
                # Without the trace of the last time, or it would grow with every read.
                raise cell.missing.with_traceback(None) from None
            raise
        if cell.object is None or _version(found) >= _version(cell.object):
            cell.object, cell.missing = found, None
            cell.updated = self._clock.monotonic()
        return cell.object


class _Entry(Generic[C]):
    """One object: who refers to it, counted, and what is kept."""

    __slots__ = ("cell", "references")

    def __init__(self) -> None:
        self.references = 0
        self.cell: _Cell[C] = _Cell()


class _Cell(Generic[C]):
    """What is kept: an object, or that there is none, or nothing yet."""

    __slots__ = ("lock", "missing", "object", "updated")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.object: C | None = None
        self.missing: NotFound | None = None
        self.updated = 0.0


def _version(item: C) -> int:
    """The version as a number; 0 for what is none, as the kubelet has it."""
    version = number_of(item.metadata.resource_version)
    return version if version is not None and version < _LARGEST_VERSION else 0


def ttl_of(node: Node | None) -> float | None:
    """The seconds that the node's annotation says; None when it says none, or no whole number."""
    text = "" if node is None else node.metadata.annotations.get(TTL_ANNOTATION, "")
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    seconds = int(text)
    return float(seconds) if -_LARGEST <= seconds < _LARGEST else None


def ttl_from(node: Callable[[], Node | None]) -> Callable[[], float | None]:
    """Ask *node* whenever the seconds are asked for; a node that cannot be read says none."""

    def ttl() -> float | None:
        try:
            return ttl_of(node())
        except RefletError:
            return None

    return ttl
