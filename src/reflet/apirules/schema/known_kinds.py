"""What an ``apiVersion`` and ``kind`` are to Kubernetes: served, removed, misspelled, or not its.

Judges without asking a server, as one of the release in ``kind_tables`` would.  Groups that belong
to Kubernetes are those it serves or served, and every name without a dot, which nobody else may
define; what SIGs define by CustomResourceDefinitions or serve beside the API server
(``gateway.networking.k8s.io``, ``metrics.k8s.io``, ``*.x-k8s.io``) is somebody else's.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final, final

from reflet.apirules.schema.builtin_kinds import GROUPS
from reflet.apirules.schema.kind_tables import (
    CONFIGURATION_GROUPS,
    CONFIGURATION_KINDS,
    REMOVED,
    WITHOUT_RULES,
)
from reflet.apirules.schema.kinds import version_rank

_VERSION: Final = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?")
_NEAR_KIND: Final = 0.8
_NEAR_GROUP: Final = 0.93
_SPONSORED: Final = ("x-k8s.io", "sigs.k8s.io")
_OWN_KIND: Final = (
    "check apiVersion and kind; a kind of your own needs a group with a dot and a "
    "CustomResourceDefinition"
)


@final
class KindStanding(enum.Enum):
    """What a kind is to Kubernetes."""

    SERVED = "served"
    """A kind of Kubernetes that has rules here."""
    KNOWN = "known"
    """A kind of Kubernetes that has no rules here: nothing of it can be checked."""
    REMOVED = "removed"
    """Was a kind of Kubernetes in that version."""
    UNKNOWN = "unknown"
    """In a group that belongs to Kubernetes, and never served: most often misspelled."""
    CONFIGURATION = "configuration"
    """A file of a component or a tool; never applied to a cluster."""
    CUSTOM = "custom"
    """Somebody else's."""


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """What a kind is, and, unless it is served, why it is not, and what to do about it."""

    standing: KindStanding
    message: str = ""
    fix: str = ""


@cache
def judged(api_version: str, kind: str) -> Judgement:
    """Return what an ``apiVersion`` and ``kind`` are; lists are what their items are."""
    group = group_of(api_version)
    reader = CONFIGURATION_GROUPS.get(group) or CONFIGURATION_KINDS.get((api_version, kind))
    if reader is not None:
        said = f"{kind} of {api_version} is not for a cluster: {reader}"
        return Judgement(KindStanding.CONFIGURATION, said)
    if (api_version, kind) == ("v1", "List"):
        return Judgement(KindStanding.SERVED)
    if kind in _by_version().get(api_version, ()):
        return Judgement(KindStanding.SERVED)
    if kind in WITHOUT_RULES.get(api_version, "").split():
        return Judgement(KindStanding.KNOWN, f"{kind} of {api_version} has no rules here")
    removal = _removed(api_version, kind)
    if removal is not None:
        return removal
    if kind.endswith("List"):
        items = judged(api_version, kind.removesuffix("List"))
        if items.standing not in {KindStanding.UNKNOWN, KindStanding.CUSTOM}:
            return items
    if not group and not _VERSION.fullmatch(api_version) and kind not in _by_kind():
        said = (
            f"{kind} of {api_version} is not for a cluster: {api_version} is no version of an API"
        )
        return Judgement(KindStanding.CONFIGURATION, said)
    if belongs_to_kubernetes(group) or _is_meant_to(group, kind):
        return Judgement(KindStanding.UNKNOWN, _no_matches(api_version, kind), _meant(group, kind))
    return Judgement(KindStanding.CUSTOM)


def belongs_to_kubernetes(group: str) -> bool:
    """Whether only Kubernetes itself can define kinds in a group."""
    return "." not in group or group in _own_groups()


def group_of(api_version: str) -> str:
    """Return the group of an ``apiVersion``, empty for the core group."""
    return api_version.rpartition("/")[0]


def _no_matches(api_version: str, kind: str) -> str:
    # The words of kubectl, which asks discovery: apimachinery/pkg/api/meta/errors.go.
    return f'no matches for kind "{kind}" in version "{api_version}"'


def _removed(api_version: str, kind: str) -> Judgement | None:
    for removal in REMOVED.get(api_version, ()):
        if kind in removal.kinds.split():
            said = f"{_no_matches(api_version, kind)}: Kubernetes {removal.release} removed it"
            return Judgement(KindStanding.REMOVED, said, _instead(removal.instead))
    return None


def _instead(what: str) -> str:
    return what if " " in what else f"use apiVersion {what}"


def _meant(group: str, kind: str) -> str:
    """Say what was meant: the kind elsewhere, one of a similar name, or nothing that is known."""
    places = _by_kind()
    if kind in places:
        return f"use apiVersion {_best(group, kind)}"
    gone = [
        removal
        for removals in REMOVED.values()
        for removal in removals
        if kind in removal.kinds.split()
    ]
    if gone:
        last = max(gone, key=lambda removal: int(removal.release.partition(".")[2]))
        return f"Kubernetes {last.release} removed {kind}; {_instead(last.instead)}"
    near = _near(kind, group)
    if near is None:
        return _OWN_KIND
    best = _best(group, near)
    return f"did you mean {near}{'' if group_of(best) == group else f' of {best}'}?"


def _near(kind: str, group: str) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only needed to explain a mistake

    lowered = {name.lower(): name for name in _by_kind()}
    close = get_close_matches(kind.lower(), lowered, n=3, cutoff=_NEAR_KIND)
    names = [lowered[each] for each in close]
    in_group = [name for name in names if group_of(_best(group, name)) == group]
    return next(iter(in_group or names), None)


def _best(group: str, kind: str) -> str:
    """Return the apiVersion of a kind: of the group that was named if it is there, else stable."""

    def rank(api_version: str) -> tuple[object, ...]:
        return group_of(api_version) != group, version_rank(api_version.rpartition("/")[2])

    return min(_by_kind()[kind], key=rank)


def _is_meant_to(group: str, kind: str) -> bool:
    """Whether a group that is nobody's looks like the group of a kind of Kubernetes."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - only needed to explain a mistake

    if kind not in _by_kind() or group.endswith(_SPONSORED):
        return False
    groups = {group_of(api_version) for api_version in _by_kind()[kind]}
    return any(
        SequenceMatcher(None, group, each).ratio() >= _NEAR_GROUP or group == f"{each}.k8s.io"
        for each in groups
        if each
    )


@cache
def _by_version() -> Mapping[str, frozenset[str]]:
    """The kinds that are stored and have rules, by apiVersion."""
    return MappingProxyType(
        {
            f"{group.name}/{group.version}" if group.name else group.version: frozenset(
                row.kind for row in group.rows if {"create", "get"} <= set(row.verbs)
            )
            for group in GROUPS
        }
    )


@cache
def _by_kind() -> Mapping[str, tuple[str, ...]]:
    """Where each kind of Kubernetes is."""
    places: dict[str, list[str]] = {}
    for api_version, kind in _every():
        places.setdefault(kind, []).append(api_version)
    return MappingProxyType({kind: tuple(found) for kind, found in places.items()})


def _every() -> Iterator[tuple[str, str]]:
    for api_version, kinds in _by_version().items():
        for kind in sorted(kinds):
            yield api_version, kind
    for api_version, names in WITHOUT_RULES.items():
        for kind in names.split():
            yield api_version, kind


@cache
def _own_groups() -> frozenset[str]:
    versions = (*_by_version(), *WITHOUT_RULES, *REMOVED)
    return frozenset(group_of(api_version) for api_version in versions)
