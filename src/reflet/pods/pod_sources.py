"""Where pods come from, and registering them as they come.

Owns: pods of the API server as news, and what news of a pod means for those who keep its
objects.  Folders are ``folder_pods``.  Must not know what is done with registered pods.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, assert_never

from reflet.api.core.pods import Pod
from reflet.api.resources import PODS
from reflet.api.selectors.fields import FieldRequirement, FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.informer.mirror import Mirror
from reflet.managers.object_store import ObjectServer
from reflet.pods.pod_manager import PodManager, is_mirror

ALL_NAMESPACES: Final = "*"
_TERMINATED: Final = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A pod is there, or has a new state."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class PodGone:
    """A pod is no longer there; this was its last known state."""

    pod: Pod


PodNews: TypeAlias = PodSeen | PodGone
"""What a source says about a pod."""


class PodSource(Protocol):
    """Whoever knows of pods."""

    def news(self) -> AsyncGenerator[PodNews, None]:
        """Yield every pod that is there, then what happens to pods, until it is closed."""
        ...


class PodListener(Protocol):
    """Whoever has to know of pods; a manager is one."""

    def register_pod(self, pod: Pod) -> None:
        """A pod is there, or has a new state."""
        ...

    def unregister_pod(self, pod: Pod) -> None:
        """A pod is gone, or has ended."""
        ...


class ServedPods:
    """The pods of the API server that selectors choose.

    *namespace* is one, or ``*`` for all.  *options* are those of ``Mirror``.
    """

    def __init__(
        self,
        cluster: ObjectServer,
        *,
        namespace: str = ALL_NAMESPACES,
        label_selector: LabelSelector | str = "",
        field_selector: FieldSelector | str = "",
        **options: Any,
    ) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._options = {
            "label_selector": label_selector,
            "field_selector": field_selector,
            **options,
        }

    async def news(self) -> AsyncGenerator[PodNews, None]:
        """Yield every pod that is there, then what happens to pods, until it is closed."""
        source = self._cluster.resource(Pod, namespace=self._namespace)
        where = None if self._namespace == ALL_NAMESPACES else self._namespace
        async with Mirror(source, PODS, namespace=where, **self._options) as mirror:
            with mirror.changes() as changes:
                async for change in changes:
                    if change.type == "DELETED":
                        yield PodGone(change.old or change.object)
                    else:
                        yield PodSeen(change.object)


def pods_of_node(cluster: ObjectServer, node: str, **options: Any) -> ServedPods:
    """The pods that are bound to a node, which is all that a node's own identity may see."""
    selector = FieldSelector((FieldRequirement("spec.nodeName", node),))
    return ServedPods(cluster, field_selector=selector, **options)


class PodRegistrar:
    """Registers the pods of *source* with *listeners* while it runs.

    A pod that has ended, with success or without, is unregistered, though it is still there;
    one that is being deleted stays registered until it is gone.  A mirror pod is none: the static
    pod that it shows is registered where that comes from.

    *pods* keeps the books, if given.
    """

    def __init__(
        self, source: PodSource, listeners: Iterable[PodListener], *, pods: PodManager | None = None
    ) -> None:
        self._source = source
        self._listeners = tuple(listeners)
        self._pods = pods
        self._registered: dict[tuple[str, str], Pod] = {}

    @property
    def registered(self) -> tuple[Pod, ...]:
        """The pods that are registered, in the order in which they came."""
        return tuple(self._registered.values())

    async def run(self) -> None:
        """Follow the source until cancelled, or until the source ends."""
        async with aclosing(self._source.news()) as news:
            async for item in news:
                self.take(item)

    def take(self, news: PodNews) -> None:
        """Do what the news of a pod asks for."""
        match news:
            case PodSeen(pod=pod):
                self._replaced_by(pod)
                if self._pods is not None:
                    self._pods.put(pod)
                if is_mirror(pod):
                    return
                if pod.status.phase in _TERMINATED:
                    self._unregister(pod)
                else:
                    self._register(pod)
            case PodGone(pod=pod):
                if self._pods is not None:
                    self._pods.remove(pod)
                self._unregister(pod)
            case _:
                assert_never(news)

    def _replaced_by(self, pod: Pod) -> None:
        """Let a pod go whose end was missed: another one has its name now."""
        before = self._registered.get(_key(pod))
        if before is not None and before.metadata.uid != pod.metadata.uid:
            if self._pods is not None:
                self._pods.remove(before)
            self._unregister(before)

    def _register(self, pod: Pod) -> None:
        self._registered[_key(pod)] = pod
        for listener in self._listeners:
            listener.register_pod(pod)

    def _unregister(self, pod: Pod) -> None:
        before = self._registered.get(_key(pod))
        if before is None or before.metadata.uid != pod.metadata.uid:
            return
        del self._registered[_key(pod)]
        for listener in self._listeners:
            listener.unregister_pod(before)


def _key(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name
