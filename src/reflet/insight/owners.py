"""Which workload a pod belongs to: the outermost of its controllers."""

from collections.abc import Callable, Iterable, Iterator

from reflet.api.meta import KubernetesObject

OwnerName = tuple[str, str]
"""Kind and name, in one namespace."""


def controller_name(item: KubernetesObject) -> OwnerName | None:
    """Return the kind and the name of the owner that controls an object."""
    for owner in item.metadata.owner_references:
        if owner.controller:
            return owner.kind, owner.name
    return None


def _upwards(
    owner: OwnerName, above: Callable[[OwnerName], OwnerName | None]
) -> Iterator[OwnerName]:
    seen: set[OwnerName] = set()
    following: OwnerName | None = owner
    while following is not None and following not in seen:
        seen.add(following)
        yield following
        following = above(following)


class Owners:
    """The controllers of what makes pods, in all namespaces, for the workload of a pod."""

    def __init__(self, makers: Iterable[tuple[str, KubernetesObject]] = ()) -> None:
        self._above: dict[tuple[str, str, str], OwnerName] = {}
        for kind, item in makers:
            above = controller_name(item)
            if above is not None:
                self._above[kind, item.metadata.namespace, item.metadata.name] = above

    def of(self, pod: KubernetesObject) -> tuple[OwnerName, ...]:
        """Return the pod, its controller, that one's, and so on: the last is its workload."""
        itself = ("Pod", pod.metadata.name)
        owner = controller_name(pod)
        if owner is None:
            return (itself,)
        namespace = pod.metadata.namespace
        above = _upwards(owner, lambda name: self._above.get((name[0], namespace, name[1])))
        return (itself, *above)
