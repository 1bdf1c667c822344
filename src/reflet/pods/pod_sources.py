"""Where pods come from: the API server here, folders of manifests in ``folder_pods``.

A source yields every pod that is there, then ``AllPodsSeen``, then what happens to pods.  A
``PodFeed`` follows a source through failures, for the agent and for ``PodRegistrar`` alike.

Upstream: pkg/kubelet/config/apiserver.go, newSourceApiserverFromLW;
pkg/kubelet/config/config.go, PodConfig and SeenAllSources
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol, TypeAlias, assert_never

from reflet.api.core.pods import Pod
from reflet.api.resources import ALL_NAMESPACES, PODS
from reflet.api.selectors.fields import FieldRequirement, FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.informer.handlers.change_stream import ChangeStream
from reflet.informer.mirror import Mirror
from reflet.informer.queues.delta_fifo import QueueClosed
from reflet.managers.object_store import ObjectServer
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import TaskOwner


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A pod is there, or has a new state.

    - *pod*: its present state
    """

    pod: Pod


@dataclass(frozen=True, slots=True)
class PodGone:
    """A pod is no longer there; this was its last known state.

    - *pod*: its last known state
    """

    pod: Pod


@dataclass(frozen=True, slots=True)
class AllPodsSeen:
    """Every pod that the source had when it was opened has been given: others do not exist."""


PodNews: TypeAlias = PodSeen | PodGone
"""What happens to one pod."""


class PodSource(Protocol):
    """Where pods come from."""

    def news(self) -> AsyncGenerator[PodNews | AllPodsSeen, None]:
        """Yield every pod that is there, AllPodsSeen, then what happens, until it is closed."""
        ...

    def why_not_ready(self) -> str | None:
        """What is wrong with the source, None when nothing is."""
        ...


class ServedPods:
    """The pods of the API server that selectors choose; *namespace* ``*`` is all of them."""

    def __init__(
        self,
        cluster: ObjectServer,
        *,
        namespace: str = ALL_NAMESPACES,
        label_selector: LabelSelector | str = "",
        field_selector: FieldSelector | str = "",
        streaming: bool = True,
        clock: Clock | None = None,
    ) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._streaming = streaming
        self._clock = clock
        self._mirror: Mirror[Pod] | None = None  # of the last call of ``news``

    async def news(self) -> AsyncGenerator[PodNews | AllPodsSeen, None]:
        """Yield every pod that is there, AllPodsSeen, then what happens, until it is closed.

        Raises the error that ended the watch, which is never one of the server.
        """
        self._mirror = self._made_mirror()  # a mirror lives once
        async with self._mirror as mirror, TaskOwner("pods of the server") as tasks:
            with mirror.changes() as changes:
                ended = tasks.start(_end_with_the_watch(mirror, changes), name="watch of pods")
                synced = tasks.start(mirror.synced(), name="first list of pods")
                await asyncio.wait((ended, synced), return_when=asyncio.FIRST_COMPLETED)
                unseen = {_name(pod) for pod in mirror.values()}
                if not unseen and not ended.done():
                    yield AllPodsSeen()
                try:
                    while True:
                        for change in await changes.next_batch():
                            if change.type == "DELETED":
                                yield PodGone(change.old or change.object)
                            else:
                                yield PodSeen(change.object)
                            if unseen:
                                unseen.discard(_name(change.object))
                                if not unseen:
                                    yield AllPodsSeen()
                except QueueClosed:
                    return  # leaving the tasks raises what ended the watch

    def why_not_ready(self) -> str | None:
        """What is wrong with the stream of pods."""
        if self._mirror is None or not self._mirror.is_synced:
            return "the pods have not been read yet"
        return None if self._mirror.is_live() else "the server has been silent for too long"

    def _made_mirror(self) -> Mirror[Pod]:
        return Mirror(
            self._cluster.resource(Pod, namespace=self._namespace),
            PODS,
            namespace=self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            streaming=self._streaming,
            clock=self._clock,
        )


def pods_of_node(
    cluster: ObjectServer, node: str, *, streaming: bool = True, clock: Clock | None = None
) -> ServedPods:
    """The pods that are bound to a node, which is all that a node's own identity may see.

    - *node*: name of the node
    """
    selector = FieldSelector((FieldRequirement("spec.nodeName", node),))
    return ServedPods(cluster, field_selector=selector, streaming=streaming, clock=clock)


class PodFeed:
    """Follows a source of pods, also when the source has to be opened again.

    ``run`` may be called again after it failed: the pods that went meanwhile are reported as gone
    once the source has said what is there.  A pod whose end was missed because another one has
    its name now is gone before the other is seen.

    - *source*: where the pods come from
    """

    def __init__(self, source: PodSource) -> None:
        self._source = source
        self._told: dict[tuple[str, str], Pod] = {}
        self._complete = asyncio.Event()

    async def run(self, take: Callable[[PodNews], None], /) -> None:
        """Call *take* with every pod, then with what happens to pods, until cancelled."""
        unseen = dict(self._told)  # in this life
        async with aclosing(self._source.news()) as news:
            async for item in news:
                match item:
                    case PodSeen(pod=pod):
                        unseen.pop(_name(pod), None)
                        before = self._told.get(_name(pod))
                        if before is not None and before.metadata.uid != pod.metadata.uid:
                            self._gone(before, take)
                        take(item)
                        self._told[_name(pod)] = pod
                    case PodGone(pod=pod):
                        self._gone(pod, take)
                    case AllPodsSeen():
                        for pod in unseen.values():
                            self._gone(pod, take)
                        unseen = {}
                        self._complete.set()
                    case _:
                        assert_never(item)

    async def complete(self) -> None:
        """Return when every pod that is there has been given."""
        await self._complete.wait()

    def why_not_ready(self) -> str | None:
        """What is wrong with the source, None when nothing is."""
        return self._source.why_not_ready()

    def _gone(self, pod: Pod, take: Callable[[PodNews], None]) -> None:
        told = self._told.get(_name(pod))
        if told is not None and told.metadata.uid == pod.metadata.uid:
            del self._told[_name(pod)]
            take(PodGone(pod))


async def _end_with_the_watch(mirror: Mirror[Pod], changes: ChangeStream[Pod]) -> None:
    """End the stream of changes with the watch that feeds it: else it would just be silent."""
    try:
        await mirror.informer.watching_ended()
    finally:
        changes.close()


def _name(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name
