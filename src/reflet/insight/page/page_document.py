"""The document of a page: everything that a browser is given, and a change of it.

Times are seconds since 1970.  A key of a Secret has a size and never a text.  Names, keys and texts
may hold anything that somebody wrote into an object: who shows them must not take them for markup.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from reflet.api.frozen import EMPTY, Frozen
from reflet.insight.stale.held_values import HeldState

PageState = Literal["current", "on-its-way", "needs-restart", "missing", "unknown"]
Way = Literal["variable", "file", "subPath", "pullSecret", "volumeCredentials"]
PageKind = Literal["live", "files", "node", "sidecar"]

STATES: Mapping[HeldState, PageState] = {
    HeldState.CURRENT: "current",
    HeldState.ON_ITS_WAY: "on-its-way",
    HeldState.NEEDS_RESTART: "needs-restart",
    HeldState.MISSING: "missing",
    HeldState.UNKNOWN: "unknown",
}


class PageKey(Frozen, frozen=True, kw_only=True):
    """A key: how many bytes it has, and the beginning of its text unless that is secret."""

    name: str
    size: int
    text: str | None = None


class PageSource(Frozen, frozen=True, kw_only=True):
    """A ConfigMap or Secret.  ``status`` is empty for one that is there."""

    kind: str
    namespace: str
    name: str
    keys: tuple[PageKey, ...]
    status: Literal["", "missing", "unread"] = ""
    version: str = ""
    edited: float | None = None
    by: str = ""
    immutable: bool = False


class PageLink(Frozen, frozen=True, kw_only=True):
    """The end of a line: a container of a group of pods; the pods themselves where it is empty."""

    pods: int
    container: str
    state: PageState
    inferred: bool = False


class PageArrival(Frozen, frozen=True, kw_only=True):
    """As what a key arrives, and where; ``key`` is empty where the whole object is meant."""

    way: Way
    name: str
    source: str
    key: str
    to: tuple[PageLink, ...]


class PageContainer(Frozen, frozen=True, kw_only=True):
    """A container of a pod."""

    name: str
    init: bool = False


class PodGroup(Frozen, frozen=True, kw_only=True):
    """Pods of a workload of which the same is to be said: the names of the first, and how many."""

    names: tuple[str, ...]
    count: int
    phase: str
    containers: tuple[PageContainer, ...]
    since: float | None = None


class Sentence(Frozen, frozen=True, kw_only=True):
    """What is wrong, and the command that repairs it if there is one.

    ``{ago}`` in the text stands for the time since ``at``, which goes on.
    """

    state: PageState
    title: str
    text: str
    command: str = ""
    at: float | None = None


class PageWorkload(Frozen, frozen=True, kw_only=True):
    """A workload that uses configuration, or a pod of its own."""

    kind: str
    namespace: str
    name: str
    pods: tuple[PodGroup, ...]
    arrivals: tuple[PageArrival, ...]
    sentences: tuple[Sentence, ...]


class EditStep(Frozen, frozen=True, kw_only=True):
    """One stage of an edit's way: event, cache, file or process; and how it went.

    The text of an event is empty: its time is that of the edit, which the reader's clock writes.
    """

    stage: Literal["event", "cache", "file", "process"]
    state: PageState
    text: str


class PageEdit(Frozen, frozen=True, kw_only=True):
    """An edit that was seen: of which keys, and how far it has come."""

    at: float
    source: str
    keys: tuple[str, ...]
    steps: tuple[EditStep, ...]
    by: str = ""


class PageDocument(Frozen, frozen=True, kw_only=True):
    """All of a page; sources and workloads by ``KIND/NAMESPACE/NAME``."""

    title: str
    kind: PageKind
    began: float
    now: float
    notes: tuple[str, ...]
    sources: Mapping[str, PageSource]
    workloads: Mapping[str, PageWorkload]
    edits: tuple[PageEdit, ...]


class PageChange(Frozen, frozen=True, kw_only=True):
    """What is different since the document, or the change, before; ``None`` for what is gone."""

    now: float
    sources: Mapping[str, PageSource | None] = EMPTY
    workloads: Mapping[str, PageWorkload | None] = EMPTY
    notes: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    edits: tuple[PageEdit, ...] | msgspec.UnsetType = msgspec.UNSET


def page_id(kind: str, namespace: str, name: str) -> str:
    """Return the id of an object or workload on the page."""
    return f"{kind}/{namespace}/{name}"


def seconds(moment: datetime | None) -> float | None:
    """Return a moment as the page has it."""
    return None if moment is None else round(moment.timestamp(), 3)
