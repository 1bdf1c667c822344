"""ConfigMaps and Secrets that stand in several files under one name: the nearest one is meant.

A repository holds variants of one object: a base and its overlays, one folder for each environment,
examples.  A pod means the object of its own file, then of its own folder, then of the folder that
has most of its path in common.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple, final

from reflet.api.core.config import ConfigMap, Secret
from reflet.errors import RefletError
from reflet.resolution.objects import ConfigKind, ObjectKey, missing, value_bytes

_SEPARATOR: Final = "/"


class PlacedObject(NamedTuple):
    """An object, and its file and line."""

    place: str
    object: ConfigMap | Secret


@final
class PlacedObjects:
    """Objects by name, all variants of each; of equally near ones the last counts."""

    __slots__ = ("_variants",)

    def __init__(self, objects: Iterable[PlacedObject] = ()) -> None:
        self._variants: dict[ObjectKey | tuple[str, str], list[PlacedObject]] = {}
        for each in objects:
            item = each.object
            kind, name = item.kind, item.metadata.name
            self._variants.setdefault((kind, item.metadata.namespace, name), []).append(each)
            self._variants.setdefault((kind, name), []).append(each)

    def nearest(self, key: ObjectKey, place: str) -> ConfigMap | Secret | None:
        """Return the variant that a pod at a place means, if there is one."""
        return self._nearest(key, place)

    def nearest_of_any_namespace(
        self, kind: ConfigKind, name: str, place: str
    ) -> ConfigMap | Secret | None:
        """Return the nearest variant, whatever its namespace."""
        return self._nearest((kind, name), place)

    def _nearest(self, key: ObjectKey | tuple[str, str], place: str) -> ConfigMap | Secret | None:
        variants = self._variants.get(key)
        if variants is None:
            return None
        if len(variants) == 1:
            return variants[0].object
        return max(reversed(variants), key=lambda each: nearness(each.place, place)).object

    def are_several(self, key: ObjectKey, place: str) -> bool:
        """Tell whether several variants are equally near and differ, so that it is a guess."""
        variants = self._variants.get(key, ())
        if len(variants) < 2:
            return False
        ranks = [nearness(each.place, place) for each in variants]
        nearest = max(ranks)
        best = [each for each, rank in zip(variants, ranks, strict=True) if rank == nearest]
        values = value_bytes(best[0].object)
        return any(value_bytes(each.object) != values for each in best[1:])

    def seen_from(self, place: str) -> "ObjectsSeen":
        """Return the objects as a pod at a place means them."""
        return ObjectsSeen(self, place)


@final
class ObjectsSeen:
    """A source of objects, seen from one place; what is not there does not exist."""

    __slots__ = ("_objects", "_place")

    def __init__(self, objects: PlacedObjects, place: str) -> None:
        self._objects = objects
        self._place = place

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        """Return the ConfigMap, or the error of reading it."""
        found = self._objects.nearest(("ConfigMap", namespace, name), self._place)
        return found if isinstance(found, ConfigMap) else missing("ConfigMap", name)

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        """Return the Secret, or the error of reading it."""
        found = self._objects.nearest(("Secret", namespace, name), self._place)
        return found if isinstance(found, Secret) else missing("Secret", name)


def nearness(place: str, other: str) -> tuple[int, int]:
    """Rank a place by what it has in common with the other, then by how little else it has."""
    ours, theirs = _steps(place), _steps(other)
    common = 0
    for one, another in zip(ours, theirs, strict=False):
        if one != another:
            break
        common += 1
    return common, -len(ours)


def _steps(place: str) -> list[str]:
    return place.rpartition(":")[0].split(_SEPARATOR)
