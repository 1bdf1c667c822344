"""Places in a pod: which field of which container or volume something is about.

Also the containers of a pod in the order in which the kubelet visits them.

Upstream: pkg/api/v1/pod/util.go, VisitContainers
"""

from collections.abc import Iterator
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod, PodSpec, PodTemplateSpec
from reflet.api.frozen import Frozen
from reflet.errors import ConfigurationError

PodLike = Pod | PodTemplateSpec
"""What has a pod's metadata and spec."""

EVERY_CONTAINER: Final = ("initContainers", "containers", "ephemeralContainers")
"""The lists of containers, in the kubelet's order."""


class Place(Frozen, frozen=True, kw_only=True):
    """A field of a pod: its path, and the container, variable or volume it belongs to.

    ``path`` is written as Kubernetes writes it: ``spec.containers[0].env[2].valueFrom``.
    """

    path: str = ""
    container: str = ""
    variable: str = ""
    volume: str = ""

    def __str__(self) -> str:
        names = (
            f"container {self.container}" if self.container else "",
            f"volume {self.volume}" if self.volume else "",
            f"variable {self.variable}" if self.variable else "",
        )
        return ", ".join(name for name in names if name) or self.path or "the pod"


class PlacedContainer(Frozen, frozen=True, kw_only=True):
    """A container, and the path that leads to it: ``spec.initContainers[0]``."""

    path: str
    container: Container

    def place(self, below: str = "", *, variable: str = "") -> Place:
        """Return a place inside the container; ``below`` is the rest of the path."""
        return Place(
            path=f"{self.path}.{below}" if below else self.path,
            container=self.container.name,
            variable=variable,
        )


def containers_of(spec: PodSpec) -> Iterator[PlacedContainer]:
    """Yield every container: init, regular, then ephemeral ones."""
    lists = (spec.init_containers, spec.containers, spec.ephemeral_containers)
    for field, containers in zip(EVERY_CONTAINER, lists, strict=True):
        for index, container in enumerate(containers):
            yield PlacedContainer(path=f"spec.{field}[{index}]", container=container)


def container_named(pod: PodLike, name: str, *, owner: str = "") -> PlacedContainer:
    """Return the container of that name.

    Raises ConfigurationError, which lists the names there are; *owner* is what the pod comes from,
    if not from itself, as ``deployment/web``.
    """
    for placed in containers_of(pod.spec):
        if placed.container.name == name:
            return placed
    there = ", ".join(placed.container.name for placed in containers_of(pod.spec))
    whose = owner or f"pod {pod.metadata.name or '(unnamed)'}"
    raise ConfigurationError(
        f"{whose} has no container {name!r}; "
        + (f"it has {there}" if there else "it has no containers")
    )
