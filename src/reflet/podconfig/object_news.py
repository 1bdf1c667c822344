"""One ear for many pods: who has to look again because something of theirs has changed.

Owns: listening to the managers and to services once, however many pods there are.  Must not know
what is done by those who are woken.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

from reflet.api.core.services import Service
from reflet.errors import ConfigurationError
from reflet.informer.mirror import Mirror
from reflet.informer.queues.delta_fifo import QueueClosed
from reflet.managers.manager import ConfigMapManager, ObjectManager, SecretManager
from reflet.managers.object_changes import ObjectChanges
from reflet.managers.registry import PodKey
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import TaskOwner

POLL_EVERY: Final = 60.0
"""Seconds between two looks where nobody tells of changes, as the kubelet syncs its pods."""

Wake = Callable[[], None]
"""Is called when something may have changed; must not wait."""


class ObjectNews:
    """Wakes pods while the context is open.

    A pod is woken when a ConfigMap or Secret that it refers to has changed, and, with a mirror of
    *services* or with trust *bundles*, when any of those has.  Managers whose strategy does not
    notice changes wake every pod each *poll_every* seconds.  *permanent* keeps the tasks that
    listen.

    Belongs to one event loop.
    """

    def __init__(
        self,
        config_maps: ConfigMapManager,
        secrets: SecretManager,
        *,
        services: Mirror[Service] | None = None,
        bundles: TrustBundles | None = None,
        poll_every: float = POLL_EVERY,
        clock: Clock | None = None,
        permanent: PermanentTasks | None = None,
    ) -> None:
        self._managers: tuple[ObjectManager[Any], ...] = (config_maps, secrets)
        self._services = services
        self._bundles = bundles
        self._poll_every = poll_every
        self._clock = clock or SystemClock()
        self._permanent = permanent or PermanentTasks(clock=self._clock)
        self._followers: dict[PodKey, dict[Wake, None]] = {}
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        tasks = await self._closing.enter_async_context(TaskOwner("news of objects"))
        keep = partial(self._permanent.keep, tasks)
        polled = False
        for manager in self._managers:
            try:
                # Here and not in the task: what changes from now on must not be missed.
                changes = manager.subscribe()
            except ConfigurationError:
                polled = True
                continue
            keep(partial(self._hear, changes), name=f"news of {type(manager).__name__}")
            self._closing.callback(changes.close)
        if polled:
            keep(self._poll, name="looking again")
        if self._bundles is not None:
            self._bundles.on_change = self._wake_all
        if self._services is not None:
            keep(partial(self._hear_services, self._services), name="news of services")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._closing.__aexit__(kind, error, traceback)

    def follow(self, pod: PodKey, wake: Wake) -> None:
        """Call *wake* for news of this pod's objects."""
        self._followers.setdefault(pod, {})[wake] = None

    def unfollow(self, pod: PodKey, wake: Wake) -> None:
        """Stop that; harmless when nobody followed."""
        wakes = self._followers.get(pod, {})
        wakes.pop(wake, None)
        if not wakes:
            self._followers.pop(pod, None)

    async def _hear(self, changes: ObjectChanges[Any]) -> None:
        async for change in changes:
            for pod in change.pods:
                for wake in tuple(self._followers.get(pod, ())):
                    wake()

    async def _hear_services(self, services: Mirror[Service]) -> None:
        with services.changes() as changes:
            await services.synced()
            self._wake_all()
            try:
                while True:
                    await changes.next_batch()
                    self._wake_all()
            except QueueClosed:
                return  # the mirror was closed

    async def _poll(self) -> None:
        while True:
            await self._clock.sleep(self._poll_every)
            self._wake_all()

    def _wake_all(self) -> None:
        for wakes in tuple(self._followers.values()):
            for wake in tuple(wakes):
                wake()
