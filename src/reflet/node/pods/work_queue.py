"""What a worker has to do next, and by when.

Owns: what was asked for since the last look, the moment at which to look although nobody asks,
and chance in it, so that pods do not march in step.  Must not know pods.

Which news of a pod its worker has to act on.

Owns: telling them from the echo of what the agent itself said.  Only compares.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from reflet.api.core.pods import Pod
from reflet.node.status.pod_statuses import TERMINAL
from reflet.runtime.clock import Clock
from reflet.runtime.waits import came_within

JITTER: Final = 0.5  # of a delay, added by chance


@dataclass(slots=True)
class Due:
    """What is to be done; *by_clock* when nobody asked and only its time has come."""

    sync: bool = False
    refresh: bool = False
    by_clock: bool = False


class WorkQueue:
    """The agenda of one worker, whose first sync is due at once.

    ``ask_for_sync`` and ``ask_for_refresh`` wake whoever waits in ``next``.
    """

    def __init__(self, clock: Clock, chance: Callable[[], float]) -> None:
        self._clock = clock
        self._chance = chance
        self._due = Due(sync=True)
        self._at: float | None = None
        self._wake = asyncio.Event()
        self._wake.set()

    def ask_for_sync(self) -> None:
        """Look at everything."""
        self._due.sync = True
        self._wake.set()

    def ask_for_refresh(self) -> None:
        """Look at what the pod refers to."""
        self._due.refresh = True
        self._wake.set()

    def again_in(self, seconds: float) -> None:
        """Sync in so many seconds, or by chance a little later; an earlier moment stays."""
        self.by(seconds * (1 + JITTER * self._chance()))

    def by(self, seconds: float) -> None:
        """Sync in so many seconds at the latest."""
        moment = self._clock.monotonic() + seconds
        if self._at is None or moment < self._at:
            self._at = moment

    async def next(self) -> Due:
        """Wait until something is due, and take it off the agenda, its moment too."""
        left = None if self._at is None else max(0.0, self._at - self._clock.monotonic())
        if not await came_within(self._wake, left, clock=self._clock):
            self._due.sync = self._due.by_clock = True
        self._wake.clear()
        due, self._due, self._at = self._due, Due(), None
        return due


def concerns_us(before: Pod, now: Pod) -> bool:
    """Whether a new state of a pod is more than what we said about it ourselves."""
    old, new = before.metadata, now.metadata
    return (
        before.spec != now.spec
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.deletion_timestamp != new.deletion_timestamp
        or old.deletion_grace_period_seconds != new.deletion_grace_period_seconds
        or (now.status.phase in TERMINAL and before.status.phase not in TERMINAL)
        or _gates(before) != _gates(now)
    )


def _gates(pod: Pod) -> dict[str, str]:
    """The readiness gates that others have answered for, and their answers."""
    gates = {each.condition_type for each in pod.spec.readiness_gates}
    if not gates:
        return {}
    return {each.type: each.status for each in pod.status.conditions if each.type in gates}
