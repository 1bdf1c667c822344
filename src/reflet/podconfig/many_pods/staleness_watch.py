"""Pods that run and the past of what they use, watched: from then on changes are observed.

Mirrors of pods, of what makes them, and of ConfigMaps and Secrets, of which digests are kept and no
value.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from typing import Any, Final, Self, cast, final

from reflet.api import resources
from reflet.api.core.pods import Pod
from reflet.api.meta import PartialObjectMetadata
from reflet.api.resources import ALL_NAMESPACES, Resource
from reflet.api.unstructured import AnyObject
from reflet.cluster import MirroringClient
from reflet.errors import Forbidden, NotFound, Unauthorized
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.registration import Registration
from reflet.informer.mirror import Mirror
from reflet.insight.owners import Owners
from reflet.insight.stale.object_history import (
    PROMPT,
    ObjectHistory,
    history_of,
    never_seen,
    observed,
    without_values,
)
from reflet.insight.stale.stale_workloads import RunningPods
from reflet.podconfig.many_pods.gather_staleness import MIDDLE, RUNNING
from reflet.resolution.objects import ConfigKind, ObjectKey
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Failure

SETTLES_IN: Final = 0.5
"""Seconds after a change in which others that belong to it may come."""

_CONFIGURATION: Final = (resources.CONFIG_MAPS, resources.SECRETS)


@final
class StalenessWatch:
    """What ``running_pods`` gathers, kept fresh while the context is open.

    Raises, when it is entered, what waiting does not change: Forbidden, Unauthorized.
    """

    def __init__(
        self,
        cluster: MirroringClient,
        *,
        selector: str = "",
        everywhere: bool = False,
        on_error: Callable[[Exception], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        namespace = ALL_NAMESPACES if everywhere else None
        self._clock = clock or SystemClock()
        self._salt = secrets.token_bytes()
        self._since: datetime | None = None
        self._lost: set[str] = set()
        self._back_at: datetime | None = None
        self._histories: dict[ObjectKey, ObjectHistory] = {}
        self._changed = asyncio.Event()
        self._opened = AsyncExitStack()
        self._pods: Mirror[Pod] = cluster.mirror(
            Pod,
            namespace=namespace,
            label_selector=selector,
            field_selector=RUNNING,
            on_error=on_error,
        )
        self._makers: dict[Resource, Mirror[PartialObjectMetadata]] = {
            resource: cluster.mirror(
                resource, namespace=namespace, metadata_only=True, on_error=on_error
            )
            for resource in MIDDLE
        }
        self._objects: list[Mirror[AnyObject]] = [
            cluster.mirror(
                resource,
                namespace=namespace,
                raw=True,
                transform=partial(without_values, salt=self._salt),
                on_error=on_error,
                on_connection=partial(self._connection_changed, resource.plural),
            )
            for resource in _CONFIGURATION
        ]

    async def __aenter__(self) -> Self:
        every: list[Mirror[Any]] = [self._pods, *self._makers.values(), *self._objects]
        told: list[Registration[Any]] = []
        for mirror in every:
            handler = self._object_changed if mirror in self._objects else self._something_changed
            told.append(mirror.add_handler(handler, name=f"staleness by {mirror.resource}"))
        try:
            for mirror in every:
                await self._opened.enter_async_context(mirror)
            for mirror in every:
                await mirror.synced(fail_on=(Forbidden, NotFound, Unauthorized))
            for each in told:
                await each.synced.wait()
            self._since = self._clock.now()
        except BaseException:
            await self._opened.aclose()
            raise
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._opened.__aexit__(*failure)

    def running(self) -> RunningPods:
        """Return what is known now."""
        makers = (
            (resource.kind, item)
            for resource, mirror in self._makers.items()
            for item in mirror.values()
        )
        return RunningPods(tuple(self._pods.values()), dict(self._histories), Owners(makers))

    async def changes(self) -> AsyncIterator[RunningPods]:
        """Yield what is known, then again whenever something has changed and settled."""
        while True:
            self._changed.clear()
            yield self.running()
            await self._changed.wait()
            await self._clock.sleep(SETTLES_IN)

    def _something_changed(self, _: Change[Any]) -> None:
        self._changed.set()

    def _connection_changed(self, which: str, error: Exception | None) -> None:
        if error is not None:
            self._lost.add(which)
        else:
            self._lost.discard(which)
            self._back_at = self._clock.now()

    def _object_changed(self, change: Change[AnyObject]) -> None:
        item, now = change.object, self._clock.now()
        key = (cast("ConfigKind", item.kind), item.metadata.namespace, item.metadata.name)
        if change.initial:
            self._histories[key] = history_of(item, since=now)
        elif not change.is_resync:
            history = self._histories.get(key) or never_seen(*key, since=self._since or now)
            was_there = change.old is not None or change.type == "DELETED"
            self._histories[key] = observed(
                history,
                (change.old or item) if was_there else None,
                None if change.type == "DELETED" else item,
                at=now,
                salt=self._salt,
                late=self._is_late(change, now),
            )
        self._changed.set()

    def _is_late(self, change: Change[AnyObject], now: datetime) -> bool:
        """Whether the watch was, or just has been, interrupted: this may be of long ago."""
        was_away = self._back_at is not None and now - self._back_at <= PROMPT
        return change.stale or bool(self._lost) or was_away
