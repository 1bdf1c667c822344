"""Where this node's pods come from, and since when all of them are known.

Owns: the two sources, and the moment from which a pod that is not known is not wanted.  Must not
know what is done about pods.

Pods of files, with what the API server would have added.

Owns: using the server's own defaults for a pod that never sees a server.  Must not know files.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from reflet.api.codec import decode, encode
from reflet.api.core.pods import Pod
from reflet.api.selectors.fields import FieldRequirement, FieldSelector
from reflet.cluster import Cluster
from reflet.errors import RefletError
from reflet.informer.mirror import Mirror
from reflet.manifests.acceptance import Accepting
from reflet.pods.folder_pods import FolderPods
from reflet.pods.pod_sources import PodGone, PodNews, PodSeen
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


class _Told:
    """The pods that were told of and have not gone, so that another life of a feed misses none."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}

    def seen(self, pod: Pod, take: Take) -> None:
        take(PodSeen(pod))
        self.pods[pod.metadata.uid] = pod

    def gone(self, pod: Pod, take: Take) -> None:
        if self.pods.pop(pod.metadata.uid, None) is not None:
            take(PodGone(pod))

    def only(self, there: Collection[str], take: Take) -> None:
        """Tell that the others have gone."""
        for uid, pod in tuple(self.pods.items()):
            if uid not in there:
                self.gone(pod, take)


class ServerFeed:
    """The pods that are bound to a node on the API server."""

    def __init__(self, cluster: Cluster, node: str, *, clock: Clock) -> None:
        self._cluster = cluster
        self._selector = FieldSelector((FieldRequirement("spec.nodeName", node),))
        self._clock = clock
        self._mirror = self._made_mirror()
        self._told = _Told()
        self._progress = asyncio.Event()

    def _made_mirror(self) -> Mirror[Pod]:
        return self._cluster.mirror(
            Pod, namespace="*", field_selector=self._selector, clock=self._clock
        )

    async def run(self, take: Take, /) -> None:
        """Tell of every pod, then of what happens to pods, until cancelled.

        Run again after it failed, it tells of the pods that went meanwhile, too.
        """
        if self._mirror.informer.is_started:
            self._mirror = self._made_mirror()  # a mirror lives once
        async with self._mirror as mirror, asyncio.TaskGroup() as tasks:
            tasks.create_task(mirror.informer.watching_ended(), name="watch of pods")
            tasks.create_task(self._tell_missed(mirror, take), name="pods that went unseen")
            await self._follow(mirror, take)

    async def _follow(self, mirror: Mirror[Pod], take: Take) -> None:
        with mirror.changes() as changes:
            async for change in changes:
                pod = change.object
                before = change.old
                if change.type == "DELETED":
                    self._told.gone(before or pod, take)
                else:
                    if before is not None and before.metadata.uid != pod.metadata.uid:
                        self._told.gone(before, take)
                    self._told.seen(pod, take)
                self._progress.set()

    async def _tell_missed(self, mirror: Mirror[Pod], take: Take) -> None:
        await mirror.synced()
        self._told.only({pod.metadata.uid for pod in mirror.values()}, take)
        self._progress.set()

    async def complete(self) -> None:
        """Return when every pod that is there has been told of."""
        while not self._is_complete():
            self._progress.clear()
            await self._progress.wait()

    def _is_complete(self) -> bool:
        return self._mirror.is_synced and all(
            pod.metadata.uid in self._told.pods for pod in self._mirror.values()
        )

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
        self._clock = clock
        self._every = every
        self._told = _Told()

    async def run(self, take: Take, /) -> None:
        """Tell of every pod, then of what happens to pods, until cancelled.

        Run again after it failed, it tells of the pods that went meanwhile, too.
        """
        there: set[str] | None = set()

        def looked() -> None:
            nonlocal there
            if there is not None:
                self._told.only(there, take)
                there = None
                self._first_look.set()

        pods = FolderPods(self._folder, every=self._every, clock=_Listening(self._clock, looked))
        async with aclosing(pods.news()) as news:
            async for item in news:
                if isinstance(item, PodGone):
                    self._told.gone(item.pod, take)
                    continue
                if there is not None:
                    there.add(item.pod.metadata.uid)
                self._told.seen(with_defaults(item.pod, self._node), take)

    async def complete(self) -> None:
        """Return when every pod that is there has been told of."""
        await self._first_look.wait()

    def why_not_ready(self) -> str | None:
        """What is wrong with the folder."""
        return None if self._folder.is_dir() else f"there is no folder {self._folder}"


class _Listening:
    """A clock that tells when somebody sleeps: then all was looked at."""

    def __init__(self, clock: Clock, on_sleep: Callable[[], None]) -> None:
        self._clock = clock
        self._on_sleep = on_sleep

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def sleep(self, seconds: float, /) -> None:
        self._on_sleep()
        await self._clock.sleep(seconds)


logger = logging.getLogger(__name__)


def with_defaults(pod: Pod, node: str) -> Pod:
    """Return the pod as the server would store it, bound to *node*.

    One that the server would refuse is returned as it is, and why is logged: its worker will
    find what is missing.
    """
    spec = replace(pod.spec, node_name=node)
    bound = replace(pod, spec=spec)
    accepting = Accepting(pod.metadata.namespace)
    document = msgspec.json.decode(encode(bound))
    try:
        kind = accepting.kind_of(document)
        if kind is None:
            return bound
        _, stored = accepting.accept(kind, document)
        return decode(msgspec.json.encode(stored), Pod)
    except RefletError as error:
        logger.warning("pod %s/%s: %s", pod.metadata.namespace, pod.metadata.name, error)
        return bound
