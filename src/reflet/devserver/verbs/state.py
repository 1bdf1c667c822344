"""Everything that the verbs work on, in one place.

Owns: which collaborators there are and how they hear of writes: kinds follow definitions,
addresses follow services, namespaces that are going go when they are empty.  Must not know
requests, forms or HTTP.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol, final

from reflet.apirules.admission import Surroundings
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.service_addresses import ServiceAddresses
from reflet.devserver.storage.changes import Change, Key
from reflet.devserver.storage.storage import Storage
from reflet.devserver.verbs.tokens import TokenIssuer
from reflet.devserver.watches.watchers import Watchers

DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
NAMESPACES: Final = "namespaces"
SERVICES: Final = "services"


def utc_now() -> datetime:
    """Give the time, as objects carry it: without a fraction of a second."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LogRequest:
    """Which log somebody wants to read, and how much of it."""

    namespace: str
    pod: str
    container: str
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since_seconds: int | None = None
    since_time: str = ""


class LogSource(Protocol):
    """Whoever has the logs of containers: the node agent, or a test."""

    def __call__(self, request: LogRequest, /) -> Awaitable[AsyncIterator[bytes]]:
        """Give the log in pieces; raise an ApiError to refuse."""
        ...


@final
class State:
    """The storage and who lives by it.

    ``now``, ``new_uid`` and ``chance`` are the outside world.  ``log_source`` is whoever has the
    logs of containers, if anybody has.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        tokens: TokenIssuer,
        now: Callable[[], datetime] = utc_now,
        new_uid: Callable[[], str] = lambda: str(uuid.uuid4()),
        chance: Callable[[int], int] = random.randrange,
    ) -> None:
        self.storage = storage
        self.kinds = Kinds()
        self.watchers = Watchers(storage)
        self.addresses = ServiceAddresses()
        self.tokens = tokens
        self.now = now
        self.new_uid = new_uid
        self.chance = chance
        self.log_source: LogSource | None = None
        self._being_emptied: set[str] = set()
        self._take_over()
        storage.subscribe(self._follow_definition, resource=DEFINITIONS)
        storage.subscribe(self._follow_service, resource=SERVICES)
        storage.subscribe(self._follow_deletion)

    def surroundings(self) -> Surroundings:
        """Give what the outside world contributes to an object at this moment."""
        return Surroundings(
            now=self.now(), new_uid=self.new_uid, chance=self.chance, addresses=self.addresses
        )

    def namespace(self, name: str) -> dict[str, Any] | None:
        """Give a namespace, or None."""
        stored = self.storage.get(Key(NAMESPACES, "", name))
        return None if stored is None else stored.object

    def finish_namespace(self, name: str) -> None:
        """Remove a namespace that is going, if nothing is in it and nobody holds it."""
        key = Key(NAMESPACES, "", name)
        stored = self.storage.get(key)
        if stored is None:
            return
        metadata = stored.object["metadata"]
        if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
            return
        if not self.contents_of(name):
            self.storage.delete(key)

    def contents_of(self, namespace: str) -> list[Key]:
        """Give the keys of everything in a namespace."""
        resources = dict.fromkeys(
            kind.storage_key for kind in self.kinds if kind.namespaced and kind.is_stored
        )
        return [
            stored.key
            for resource in resources
            for stored in self.storage.list(resource, namespace)
        ]

    @contextmanager
    def emptying(self, namespace: str) -> Iterator[None]:
        """Empty a namespace: whether it can go is looked at once, at the end."""
        self._being_emptied.add(namespace)
        try:
            yield
        finally:
            self._being_emptied.discard(namespace)
        self.finish_namespace(namespace)

    def _take_over(self) -> None:
        """Learn what a storage from an earlier life already has."""
        for stored in self.storage.list(DEFINITIONS):
            self.kinds.add_custom(stored.object)
        for stored in self.storage.list(SERVICES):
            self.addresses.note(stored.object)

    def _follow_definition(self, change: Change) -> None:
        if change.type == "DELETED":
            self.kinds.remove_custom(change.key.name)
        else:
            self.kinds.add_custom(change.stored.object)

    def _follow_service(self, change: Change) -> None:
        if change.previous is not None:
            self.addresses.forget(change.previous.object)
        if change.type != "DELETED":
            self.addresses.note(change.stored.object)

    def _follow_deletion(self, change: Change) -> None:
        namespace = change.key.namespace
        if change.type == "DELETED" and namespace and namespace not in self._being_emptied:
            self.finish_namespace(namespace)
