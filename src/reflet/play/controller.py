"""What a controller is, its queue of keys, and the workers that do what it decides.

A key that changes while it is looked at is looked at once more; one that fails waits longer each
time; nothing that a decision raises ends a worker.

Upstream: client-go/util/workqueue, TypedRateLimitingInterface; every processNextWorkItem of
pkg/controller
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reflet.api.resources import Resource
from reflet.errors import AlreadyExists, Conflict, NotFound, RefletError
from reflet.informer.handlers.changes import Change
from reflet.play.actions import Action, NextActions, perform
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import TaskOwner
from reflet.runtime.waits import came_within

WORKERS: Final = 4
AT_ONCE: Final = 16  # requests of one decision that are on their way at the same time
FIRST_RETRY: Final = 0.01  # seconds
LONGEST_RETRY: Final = 30.0

logger = logging.getLogger(__name__)

Keys = Callable[[ClusterView, SeenObject], Iterable[str]]
"""From an object that came, changed or went to the keys that have to be looked at."""
Decide = Callable[[ClusterView, str], Awaitable[NextActions]]


def itself(_: ClusterView, seen: SeenObject) -> Iterable[str]:
    """The object's own key."""
    yield seen.key


def its_controller(kind: str) -> Keys:
    """The key of the object of a kind that controls this one."""

    def keys(_: ClusterView, seen: SeenObject) -> Iterable[str]:
        for reference in seen.metadata.owner_references:
            if reference.controller and reference.kind == kind:
                yield f"{seen.metadata.namespace}/{reference.name}"

    return keys


@dataclass(frozen=True, slots=True)
class PlayedController:
    """Which changes concern it, what it decides about a key, and which keys it begins with."""

    name: str
    watches: Mapping[Resource, Keys]
    decide: Decide
    first: Sequence[str] = ()


class KeyQueue:
    """Keys that wait to be looked at, each once, now or later."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready: dict[str, None] = {}
        self._busy: set[str] = set()
        self._again: set[str] = set()
        self._later: list[tuple[float, str]] = []
        self._failures: dict[str, int] = {}
        self._news = asyncio.Event()

    def add(self, key: str) -> None:
        """Look at a key as soon as a worker is free; after the present look if there is one."""
        if key in self._busy:
            self._again.add(key)
        else:
            self._ready[key] = None
            self._news.set()

    def add_after(self, key: str, seconds: float) -> None:
        """Look at a key in some seconds."""
        heapq.heappush(self._later, (self._clock.monotonic() + seconds, key))
        self._news.set()

    def failed(self, key: str) -> int:
        """Look at a key after the back-off; give how many failures in a row it has had."""
        count = self._failures[key] = self._failures.get(key, 0) + 1
        self.add_after(key, min(FIRST_RETRY * 2 ** min(count, 20), LONGEST_RETRY))
        return count

    def succeeded(self, key: str) -> None:
        """Forget the failures of a key."""
        self._failures.pop(key, None)

    async def take(self) -> str:
        """Wait for a key; nobody else gets it before ``done``."""
        while True:
            now = self._clock.monotonic()
            while self._later and self._later[0][0] <= now:
                self.add(heapq.heappop(self._later)[1])
            if self._ready:
                key = next(iter(self._ready))
                del self._ready[key]
                self._busy.add(key)
                return key
            self._news.clear()
            wait = self._later[0][0] - now if self._later else None
            await came_within(self._news, wait, clock=self._clock)

    def done(self, key: str) -> None:
        """The look at a key is over."""
        self._busy.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)


class RunningController:
    """A controller with its queue and workers."""

    def __init__(self, controller: PlayedController, view: ClusterView) -> None:
        self._controller = controller
        self._view = view
        self.queue = KeyQueue(view.clock)
        for resource, keys in controller.watches.items():
            view.follow(resource, self._follower(keys))

    def start(self, tasks: TaskOwner) -> None:
        """Begin to work; the view has been filled."""
        for key in self._controller.first:
            self.queue.add(key)
        for number in range(WORKERS):
            tasks.start(self._work(), name=f"play {self._controller.name} {number}")

    def _follower(self, keys: Keys) -> Callable[[Change[Any]], None]:
        def follow(change: Change[Any]) -> None:
            for seen in (change.object, change.old):
                if seen is not None:
                    for key in keys(self._view, seen):
                        self.queue.add(key)

        return follow

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                await self._look_at(key)
            finally:
                self.queue.done(key)

    async def _look_at(self, key: str) -> None:
        try:
            decision = await self._controller.decide(self._view, key)
            await self._do(decision)
        except (Conflict, NotFound, AlreadyExists) as error:
            # The view was behind: what it shows next wakes the key anyway.
            logger.debug("%s %s: %s", self._controller.name, key, error)
            self.queue.failed(key)
        except RefletError as error:
            if self.queue.failed(key) == 1:
                logger.warning("play of %s, %s: %s", self._controller.name, key, error)
        except Exception:
            # An odd object must not end the worker, nor hide.
            if self.queue.failed(key) == 1:
                logger.exception("play of %s failed for %s", self._controller.name, key)
        else:
            self.queue.succeeded(key)
            if decision.again is not None:
                self.queue.add_after(key, decision.again)

    async def _do(self, decision: NextActions) -> None:
        written: dict[Resource, int] = {}
        some = asyncio.Semaphore(AT_ONCE)

        async def do(action: Action) -> None:
            async with some:
                version = await perform(self._view.client, action)
            known = written.get(action.resource, 0)
            written[action.resource] = max(known, version)

        try:
            results = await asyncio.gather(*map(do, decision.at_once), return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result
            for action in decision.actions:
                await do(action)
        finally:
            for resource, version in written.items():
                await self._view.caught_up(resource, version)
