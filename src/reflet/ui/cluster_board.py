"""Mirrors that fill a board: the pods, ConfigMaps and Secrets of a cluster or of some namespaces.

Three lists and three watches for each namespace, or for all together; owners are not asked for.
Values are taken out of objects before they are stored.  Releases of Helm, which are Secrets that no
pod uses and often most of their bytes, are not asked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from typing import Final, Self

from reflet.api import resources
from reflet.api.core.pods import Pod
from reflet.api.resources import ALL_NAMESPACES, Resource
from reflet.api.unstructured import AnyObject
from reflet.cluster import MirroringClient
from reflet.errors import (
    CredentialsError,
    Forbidden,
    NotFound,
    RefletError,
    TransportError,
    Unauthorized,
)
from reflet.informer.handlers.changes import Change
from reflet.informer.mirror import Mirror
from reflet.insight.stale.object_history import PROMPT
from reflet.podconfig.gather_objects import NO_HELM_RELEASES
from reflet.resolution.objects import ConfigKind
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.ui.board import Board

REFUSED: Final = (Forbidden, NotFound)
UNREACHABLE: Final = (Unauthorized, CredentialsError, TransportError)
AWAY: Final = "The API server is away, what is shown is the last known state: "
_MOST_ARRIVALS: Final = 10_000
logger = logging.getLogger(__name__)


class ClusterBoard:
    """Fills *board* while the context is open; *on_change* is called when a look at it is due.

    *namespaces* are those that are shown; none means all.
    """

    def __init__(
        self,
        cluster: MirroringClient,
        board: Board,
        *,
        namespaces: tuple[str, ...] = (),
        on_change: Callable[[], None] = lambda: None,
        clock: Clock | None = None,
    ) -> None:
        self._cluster = cluster
        self._board = board
        self._namespaces = namespaces or (ALL_NAMESPACES,)
        self._on_change = on_change
        self._clock = clock or SystemClock()
        self._closing = AsyncExitStack()
        self._tasks = TaskOwner("board")
        self._pods: list[Mirror[Pod]] = []
        self._objects: list[tuple[ConfigKind, str, Mirror[AnyObject]]] = []
        self._away: dict[str, Exception] = {}  # by namespace, why its pods cannot be watched
        self._back_at: datetime | None = None
        self._arrived: dict[tuple[str, str], float] = {}

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            for namespace in self._namespaces:
                await self._open(undo, namespace)
            # Ends before the mirrors do, for which it waits.
            await undo.enter_async_context(self._tasks)
            self._closing = undo.pop_all()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    async def ready(self, timeout: float | None = None) -> None:
        """Return when everything that may be read is on the board.

        Raises what the server says when pods may not be read, what keeps it from being asked, or
        NotSynced after *timeout* seconds.  ConfigMaps or Secrets that may not be read are noted on
        the board.
        """
        firsts = [
            *(self._first_pods(mirror, timeout) for mirror in self._pods),
            *(self._first_objects(*each, timeout) for each in self._objects),
        ]
        for failure in await asyncio.gather(*firsts):
            if failure is not None:
                raise failure

    async def _open(self, undo: AsyncExitStack, namespace: str) -> None:
        pods = self._cluster.mirror(
            Pod,
            namespace=namespace,
            transform=self._board.brief_pod,
            on_error=_log,
            on_connection=partial(self._connection_changed, namespace),
            clock=self._clock,
        )
        pods.add_handler(self._pod_changed, name="pods of the board")
        self._pods.append(await undo.enter_async_context(pods))
        kinds: tuple[tuple[ConfigKind, Resource, str], ...] = (
            ("ConfigMap", resources.CONFIG_MAPS, ""),
            ("Secret", resources.SECRETS, NO_HELM_RELEASES),
        )
        for kind, resource, selector in kinds:
            objects = self._cluster.mirror(
                resource,
                raw=True,
                namespace=namespace,
                field_selector=selector,
                transform=self._brief,
                on_error=_log,
                clock=self._clock,
            )
            objects.add_handler(self._object_changed, name=f"{kind}s of the board")
            where = "" if namespace == ALL_NAMESPACES else namespace
            self._objects.append((kind, where, await undo.enter_async_context(objects)))

    async def _first_pods(self, mirror: Mirror[Pod], timeout: float | None) -> RefletError | None:
        try:
            await mirror.synced(timeout=timeout, fail_on=(*REFUSED, *UNREACHABLE))
        except RefletError as error:
            return error
        return None

    async def _first_objects(
        self, kind: ConfigKind, namespace: str, mirror: Mirror[AnyObject], timeout: float | None
    ) -> RefletError | None:
        try:
            await mirror.synced(timeout=timeout, fail_on=(*REFUSED, *UNREACHABLE))
        except REFUSED as error:
            self._board.refuse(kind, namespace, error)
            self._tasks.start(self._allowed(kind, namespace, mirror), name=f"{kind}s after all")
        except RefletError as error:
            return error
        return None

    async def _allowed(self, kind: ConfigKind, namespace: str, mirror: Mirror[AnyObject]) -> None:
        await mirror.synced()
        self._board.allow(kind, namespace)
        self._on_change()

    # What the mirrors say

    def _brief(self, item: AnyObject) -> AnyObject:
        if len(self._arrived) >= _MOST_ARRIVALS:
            self._arrived.clear()  # the first list, whose times nobody asks for
        version = item.metadata.resource_version
        self._arrived.setdefault((item.metadata.uid, version), self._clock.monotonic())
        return self._board.briefs(item)

    def _pod_changed(self, change: Change[Pod]) -> None:
        if change.type == "DELETED":
            self._board.drop_pod(change.key)
        else:
            self._board.put_pod(change.key, change.object)
        self._on_change()

    def _object_changed(self, change: Change[AnyObject]) -> None:
        item, now = change.object, self._clock.now()
        metadata = item.metadata
        came = self._arrived.pop((metadata.uid, metadata.resource_version), None)
        if change.initial:
            self._board.put_object(item, at=now)
        else:
            kind: ConfigKind = "Secret" if item.kind == "Secret" else "ConfigMap"
            gone = change.type == "DELETED"
            waited = 0.0 if came is None else self._clock.monotonic() - came
            self._board.change_object(
                kind,
                metadata.namespace,
                metadata.name,
                (change.old or item) if gone else change.old,
                None if gone else item,
                at=now,
                cached=waited * 1000,
                late=self._is_late(now, stale=change.stale),
            )
        self._on_change()

    def _is_late(self, now: datetime, *, stale: bool) -> bool:
        """Whether the watch was, or just has been, interrupted."""
        was_away = self._back_at is not None and now - self._back_at <= PROMPT
        return stale or bool(self._away) or was_away

    def _connection_changed(self, namespace: str, error: Exception | None) -> None:
        if error is None:
            self._away.pop(namespace, None)
            self._back_at = self._clock.now()
        else:
            self._away[namespace] = error
        first = next(iter(self._away.values()), None)
        self._board.note("server", "" if first is None else f"{AWAY}{first}")
        self._on_change()


def _log(error: Exception) -> None:
    logger.debug("a list or a watch of the board failed: %s", error)
