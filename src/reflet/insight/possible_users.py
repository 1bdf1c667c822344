"""Who may use a ConfigMap or Secret: everything that was gathered to be searched."""

from collections.abc import Iterable, Mapping

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY, Frozen
from reflet.api.unstructured import AnyObject
from reflet.insight.reference_table import always_there, has_rows, made_by
from reflet.resolution.objects import ConfigKind, ObjectKey, ObjectSource, value_bytes
from reflet.resolution.templates.templates import CustomWorkload, Workload


class Candidates(Frozen, frozen=True, kw_only=True):
    """Everything that may use the object; custom workloads are among ``objects`` too.

    ``labels`` are those of the ConfigMaps and Secrets that were read: sidecars select by them.
    ``at_hand`` are the objects that the variables of sidecars may come from.
    """

    pods: tuple[Pod, ...] = ()
    workloads: tuple[Workload, ...] = ()
    objects: tuple[AnyObject, ...] = ()
    labels: Mapping[ObjectKey, Mapping[str, str]] = EMPTY
    at_hand: ObjectSource | None = None


class PossibleUsers(Frozen, frozen=True, kw_only=True):
    """Who may use an object: the candidates, their namespace, and what could not be read.

    ``keys_there`` are the ConfigMaps and Secrets that exist, with their keys; ``None`` when that
    could not be asked.  ``unread`` is how many objects are of kinds that are not known.
    """

    candidates: Candidates
    namespace: str
    notes: tuple[str, ...] = ()
    keys_there: Mapping[ObjectKey, tuple[str, ...]] | None = None
    unread: int = 0

    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that candidates are in, and those of the objects that exist."""
        found = self.candidates
        every = (*found.pods, *found.workloads, *found.objects)
        there = {namespace for _, namespace, _ in self.keys_there or EMPTY}
        return tuple(sorted({item.metadata.namespace for item in every} - {""} | there))

    def maker_of(self, kind: ConfigKind, namespace: str, name: str) -> str:
        """What makes an object that does not exist yet, ``ExternalSecret database``; or empty.

        - *kind*: ConfigMap or Secret
        - *namespace*: namespace of the object
        - *name*: name of the object
        """
        if always_there(kind, namespace, name):
            return "the cluster"
        for item in self.candidates.objects:
            if any(made.matches(kind, namespace, name) for made in made_by(item.content)):
                return f"{item.kind} {item.metadata.name}"
        return ""

    def looked_at(self) -> tuple[int, int, int]:
        """How many pods, workloads and other objects were searched."""
        found = self.candidates
        templates = sum(1 for each in found.workloads if isinstance(each, CustomWorkload))
        return len(found.pods), len(found.workloads), len(found.objects) - templates

    def searched_by_name(self) -> Mapping[str, int]:
        """How many objects of which kinds only the usual names of fields were looked for in."""
        counts: dict[str, int] = {}
        for item in self.candidates.objects:
            if not has_rows(item.api_version, item.kind):
                counts[item.kind] = counts.get(item.kind, 0) + 1
        for each in self.candidates.workloads:
            if isinstance(each, CustomWorkload) and each.kind in counts:
                counts[each.kind] -= 1
        return {kind: count for kind, count in counts.items() if count > 0}


def keys_by_object(
    items: Iterable[ConfigMap | Secret],
) -> dict[ObjectKey, tuple[str, ...]]:
    """Return the keys of ConfigMaps and Secrets, and no value."""
    return {
        (item.kind, item.metadata.namespace, item.metadata.name): tuple(value_bytes(item))
        for item in items
    }


def labels_by_object(
    items: Iterable[ConfigMap | Secret],
) -> dict[ObjectKey, Mapping[str, str]]:
    """Return the labels of ConfigMaps and Secrets."""
    return {
        (item.kind, item.metadata.namespace, item.metadata.name): item.metadata.labels
        for item in items
    }
