"""Which events are news, which are the same again, and which are too many.

The kubelet's rules: the same event counts up; from the tenth that is alike without a pause of ten
minutes they become one; and one object has 25 events and then one each five minutes.  No I/O: the
moment is handed in.  A bounded number of events is remembered.

Upstream: client-go/tools/record/events_cache.go, EventCorrelator (EventAggregator, eventLogger,
EventSourceObjectSpamFilter).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, TypeVar

from reflet.api.meta import ObjectReference

V = TypeVar("V")

REMEMBERED: Final = 4096
ALIKE: Final = 10
ALIKE_WITHIN: Final = 600.0  # seconds
BURST: Final = 25
REFILL: Final = 1 / 300  # events a second
COMBINED: Final = "(combined from similar events): "


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happened to an object."""

    involved: ObjectReference
    type: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Telling:
    """How to tell it: under which *key* it was told before, and for the how manieth time."""

    key: tuple[str, ...]
    happening: Happening
    count: int
    is_new: bool


@dataclass(slots=True)
class _Alike:
    last: float
    messages: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Bucket:
    tokens: float
    last: float


class EventCorrelation:
    """Decides about one happening after the other."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, ...], int] = OrderedDict()
        self._alike: OrderedDict[tuple[str, ...], _Alike] = OrderedDict()
        self._buckets: OrderedDict[tuple[str, ...], _Bucket] = OrderedDict()

    def tell(self, happening: Happening, now: float) -> Telling | None:
        """Say how to tell it; None when the object has had too many events."""
        told = self._combined(happening, now)
        involved, kind = happening.involved, (happening.type, happening.reason)
        if told is happening:
            key = (*_object(involved), *kind, involved.field_path, happening.message)
        else:
            key = (*_object(involved), *kind, COMBINED)
        count = self._counts.pop(key, 0) + 1
        _remember(self._counts, key, count)
        # What is not told has happened all the same: the next that is told counts it.
        if not self._has_token(involved, now):
            return None
        return Telling(key, told, count, is_new=count == 1)

    def forget(self, key: tuple[str, ...]) -> None:
        """What was told under this key is not on the server any more."""
        self._counts.pop(key, None)

    def _combined(self, happening: Happening, now: float) -> Happening:
        key = (*_object(happening.involved), happening.type, happening.reason)
        alike = self._alike.pop(key, None)
        if alike is None or now - alike.last > ALIKE_WITHIN:
            alike = _Alike(now)
        alike.last = now
        _remember(self._alike, key, alike)
        if happening.message in alike.messages or len(alike.messages) + 1 < ALIKE:
            alike.messages.add(happening.message)
            return happening
        return Happening(
            involved=happening.involved,
            type=happening.type,
            reason=happening.reason,
            message=f"{COMBINED}{happening.message}",
        )

    def _has_token(self, involved: ObjectReference, now: float) -> bool:
        key = _object(involved)
        bucket = self._buckets.pop(key, None) or _Bucket(BURST, now)
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.last) * REFILL)
        bucket.last = now
        _remember(self._buckets, key, bucket)
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _object(involved: ObjectReference) -> tuple[str, ...]:
    """The object itself, whichever part of it is meant."""
    return (involved.kind, involved.namespace, involved.name, involved.uid)


def _remember(memory: OrderedDict[tuple[str, ...], V], key: tuple[str, ...], value: V) -> None:
    memory[key] = value
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)
