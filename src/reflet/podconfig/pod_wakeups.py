"""Which pods have to look again, because something that they refer to has changed.

The managers, the services and the trust bundles are listened to once, however many pods there
are.  A wake-up carries no object: whoever is woken reads what is there when he gets to it, so
that ten changes in a row are one read.

The kubelet has no wake-ups: it looks at each pod about once a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final, Self

from reflet.api.core.services import Service
from reflet.errors import ConfigurationError
from reflet.informer.mirror import Mirror
from reflet.informer.queues.delta_fifo import QueueClosed
from reflet.managers.manager import ConfigMapManager, ObjectManager, SecretManager
from reflet.managers.registry import PodKey
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import Failure, TaskOwner

POLL_EVERY: Final = 60.0
"""Seconds between two looks where nobody tells of changes, as the kubelet syncs its pods."""

Wake = Callable[[], None]
"""Is called when something may have changed; must neither wait nor fail."""


class PodWakeups:
    """Wakes pods while the context is open.

    A pod is woken when a ConfigMap or Secret that it refers to has changed, and, with a mirror of
    *services* or with trust *bundles*, when any of those has.  Managers whose strategy does not
    notice changes wake every pod each *poll_every* seconds.  *permanent* keeps the tasks that
    listen.

    Belongs to one event loop.

    - *pod*: namespace, name and UID of the pod
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
        self._wakes: dict[PodKey, dict[Wake, None]] = {}
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        tasks = await self._closing.enter_async_context(TaskOwner("wake-ups of pods"))
        keep = partial(self._permanent.keep, tasks)
        polled = False
        for manager in self._managers:
            try:
                self._closing.callback(manager.wake_pods(self._wake).close)
            except ConfigurationError:
                polled = True  # the strategies cache and get notice nothing
        if polled:
            keep(self._poll, name="looking again")
        if self._bundles is not None:
            self._bundles.on_change = self._wake_all
        if self._services is not None:
            keep(partial(self._hear_services, self._services), name="news of services")
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    def follow(self, pod: PodKey, wake: Wake) -> None:
        """Call *wake* when something that this pod gets may have changed."""
        self._wakes.setdefault(pod, {})[wake] = None

    def unfollow(self, pod: PodKey, wake: Wake) -> None:
        """Stop that; harmless when nobody followed.

        - *wake*: what ``follow`` was given
        """
        wakes = self._wakes.get(pod, {})
        wakes.pop(wake, None)
        if not wakes:
            self._wakes.pop(pod, None)

    def _wake(self, pod: PodKey) -> None:
        for wake in tuple(self._wakes.get(pod, ())):
            wake()

    def _wake_all(self) -> None:
        for pod in tuple(self._wakes):
            self._wake(pod)

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
