"""The one place that registers pods with the managers and unregisters them.

The agent's workers, ``PodConfiguration`` and programs that follow a source of pods all come
through here.

Upstream: pkg/kubelet/kubelet.go, SyncPod and SyncTerminatedPod; in Kubernetes 1.19
pkg/kubelet/pod/pod_manager.go, updatePodsInternal
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol, assert_never

from reflet.api.core.pods import Pod
from reflet.managers.registry import PodKey
from reflet.pods.pod_manager import PodManager, is_mirror
from reflet.pods.pod_sources import PodFeed, PodGone, PodNews, PodSeen, PodSource

TERMINAL_PHASES: Final = frozenset({"Succeeded", "Failed"})


class PodListener(Protocol):
    """Something that follows pods; a manager is one."""

    def register_pod(self, pod: Pod) -> None:
        """A pod is there, or has a new state."""
        ...

    def unregister_pod(self, pod: Pod) -> None:
        """A pod is gone, or has ended."""
        ...


def is_terminated(pod: Pod) -> bool:
    """Whether all containers of the pod have ended for good, so that it is unregistered.

    A terminated pod stays on the server until somebody deletes it, that of a Job for days.  It
    mounts nothing and starts nothing any more, so the kubelet closes the streams of its
    ConfigMaps and Secrets at once.  A pod that is only being deleted is not terminated: its
    containers run for as long as their grace period lasts, and their volumes stay fresh.  Pure.
    """
    return pod.status.phase in TERMINAL_PHASES


class PodRegistrar:
    """Registers pods with *listeners*, each a manager or anything with the same two methods.

    ``follow`` does so for the pods of a source.  ``register`` and ``unregister`` are for code that
    knows by himself when a pod begins and when nothing of it runs any more, as a worker does.
    *pods* keeps the books of static and mirror pods, if given.  Never waits, but for ``follow``.
    """

    def __init__(self, listeners: Iterable[PodListener], *, pods: PodManager | None = None) -> None:
        self._listeners = tuple(listeners)
        self._pods = pods
        self._registered: dict[PodKey, Pod] = {}

    @property
    def registered(self) -> tuple[Pod, ...]:
        """The pods that are registered, in the order in which they came."""
        return tuple(self._registered.values())

    def register(self, pod: Pod) -> None:
        """Have what the pod refers to kept; one that is registered is brought up to date."""
        self._registered[PodKey.of(pod)] = pod
        for listener in self._listeners:
            listener.register_pod(pod)

    def unregister(self, pod: Pod) -> None:
        """Have nothing kept for the pod any more; harmless when it is not registered."""
        before = self._registered.pop(PodKey.of(pod), None)
        if before is not None:
            for listener in self._listeners:
                listener.unregister_pod(before)

    async def follow(self, source: PodSource) -> None:
        """Register the pods of *source* until cancelled, or until the source ends."""
        await PodFeed(source).run(self.take)

    def take(self, news: PodNews) -> None:
        """Do what the news of a pod asks for.

        A mirror pod is booked and not registered: the static pod that it shows is registered
        where that comes from.

        - *news*: that a pod was seen, or is gone
        """
        match news:
            case PodSeen(pod=pod):
                if self._pods is not None:
                    self._pods.put(pod)
                if is_mirror(pod):
                    return
                if is_terminated(pod):
                    self.unregister(pod)
                else:
                    self.register(pod)
            case PodGone(pod=pod):
                if self._pods is not None:
                    self._pods.remove(pod)
                self.unregister(pod)
            case _:
                assert_never(news)
