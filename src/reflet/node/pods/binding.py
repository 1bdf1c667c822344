"""Unbound pods that a selector chooses, bound to this node: a scheduler for those and no others.

A pod that is bound, or has another scheduler, is left alone.  One that cannot be bound now is tried
again, and holds up no other.

Upstream: pkg/scheduler/framework/plugins/defaultbinder/default_binder.go, Bind;
pkg/scheduler/schedule_one.go, bindingCycle and handleSchedulingFailure
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from typing import Final, Self, assert_never

from reflet.api.core.pods import Pod
from reflet.api.resources import ALL_NAMESPACES
from reflet.client.client import Client
from reflet.errors import Conflict, NotFound, RefletError
from reflet.node.options import NodeOptions
from reflet.pods.pod_sources import AllPodsSeen, PodGone, PodSeen, ServedPods
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock

USUAL_SCHEDULERS: Final = frozenset({"", "default-scheduler", "reflet"})
MOST_AT_ONCE: Final = 4  # bindings, of however many pods
LONGEST_PAUSE: Final = 10.0  # seconds; the scheduler's podMaxBackoffSeconds

logger = logging.getLogger(__name__)


class PodBinder:
    """Binds pods with the labels of *selector* to *node* while it runs.

    Only those of *namespaces*, if there are any.
    """

    def __init__(
        self,
        cluster: Client,
        node: str,
        selector: str,
        *,
        namespaces: frozenset[str] = frozenset(),
        clock: Clock | None = None,
    ) -> None:
        self._cluster = cluster
        self._node = node
        self._namespaces = namespaces
        self._clock = clock or SystemClock()
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._source = ServedPods(
            cluster,
            namespace=ALL_NAMESPACES,
            label_selector=selector,
            field_selector="spec.nodeName=",
        )

    @classmethod
    def of(cls, options: NodeOptions, cluster: Client, *, clock: Clock) -> Self:
        """The binder that an agent's options ask for."""
        return cls(
            cluster, options.name, options.selector, namespaces=options.namespaces, clock=clock
        )

    async def run(self) -> None:
        """Bind what comes until cancelled."""
        bindings: dict[str, asyncio.Task[None]] = {}
        # One job in pieces: a mistake of ours ends it all, for whoever keeps it.
        async with asyncio.TaskGroup() as tasks, aclosing(self._source.news()) as news:
            async for item in news:
                match item:
                    case PodSeen(pod=pod) if self._is_ours(pod):
                        uid = pod.metadata.uid
                        if uid not in bindings or bindings[uid].done():
                            name = f"binding of {pod.metadata.namespace}/{pod.metadata.name}"
                            bindings[uid] = tasks.create_task(self._bind(pod), name=name)
                    case PodSeen(pod=pod) | PodGone(pod=pod):
                        binding = bindings.pop(pod.metadata.uid, None)
                        if binding is not None:
                            binding.cancel()
                    case AllPodsSeen():
                        pass
                    case _:
                        assert_never(item)

    def _is_ours(self, pod: Pod) -> bool:
        return (
            not pod.spec.node_name
            and pod.metadata.deletion_timestamp is None
            and pod.spec.scheduler_name in USUAL_SCHEDULERS
            and (not self._namespaces or pod.metadata.namespace in self._namespaces)
        )

    async def _bind(self, pod: Pod) -> None:
        name, namespace = pod.metadata.name, pod.metadata.namespace
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace, "uid": pod.metadata.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": self._node},
        }
        pods = self._cluster.resource("pods", namespace=namespace, raw=True)
        backoff = Backoff(ceiling=LONGEST_PAUSE, clock=self._clock)
        while True:
            try:
                async with self._places:
                    await pods.create(binding, name=name, subresource="binding")
            except (NotFound, Conflict) as error:
                # Another was faster, or the pod is gone.
                logger.info("pod %s/%s is not bound: %s", namespace, name, error)
                return
            except (RefletError, OSError) as error:  # a garbled answer, or no right yet, too
                # The server tells of a pod once: who gave up here would never hear of it again.
                logger.info("pod %s/%s is bound later: %s", namespace, name, error)
                await self._clock.sleep(backoff.next_delay())
            else:
                return
