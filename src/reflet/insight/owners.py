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


def owners_of(
    pod: KubernetesObject, above: Callable[[OwnerName], OwnerName | None]
) -> Iterator[OwnerName]:
    """Yield the pod, its controller, that one's, and so on, as far as *above* knows them."""
    yield "Pod", pod.metadata.name
    owner, seen = controller_name(pod), set[OwnerName]()
    while owner is not None and owner not in seen:
        seen.add(owner)
        yield owner
        owner = above(owner)


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
        namespace = pod.metadata.namespace
        return tuple(owners_of(pod, lambda name: self._above.get((name[0], namespace, name[1]))))
