"""One kind that the server serves, in one version: names, scope, verbs, subresources, structure.

Upstream: apimachinery/pkg/apis/meta/v1/types.go, APIResource;
apiserver/pkg/endpoints/discovery/storageversionhash.go
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from reflet.apirules.schema.schemas import Schema

ALL_VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)
READ_AND_WRITE: Final = ("get", "patch", "update")
# Packages whose name is not the first word of the group.
_PACKAGES: Final[Mapping[str, str]] = MappingProxyType(
    {"": "core", "events.k8s.io": "core", "rbac.authorization.k8s.io": "rbac"}
)


class Subresource(msgspec.Struct, frozen=True):
    """A part or a view of an object with a path of its own; no group means the object's."""

    name: str
    kind: str
    verbs: tuple[str, ...] = READ_AND_WRITE
    group: str = ""
    version: str = ""


class PrinterColumn(msgspec.Struct, frozen=True):
    """One column that a custom kind adds to its table."""

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


class ScalePaths(msgspec.Struct, frozen=True):
    """Where a custom kind keeps what the scale subresource shows; JSON paths."""

    spec_replicas: str
    status_replicas: str
    label_selector: str = ""


class CustomFacts(msgspec.Struct, frozen=True):
    """What only kinds made by a CustomResourceDefinition have."""

    definition: str  # the definition's name
    open_api: Mapping[str, Any]
    printer_columns: tuple[PrinterColumn, ...] = ()
    scale: ScalePaths | None = None
    selectable_fields: tuple[str, ...] = ()
    storage_version: str = ""
    # What is made from the schema when it is first needed, and lives as long as the kind.
    kept: dict[str, Any] = msgspec.field(default_factory=dict)


class ServedKind(msgspec.Struct, frozen=True, eq=False):
    """One kind in one version.

    ``storage_key`` names the place where its objects are kept, whatever version they came in;
    ``read_schema`` makes the structure when it is first needed.  Two are equal when they say the
    same of a kind, wherever the structure comes from.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    type_name: str
    read_schema: Callable[[], Schema]
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    storage_key: str = ""
    storage_version: str = ""
    custom: CustomFacts | None = None

    def __post_init__(self) -> None:
        set_once = msgspec.structs.force_setattr
        if not self.list_kind:
            set_once(self, "list_kind", f"{self.kind}List")
        if not self.storage_key:
            set_once(self, "storage_key", self.qualified_resource)
        if not self.storage_version:
            set_once(self, "storage_version", self.version)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServedKind) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash((self.group, self.version, self.kind))

    def _facts(self) -> tuple[Any, ...]:
        return tuple(
            getattr(self, name)
            for name in self.__struct_fields__
            if name not in {"read_schema", "custom"}
        )

    @property
    def schema(self) -> Schema:
        """The structure of an object of this kind."""
        return self.read_schema()

    @property
    def api_version(self) -> str:
        """``group/version``, or the version alone in the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified_resource(self) -> str:
        """``plural.group``, as messages name the resource; the plural alone in the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def is_stored(self) -> bool:
        """Whether objects are kept; reviews are answered and forgotten."""
        return "get" in self.verbs and "create" in self.verbs

    @property
    def has_status(self) -> bool:
        """Whether the status is written through a subresource of its own."""
        return self.subresource("status") is not None

    @property
    def storage_version_hash(self) -> str:
        """What discovery says so that clients notice a change of the stored version."""
        import hashlib  # noqa: PLC0415 - slow to import, and who reads manifests needs none of it

        group = self.storage_key.partition(".")[2]
        stored = f"{group}/{self.storage_version}/{self.kind}"
        return base64.b64encode(hashlib.sha256(stored.encode()).digest()[:8]).decode()

    def subresource(self, name: str) -> Subresource | None:
        """Give the subresource of that name, or None."""
        return next((found for found in self.subresources if found.name == name), None)


def internal_package(group: str) -> str:
    """Name the package that has the types of a group."""
    return _PACKAGES.get(group, group.partition(".")[0])
