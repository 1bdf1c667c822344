"""Whether a container holds the value that a key has now: one key, one container, times alone.

A variable has the value of the moment in which its container started, and so has a file that is
mounted by ``subPath``; other files follow by themselves.  What is *observed* was seen by a watch:
it is so.  What is *inferred* follows from times: that a value is current is then certain, that it
needs a restart only possible, since the manager that wrote may have written another key, or the
same value again.  Nothing is called current that is not known to be.

Times are those of the API server, cut to seconds, beside those of a node; ``SETTLED`` is what lies
between them.
"""

import enum
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Final, final

from reflet.api.frozen import Frozen
from reflet.api.meta import Time
from reflet.gotext.durations import human_duration
from reflet.insight.stale.object_history import SECOND, FieldWrite, KeyChange, ObjectHistory

SETTLED: Final = timedelta(seconds=3)
"""A container that started so long after a change has it: the kubelet's watch, and the start."""
FOLLOWS_WITHIN: Final = timedelta(seconds=120)
"""In which a volume follows: the kubelet looks at a pod every 60 to 90 seconds."""


@final
class Arrival(enum.Enum):
    """As what a value arrives in a container."""

    VARIABLE = "variable"
    FILE = "file"
    SUB_PATH = "subPath file"


@final
class HeldState(enum.Enum):
    """How the value that a container holds compares with the one that the object has."""

    CURRENT = "current"
    ON_ITS_WAY = "on its way"
    """The file follows within ``FOLLOWS_WITHIN``."""
    NEEDS_RESTART = "needs restart"
    MISSING = "missing"
    """The key or the object is gone, and the container would not start again."""
    UNKNOWN = "unknown"

    @property
    def is_stale(self) -> bool:
        """Whether the container holds, or may hold, what is not there any more."""
        return self in {HeldState.NEEDS_RESTART, HeldState.MISSING}


@final
class Certainty(enum.Enum):
    """Whether a watch saw what is said, or it follows from managed fields and times."""

    OBSERVED = "observed"
    INFERRED = "inferred"


class HeldValue(Frozen, frozen=True, kw_only=True):
    """What is said of one key, for one container.

    ``at`` and ``by`` are of the change that counts, as far as it is known.  ``among`` is how many
    keys that manager has written, any of which the change may have been of; 0 where that is no
    question.
    """

    state: HeldState
    certainty: Certainty = Certainty.INFERRED
    reason: str = ""
    at: Time | None = None
    by: str = ""
    among: int = 0


class Start(Frozen, frozen=True, kw_only=True):
    """When a container that runs was started, and its pod made; ``again`` after an earlier end."""

    pod_created: Time | None
    at: Time | None
    again: bool = False


class _Reading(Frozen, frozen=True, kw_only=True):
    """Between which moments a container read a value."""

    earliest: Time
    latest: Time


def judge(
    history: ObjectHistory,
    key: str,
    start: Start,
    arrival: Arrival,
    *,
    now: datetime,
    held_back: str = "",
) -> HeldValue:
    """Compare what a container read of a key with what the key is now, there or not.

    *held_back* is why the kubelet cannot update the volume that the file is in.
    """
    if start.at is None:
        return HeldValue(
            state=HeldState.UNKNOWN, reason="when the container started is not reported"
        )
    fixed = _Comparison(history, key, start, start.at, arrival).judged(now)
    if arrival is not Arrival.FILE or history.immutable or fixed.state is HeldState.CURRENT:
        return fixed
    if fixed.at is None:
        return fixed
    seen = Certainty.OBSERVED if history.changes_of(key) else Certainty.INFERRED
    state, rest = HeldState.CURRENT, "files of volumes follow by themselves"
    if held_back:
        state, rest = HeldState.UNKNOWN, f"the kubelet cannot update the volume: {held_back}"
    elif now - fixed.at <= FOLLOWS_WITHIN:
        state, rest = HeldState.ON_ITS_WAY, f"the file follows within {_text(FOLLOWS_WITHIN)}"
    reason = f"{_change_text(fixed.at, fixed.by, now)}; {rest}"
    return HeldValue(state=state, certainty=seen, reason=reason, at=fixed.at, by=fixed.by)


def surely_current(
    history: ObjectHistory, start: Start, arrival: Arrival, *, newest: datetime | None
) -> bool:
    """Whether nothing of an object has changed since a container started; False is no answer.

    *newest* is when any of its keys was last written.  ``judge`` says so of each key, and why.
    """
    if start.at is None or newest is None or history.changes:
        return False
    write = FieldWrite(manager="", at=newest)
    return _was_settled(history, write, start, _reading(history, start, start.at, arrival))


@final
class _Comparison:
    """The value that a container read when it started, beside the one that there is now."""

    def __init__(
        self,
        history: ObjectHistory,
        key: str,
        start: Start,
        started: datetime,
        arrival: Arrival,
    ) -> None:
        self._history = history
        self._key = key
        self._started = started
        self._write = history.last_write(key)
        self._changes = history.changes_of(key)
        self._reading = reading = _reading(history, start, started, arrival)
        self._was_watched = history.since is not None and history.since <= reading.earliest
        self._may_be_older = not self._was_watched and not _was_settled(
            history, self._write, start, reading
        )

    def judged(self, now: datetime) -> HeldValue:
        began = f"the container started {_ago(self._started, now)}"
        if self._changes:
            return self._by_changes(self._changes, began, now)
        if self._was_watched:
            reason = f"has not changed while it was watched, {began}"
            return HeldValue(state=HeldState.CURRENT, certainty=Certainty.OBSERVED, reason=reason)
        if self._write is not None:
            return self._by_write(self._write, began, now)
        return HeldValue(
            state=HeldState.UNKNOWN,
            reason=f"its managed fields do not say when {self._key} last changed"
            if self._history.has(self._key)
            else f"whether {self._key} was there when the container started is not known",
        )

    def _by_changes(self, changes: tuple[KeyChange, ...], began: str, now: datetime) -> HeldValue:
        last, reading = changes[-1], self._reading
        # What was in force while it read: the value of the first sight, or that of a change.
        held = {changes[0].before} if changes[0].at >= reading.earliest else set()
        for change, after in zip_longest(changes, changes[1:]):
            is_over = after is not None and after.at < reading.earliest
            if change.since <= reading.latest and not is_over:
                held.add(change.after)
        state, certainty = HeldState.NEEDS_RESTART, Certainty.INFERRED
        if not self._may_be_older and held == {last.after}:
            state, certainty = HeldState.CURRENT, Certainty.OBSERVED
        elif not self._may_be_older and last.after not in held:
            certainty = Certainty.OBSERVED
        reason = f"seen to change: {_change_text(last.at, last.by, now)}, {began}"
        return HeldValue(state=state, certainty=certainty, reason=reason, at=last.at, by=last.by)

    def _by_write(self, write: FieldWrite, began: str, now: datetime) -> HeldValue:
        at, by, history = write.at, write.manager, self._history
        if not self._may_be_older:
            reason = f"{_change_text(at, by, now)}, {began}"
            return HeldValue(state=HeldState.CURRENT, reason=reason, at=at, by=by)
        among = len({*write.keys, *write.string_keys})
        which = " or ".join(
            filter(
                None,
                (
                    "it",
                    f"another of {among} keys" if among > 1 else "",
                    "the metadata" if write.metadata else "",
                ),
            )
        )
        reason = f"{by or 'somebody'} wrote {which} {_ago(at, now)}, {began}"
        if history.created is not None and history.created > self._started:
            reason = f"{history.kind} {history.name} was made {_ago(history.created, now)}, {began}"
        return HeldValue(state=HeldState.NEEDS_RESTART, reason=reason, at=at, by=by, among=among)


def _reading(history: ObjectHistory, start: Start, started: datetime, arrival: Arrival) -> _Reading:
    """Return when the container read the value, or the kubelet did for it."""
    made = start.pod_created or datetime.min.replace(tzinfo=started.tzinfo)
    if history.immutable and start.again:
        # The kubelet does not read an immutable object twice while a pod uses it.
        earliest = made
    elif arrival is Arrival.VARIABLE:
        earliest = max(made, started + SECOND - SETTLED)
    elif start.again:
        earliest = max(made, started - FOLLOWS_WITHIN)  # out of the volume, as it was then
    else:
        earliest = made
    return _Reading(earliest=earliest, latest=started + SETTLED)


def _was_settled(
    history: ObjectHistory, write: FieldWrite | None, start: Start, reading: _Reading
) -> bool:
    """Whether the value of the first sight was in force when the container read it."""
    if write is None:
        return False
    if write.at + SECOND <= reading.earliest:
        return True
    # Objects that are applied together are made in one second: a pod that is no older than the
    # object has seen no other one, and the next second is another second.
    made, born = start.pod_created, history.created
    if made is None or born is None or start.at is None:
        return False
    return write.at <= born <= made and start.at > born


def _change_text(at: datetime, by: str, now: datetime) -> str:
    return f"last changed {_ago(at, now)}" + (f" by {by}" if by else "")


def _ago(moment: datetime, now: datetime) -> str:
    return f"{_text(max(now - moment, timedelta()))} ago"


def _text(duration: timedelta) -> str:
    return human_duration(duration.total_seconds())
