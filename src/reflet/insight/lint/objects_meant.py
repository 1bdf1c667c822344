"""Which ConfigMap or Secret a pod of files means by a name."""

from collections.abc import Mapping
from typing import final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.frozen import EMPTY
from reflet.errors import NotFound, RefletError
from reflet.insight.lint.object_register import ObjectRegister
from reflet.insight.lint.subjects import Subject
from reflet.resolution.objects import ConfigKind, ObjectKey, missing
from reflet.resolution.references.placed_objects import PlacedObjects


@final
class ObjectsMeant:
    """A source of objects: the nearest of the files, and for others what the cluster answered.

    ``live`` are these answers.  What others make, or is assumed to exist, cannot be read, so that
    nothing is said about what is in it.
    """

    __slots__ = ("_live", "_objects", "_register", "_subject")

    def __init__(
        self,
        objects: PlacedObjects,
        subject: Subject,
        register: ObjectRegister,
        live: Mapping[ObjectKey, ConfigMap | Secret | RefletError] = EMPTY,
    ) -> None:
        self._objects = objects
        self._subject = subject
        self._register = register
        self._live = live

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        """Return the ConfigMap that is meant, or why it cannot be read."""
        answer = self._answer("ConfigMap", namespace, name)
        return answer if isinstance(answer, ConfigMap | RefletError) else missing("ConfigMap", name)

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        """Return the Secret that is meant, or why it cannot be read."""
        answer = self._answer("Secret", namespace, name)
        return answer if isinstance(answer, Secret | RefletError) else missing("Secret", name)

    def _answer(
        self, kind: ConfigKind, namespace: str, name: str
    ) -> ConfigMap | Secret | RefletError:
        key: ObjectKey = (kind, namespace, name)
        if self._objects.are_several(key, self._subject.place):
            return RefletError(f"which {kind} {name} is meant is not clear")
        nearest = self._objects.nearest(key, self._subject.place)
        if nearest is None and self._register.is_loosely_there(self._subject, kind, name):
            nearest = self._objects.nearest_of_any_namespace(kind, name, self._subject.place)
        answer = nearest or self._live.get(key) or missing(kind, name)
        if not isinstance(answer, NotFound):
            return answer
        if self._register.is_elsewhere(self._subject, *key):
            return RefletError(f"{kind} {name} is made elsewhere")
        # The cluster's words name its resource in the plural; the kubelet's caches do not.
        return missing(kind, name)
