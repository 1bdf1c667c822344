"""Unbound pods that a selector chooses, bound to this node: a scheduler for those and no others.

A pod that is bound, or has another scheduler, is left alone.

Upstream: pkg/scheduler/framework/plugins/defaultbinder/default_binder.go, Bind
"""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import Final, Self

from reflet.api.core.pods import Pod
from reflet.api.resources import ALL_NAMESPACES
from reflet.client.client import Client
from reflet.errors import (
    ApiError,
    CredentialsError,
    DecodeError,
    InternalError,
    ServerTimeout,
    ServiceUnavailable,
    TooManyRequests,
    TransportError,
)
from reflet.node.options import NodeOptions
from reflet.pods.pod_sources import PodSeen, ServedPods
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock

USUAL_SCHEDULERS: Final = frozenset({"", "default-scheduler", "reflet"})
_PASSING: Final = (
    CredentialsError,
    DecodeError,  # of an answer that came garbled: that it is bound shows at the next try
    TransportError,
    TooManyRequests,
    ServerTimeout,
    ServiceUnavailable,
    InternalError,
    OSError,  # descriptors or memory ran out on the way to the server
)

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
        async with aclosing(self._source.news()) as news:
            async for item in news:
                if isinstance(item, PodSeen) and self._is_ours(item.pod):
                    await self._bind(item.pod)

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
        backoff = Backoff(clock=self._clock)
        while True:
            try:
                await pods.create(binding, name=name, subresource="binding")
            except _PASSING as error:
                # The server tells of a pod once: who gave up here would never hear of it again.
                logger.info("pod %s/%s is bound later: %s", namespace, name, error)
                await self._clock.sleep(backoff.next_delay())
            except ApiError as error:
                # Another was faster, or the pod is gone.
                logger.info("pod %s/%s is not bound: %s", namespace, name, error)
                return
            else:
                return
