"""Where this node's pods come from, and since when all of them are known.

Owns: the two sources, and the moment from which a pod that is not known is not wanted.  Must not
know what is done about pods.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Protocol

from reflet.api.field_selectors import FieldRequirement, FieldSelector
from reflet.api.pods import Pod
from reflet.cluster import Cluster
from reflet.informer.mirror import Mirror
from reflet.managers.folder_pods import FolderPods
from reflet.managers.pod_sources import PodGone, PodNews, PodSeen
from reflet.node.manifest_defaults import with_defaults
from reflet.runtime.clock import Clock

Take = Callable[[PodNews], None]


class PodFeed(Protocol):
    """Tells of pods while it runs."""

    async def run(self, take: Take, /) -> None:
        """Tell of every pod, then of what happens to pods, until cancelled."""
        ...

    async def complete(self) -> None:
        """Return when every pod that is there has been told of."""
        ...

    def why_not_ready(self) -> str | None:
        """What is wrong with the source, None when nothing is."""
        ...


class ServerFeed:
    """The pods that are bound to a node on the API server."""

    def __init__(self, cluster: Cluster, node: str, *, clock: Clock) -> None:
        selector = FieldSelector((FieldRequirement("spec.nodeName", node),))
        self._mirror: Mirror[Pod] = cluster.mirror(
            Pod, namespace="*", field_selector=selector, clock=clock
        )
        self._told: set[str] = set()
        self._progress = asyncio.Event()

    async def run(self, take: Take, /) -> None:
        """Tell of every pod, then of what happens to pods, until cancelled."""
        async with self._mirror as mirror:
            with mirror.changes() as changes:
                async for change in changes:
                    pod = change.object
                    before = change.old
                    if change.type == "DELETED":
                        self._tell_gone(before or pod, take)
                    else:
                        if before is not None and before.metadata.uid != pod.metadata.uid:
                            self._tell_gone(before, take)
                        take(PodSeen(pod))
                        self._told.add(pod.metadata.uid)
                    self._progress.set()

    def _tell_gone(self, pod: Pod, take: Take) -> None:
        take(PodGone(pod))
        self._told.discard(pod.metadata.uid)

    async def complete(self) -> None:
        """Return when every pod that is there has been told of."""
        await self._mirror.synced()
        while any(pod.metadata.uid not in self._told for pod in self._mirror.values()):
            self._progress.clear()
            await self._progress.wait()

    def why_not_ready(self) -> str | None:
        """What is wrong with the stream of pods."""
        if not self._mirror.is_synced:
            return "the pods of this node have not been read yet"
        return None if self._mirror.is_live() else "the server has been silent for too long"


class FolderFeed:
    """The pods in a folder of manifests, completed as the API server would."""

    def __init__(self, folder: Path, node: str, *, clock: Clock, every: float) -> None:
        self._first_look = asyncio.Event()
        self._node = node
        self._folder = folder
        self._pods = FolderPods(folder, every=every, clock=_Listening(clock, self._first_look))

    async def run(self, take: Take, /) -> None:
        """Tell of every pod, then of what happens to pods, until cancelled."""
        async with aclosing(self._pods.news()) as news:
            async for item in news:
                if isinstance(item, PodSeen):
                    take(PodSeen(with_defaults(item.pod, self._node)))
                else:
                    take(item)

    async def complete(self) -> None:
        """Return when every pod that is there has been told of."""
        await self._first_look.wait()

    def why_not_ready(self) -> str | None:
        """What is wrong with the folder."""
        return None if self._folder.is_dir() else f"there is no folder {self._folder}"


class _Listening:
    """A clock that tells when somebody sleeps for the first time: then all was looked at."""

    def __init__(self, clock: Clock, slept: asyncio.Event) -> None:
        self._clock = clock
        self._slept = slept

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def sleep(self, seconds: float, /) -> None:
        self._slept.set()
        await self._clock.sleep(seconds)
