"""A ConfigMap or Secret that something in a pod asks for, and what reading it can end in."""

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.frozen import Frozen
from reflet.errors import NotFound, RefletError
from reflet.resolution.objects import LARGEST_OBJECT, ConfigKind, size_of
from reflet.resolution.origins import ConfigMapOrigin, SecretOrigin
from reflet.resolution.places import Place
from reflet.resolution.problems import (
    MissingKey,
    MissingObject,
    NoClient,
    OversizedObject,
    UnreadableObject,
)


class WantedObject(Frozen, frozen=True, kw_only=True):
    """Which object is asked for, where in the pod, and whether it may be missing."""

    kind: ConfigKind
    namespace: str
    name: str
    place: Place
    optional: bool = False

    def without_client(self, text: str) -> NoClient:
        """Return the problem that there is no API server; ``text`` is what the kubelet says."""
        return NoClient(
            place=self.place,
            kubelet=text,
            object_kind=self.kind,
            namespace=self.namespace,
            name=self.name,
            optional=self.optional,
        )

    def failed(self, error: RefletError) -> MissingObject | UnreadableObject:
        """Return the problem that an error of reading is; only absence is forgiven."""
        if isinstance(error, NotFound):
            return MissingObject(
                place=self.place,
                kubelet="" if self.optional else str(error),
                blocking=not self.optional,
                object_kind=self.kind,
                namespace=self.namespace,
                name=self.name,
                optional=self.optional,
            )
        return UnreadableObject(
            place=self.place,
            kubelet=str(error),
            object_kind=self.kind,
            namespace=self.namespace,
            name=self.name,
            optional=self.optional,
            # What the kubelet says of a cache that has nothing hides why it has nothing.
            reason=str(error.__cause__ if isinstance(error.__cause__, RefletError) else error),
        )

    def without_key(
        self, key: str, text: str, *, present: tuple[str, ...], binary: bool = False
    ) -> MissingKey:
        """Return the problem of a missing key; ``text`` is what the kubelet says if it minds."""
        return MissingKey(
            place=self.place,
            kubelet="" if self.optional else text,
            blocking=not self.optional,
            object_kind=self.kind,
            namespace=self.namespace,
            name=self.name,
            optional=self.optional,
            key=key,
            present=present,
            binary=binary,
        )

    def oversized(self, item: ConfigMap | Secret) -> list[OversizedObject]:
        """Return the problem of an object that the API server would not accept, if it is one."""
        size = size_of(item)
        if size <= LARGEST_OBJECT:
            return []
        problem = OversizedObject(
            place=self.place,
            object_kind=self.kind,
            namespace=self.namespace,
            name=self.name,
            optional=self.optional,
            size=size,
        )
        return [problem]


def origin_of(
    wanted: WantedObject,
    item: ConfigMap | Secret,
    key: str,
    *,
    whole: bool = False,
    prefix: str = "",
) -> ConfigMapOrigin | SecretOrigin:
    """Return where the value of a key came from."""
    origin = ConfigMapOrigin if wanted.kind == "ConfigMap" else SecretOrigin
    return origin(
        namespace=wanted.namespace,
        name=wanted.name,
        key=key,
        resource_version=item.metadata.resource_version,
        whole=whole,
        prefix=prefix,
    )
