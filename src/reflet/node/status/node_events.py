"""Events of pods, of their containers and of the node, as the kubelet words their references.

How they reach the server is ``controllers.event_recorder``.

Upstream: pkg/kubelet/container/ref.go, GenerateContainerRef; pkg/kubelet/kubelet_node_status.go
"""

from __future__ import annotations

from typing import Final

from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectReference
from reflet.client.client import Client
from reflet.controllers.event_recorder import EventRecorder, reference_to
from reflet.controllers.event_sender import PAUSE
from reflet.resolution.places import containers_of
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import NO_METRICS, Metrics

COMPONENT: Final = "reflet"


class NodeEvents(EventRecorder):
    """Tells the API server what happens, as the node *host*."""

    def __init__(
        self,
        cluster: Client,
        host: str,
        *,
        clock: Clock | None = None,
        metrics: Metrics = NO_METRICS,
        pause: float = PAUSE,
    ) -> None:
        super().__init__(cluster, COMPONENT, host=host, clock=clock, metrics=metrics, pause=pause)

    def of_pod(
        self, pod: Pod, type_: str, reason: str, message: str, *, container: str = ""
    ) -> None:
        """Something happened to a pod, or to one of its containers."""
        path = ""
        if container:
            placed = next(
                (each for each in containers_of(pod.spec) if each.container.name == container), None
            )
            if placed is not None:
                field = placed.path.partition("[")[0]
                path = f"{field}{{{container}}}"
        self.note(reference_to(pod, field_path=path), type_, reason, message)

    def of_node(self, node: Node, type_: str, reason: str, message: str) -> None:
        """Something happened to the node; by custom such events carry its name as its uid."""
        name = node.metadata.name
        self.note(ObjectReference(kind="Node", name=name, uid=name), type_, reason, message)
