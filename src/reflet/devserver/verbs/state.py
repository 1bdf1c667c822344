"""Everything that the verbs work on, in one place, and how its parts hear of writes.

Kinds follow definitions, addresses follow services, namespaces that are going go when they are
empty.  The status of a definition, which in the real server a controller writes a moment later,
says at once whether its names are free.

Upstream: apiextensions-apiserver/pkg/controller/status/naming_controller.go
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
from reflet.apirules.api_approval import CONDITION, approval_of
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.service_allocation import ServiceAddresses
from reflet.devserver.admission.attributes import Admission, AdmitsEverything
from reflet.devserver.authorization.authorizer import Authorizer
from reflet.devserver.authorization.node_restriction import AttemptedWrite, restriction
from reflet.devserver.companion import NOBODY, Controllers
from reflet.devserver.request.authentication import TokenIssuer, UserInfo
from reflet.devserver.storage.storage import Storage, StorageSnapshot
from reflet.devserver.storage.stored import Key, StoredChange
from reflet.devserver.watches.watchers import Watchers
from reflet.gotext.times import time_text

DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
NAMESPACES: Final = "namespaces"
SERVICES: Final = "services"
Document = dict[str, Any]


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

    ``companion`` says which controllers run.  ``now``, ``new_uid`` and ``chance`` are the outside
    world.  ``log_source`` is whoever has the logs of containers, if anybody has.  ``admission``
    sees the writes of clients.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        tokens: TokenIssuer,
        companion: Controllers = NOBODY,
        now: Callable[[], datetime] = utc_now,
        new_uid: Callable[[], str] = lambda: str(uuid.uuid4()),
        chance: Callable[[int], int] = random.randrange,
    ) -> None:
        self.storage = storage
        self.kinds = Kinds()
        self.watchers = Watchers(storage)
        self.addresses = ServiceAddresses()
        self.tokens = tokens
        self.authorizer = Authorizer(storage)
        self.companion = companion
        self.now = now
        self.new_uid = new_uid
        self.chance = chance
        self.log_source: LogSource | None = None
        self.admission: Admission = AdmitsEverything()
        self._being_emptied: set[str] = set()
        self._is_restoring = False
        self._take_over()
        storage.subscribe(self._follow_definition, resource=DEFINITIONS)
        storage.subscribe(self._follow_service, resource=SERVICES)
        storage.subscribe(self._follow_deletion)

    def surroundings(self, user: UserInfo | None = None) -> Surroundings:
        """Give what the outside world contributes to an object at this moment."""
        return Surroundings(
            now=self.now(),
            new_uid=self.new_uid,
            chance=self.chance,
            addresses=self.addresses,
            requester={} if user is None else user.document(),
        )

    def find(self, key: Key) -> Document | None:
        """Give an object as it is stored, or None."""
        stored = self.storage.get(key)
        return None if stored is None else stored.object

    def namespace(self, name: str) -> dict[str, Any] | None:
        """Give a namespace, or None."""
        return self.find(Key(NAMESPACES, "", name))

    def admit(self, write: AttemptedWrite) -> None:
        """Refuse what a node may not write."""
        refusal = restriction(write, self.find)
        if refusal is not None:
            raise refusal

    def finish_namespace(self, name: str) -> None:
        """Remove a namespace that is going, if nothing is in it and nobody holds it."""
        key = Key(NAMESPACES, "", name)
        stored = self.storage.get(key)
        if stored is None:
            return
        metadata = stored.object["metadata"]
        if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
            return
        if self.companion.ends_namespaces and stored.object.get("spec", {}).get("finalizers"):
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

    def restore(self, snapshot: StorageSnapshot) -> None:
        """Put all objects back to what they were, and with them what lives by them.

        Kinds and namespaces are there before what needs them.  Nothing goes but what came.
        """
        self._is_restoring = True
        try:
            self.storage.restore(snapshot, first=(DEFINITIONS, NAMESPACES))
        finally:
            self._is_restoring = False
        # From the beginning: an address may have gone from one service to another and back.
        self.addresses = ServiceAddresses()
        for stored in self.storage.list(SERVICES):
            self.addresses.note(stored.object)

    def _take_over(self) -> None:
        """Learn what a storage from an earlier life already has."""
        for stored in self.storage.list(DEFINITIONS):
            self.kinds.add_custom(stored.object)
        for stored in self.storage.list(SERVICES):
            self.addresses.note(stored.object)

    def _follow_definition(self, change: StoredChange) -> None:
        if change.type == "DELETED":
            self.kinds.remove_custom(change.key.name)
        else:
            self.kinds.add_custom(change.stored.object)

    def _follow_service(self, change: StoredChange) -> None:
        if change.previous is not None:
            self.addresses.forget(change.previous.object)
        if change.type != "DELETED":
            self.addresses.note(change.stored.object)

    def _follow_deletion(self, change: StoredChange) -> None:
        namespace = change.key.namespace
        if change.type != "DELETED" or not namespace or self._is_restoring:
            return
        if namespace not in self._being_emptied:
            self.finish_namespace(namespace)


def with_accepted_names(definition: Document, state: State) -> Document:
    """Give the definition with its status: names accepted, or not, and so established or not."""
    names = definition["spec"]["names"]
    conflict = _conflict(definition, state)
    before = definition.get("status") or {}
    now = time_text(state.now())
    found: tuple[tuple[str, str, str, str], ...]
    if conflict is None:
        found = (
            ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
            ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
        )
    else:
        found = (
            ("NamesAccepted", "False", *conflict),
            ("Established", "False", "NotAccepted", "not all names are accepted"),
        )
    approval = approval_of(definition)
    if approval is not None:
        found = ((CONDITION, approval.status, approval.reason, approval.message), *found)
    conditions = [
        {
            "type": kind,
            "status": status,
            "lastTransitionTime": _since(before, kind, status) or now,
            "reason": reason,
            "message": message,
        }
        for kind, status, reason, message in found
    ]
    stored = [
        version["name"] for version in definition["spec"]["versions"] if version.get("storage")
    ]
    earlier = before.get("storedVersions") or []
    status = {
        "conditions": conditions,
        "acceptedNames": names,
        "storedVersions": [*earlier, *(version for version in stored if version not in earlier)],
    }
    return {**definition, "metadata": {**definition["metadata"]}, "status": status}


def _conflict(definition: Document, state: State) -> tuple[str, str] | None:
    """Say which name of the definition another resource of its group has already."""
    spec = definition["spec"]
    own = definition["metadata"]["name"]
    for kind in state.kinds:
        if kind.group != spec["group"]:
            continue
        if kind.custom is not None and kind.custom.definition == own:
            continue
        if kind.kind == spec["names"]["kind"]:
            return "KindConflict", f'"{kind.kind}" is already in use'
        if kind.plural == spec["names"]["plural"]:
            return "PluralConflict", f'"{kind.plural}" is already in use'
    return None


def _since(before: Document, kind: str, status: str) -> str:
    """Say since when a condition has had its status; empty when it changes now."""
    for earlier in before.get("conditions") or ():
        if (earlier.get("type"), earlier.get("status")) == (kind, status):
            return str(earlier.get("lastTransitionTime") or "")
    return ""
