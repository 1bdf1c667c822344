"""When a pod's worker looks at its pod next: asked for, by resync, or after a back-off.

A queue of one pod: whatever was asked for since the last step is one step.  Its delays are
lengthened by chance, up to a half, so that pods that started together do not march in step for
ever.

Upstream: pkg/kubelet/util/queue/work_queue.go, WorkQueue; pkg/kubelet/pod_workers.go, completeWork
(resyncInterval, backOffPeriod and their jitter).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from reflet.runtime.clock import Clock
from reflet.runtime.waits import came_within

JITTER: Final = 0.5  # of a delay, added by chance


@dataclass(slots=True)
class Due:
    """What is to be done; *by_clock* when nobody asked and only its time has come."""

    sync: bool = False
    refresh: bool = False
    by_clock: bool = False


class PodQueue:
    """What one worker has to do, whose first sync is due at once.

    ``ask_for_sync`` and ``ask_for_refresh`` wake whoever waits in ``next``.  *resync* and *retry*
    are seconds: when the pod is looked at although nothing happened, and after something failed.
    """

    def __init__(
        self, clock: Clock, chance: Callable[[], float], *, resync: float, retry: float
    ) -> None:
        self._clock = clock
        self._chance = chance
        self._resync = resync
        self._retry = retry
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

    def resync(self) -> None:
        """Sync although nothing happens, after a while."""
        self.again_in(self._resync)

    def retry(self, seconds: float | None = None) -> None:
        """Sync again because something failed, after the usual back-off or so many *seconds*.

        The back-off is the longest.
        """
        self.again_in(self._retry if seconds is None else min(seconds, self._retry))

    def again_in(self, seconds: float) -> None:
        """Sync in so many seconds, or by chance a little later; an earlier moment stays."""
        self.by(seconds * (1 + JITTER * self._chance()))

    def by(self, seconds: float) -> None:
        """Sync in so many seconds at the latest."""
        moment = self._clock.monotonic() + seconds
        if self._at is None or moment < self._at:
            self._at = moment

    async def next(self) -> Due:
        """Wait until something is due, and take it off the queue; with a sync its moment, too."""
        left = None if self._at is None else max(0.0, self._at - self._clock.monotonic())
        if not await came_within(self._wake, left, clock=self._clock):
            self._due.sync = self._due.by_clock = True
        self._wake.clear()
        due, self._due = self._due, Due()
        if due.sync:
            # Only a sync says anew when the next one is due: a refresh knows of no deadline.
            self._at = None
        return due
