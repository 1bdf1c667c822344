"""A play that runs: one mirror for each resource, and a controller for each player.

After a write a worker waits until the view shows it, so that no decision is taken twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Self, TypeAlias

from reflet.api.resource_versions import rank
from reflet.api.resources import Resource
from reflet.client.client import ALL_NAMESPACES
from reflet.cluster import Cluster
from reflet.controllers.rate_limiters import ExponentialFailures
from reflet.controllers.reconciler import Controller, Requeue
from reflet.controllers.triggers import Trigger, mapped, owned
from reflet.controllers.work_queue import WorkQueue
from reflet.informer.mirror import Mirror
from reflet.play.actions import Action, Document, Plan, perform
from reflet.play.cluster_view import INDEXERS, ClusterView, SeenObject
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.runtime.waits import Arrivals, timeout_by

WORKERS: Final = 4  # of each controller
AT_ONCE: Final = 16  # requests that are on their way at the same time
FIRST_RETRY: Final = 0.01  # seconds
LONGEST_RETRY: Final = 30.0
LONGEST_LAG: Final = 5.0  # seconds that a view may be behind before it is believed all the same

Keys: TypeAlias = Callable[[ClusterView, SeenObject], Iterable[str]]
"""From an object that came, changed or went to the keys that have to be looked at."""
Look: TypeAlias = Callable[[str], Awaitable[Plan]]


@dataclass(frozen=True, slots=True)
class Player:
    """Whose objects it looks after, what it decides about one, and what else concerns it.

    *owns* are resources whose objects wake their owner, *watches* those that wake others; *absent*
    says what to do about a key without an object, *first* the keys to look at in any case.
    """

    resource: Resource
    decide: Callable[[ClusterView, Document], Plan]
    owns: tuple[Resource, ...] = ()
    watches: Mapping[Resource, Keys] = field(default_factory=dict)
    absent: Callable[[str], Plan] = lambda _: Plan()
    first: tuple[str, ...] = ()


class RunningPlay:
    """Plays for as long as the context is open."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self.view = ClusterView(clock)
        self.cluster = cluster
        self._mirrors: dict[str, Mirror[Any]] = {}
        self._news = Arrivals()
        self._some = asyncio.Semaphore(AT_ONCE)
        self._tasks = TaskOwner("play")

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self._tasks.__aexit__(*failure)
        finally:
            for resource in list(self.view.resources.values()):
                await self.leave(resource)

    async def mirror(self, resource: Resource) -> Mirror[Any]:
        """The mirror of a resource, one for all who ask."""
        name = resource.full_name
        if name not in self._mirrors:
            options: Any = {"transform": SeenObject, "indexers": INDEXERS, "clock": self.view.clock}
            made: Mirror[Any] = self.cluster.mirror(
                resource, namespace=ALL_NAMESPACES, raw=True, **options
            )
            self._mirrors[name] = made
            self.view.resources[name] = resource
            self.view.stores[name] = made.informer.store
            made.add_handler(lambda _: self._news.wake(), name="play")
            await made.__aenter__()
        return self._mirrors[name]

    async def leave(self, resource: Resource) -> None:
        """Follow a resource no longer."""
        name = resource.full_name
        del self.view.resources[name], self.view.stores[name]
        await self._mirrors.pop(name).__aexit__(None, None, None)

    async def synced(self) -> None:
        """Return when everything that is followed has been seen once."""
        for each in list(self._mirrors.values()):
            await each.synced()

    async def add(self, player: Player) -> Controller:
        """Let somebody play."""
        look = partial(self._looked, player)
        triggers = [owned(await self.mirror(each), player.resource) for each in player.owns]
        for watched, keys in player.watches.items():
            triggers.append(mapped(await self.mirror(watched), partial(keys, self.view)))
        controller = await self.controller(player.resource, look, triggers)
        for key in player.first:
            controller.queue.add(key)
        return controller

    async def controller(
        self, resource: Resource, look: Look, watches: Sequence[Trigger[Any]] = ()
    ) -> Controller:
        """Start a controller that does what *look* decides about a key."""
        clock, name = self.view.clock, f"play {resource.plural}"
        controller = Controller(
            await self.mirror(resource),
            partial(self._work, look),
            watches=watches,
            workers=WORKERS,
            queue=WorkQueue(
                name, rate_limiter=ExponentialFailures(FIRST_RETRY, LONGEST_RETRY), clock=clock
            ),
            name=name,
            clock=clock,
        )
        self._tasks.start(controller.run(), name=name)
        return controller

    async def _looked(self, player: Player, key: str) -> Plan:
        found = self.view.get(player.resource, key)
        return player.absent(key) if found is None else player.decide(self.view, found)

    async def _work(self, look: Look, key: str) -> Requeue | None:
        steps = await look(key)
        results = await asyncio.gather(*map(self._do, steps.actions), return_exceptions=True)
        written: dict[str, int] = {}
        for action, result in zip(steps.actions, results, strict=True):
            if isinstance(result, int):
                name = action.resource.full_name
                written[name] = max(result, written.get(name, 0))
        for name, version in written.items():
            await self._caught_up(name, version)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return None if steps.again is None else Requeue(steps.again)

    async def _do(self, action: Action) -> int:
        async with self._some:
            return await perform(self.cluster, action)

    async def _caught_up(self, name: str, version: int) -> None:
        try:
            async with timeout_by(self.view.clock, LONGEST_LAG):
                while name in self.view.stores and rank(self.view.stores[name].version) < version:
                    await self._news.wait()
        except TimeoutError:
            return
