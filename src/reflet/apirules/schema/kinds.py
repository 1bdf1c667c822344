"""The register of served kinds: the built-in ones, and those that definitions add.

Finds a kind by a URL's parts or by a body's ``apiVersion`` and ``kind``, and makes kinds of what
a stored CustomResourceDefinition says: names, versions, subresources, printer columns, structure.

Upstream: apimachinery/pkg/runtime/scheme.go;
apiextensions-apiserver/pkg/apiserver/customresource_handler.go;
apimachinery/pkg/version/helpers.go, CompareKubeAwareVersionStrings
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, final

from reflet.apirules.schema.builtin_kinds import SCALE, builtin_kinds
from reflet.apirules.schema.schemas import OBJECT_META, Schema, Schemas, Shape, Structure
from reflet.apirules.schema.served_kind import (
    CustomFacts,
    PrinterColumn,
    ScalePaths,
    ServedKind,
    Subresource,
)
from reflet.gotext.lazy_patterns import lazy_pattern

# The order in which the real server lists the verbs of custom kinds.
CUSTOM_VERBS: Final = (
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
)
_VERSION: Final = lazy_pattern(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_MATURITY: Final = {"alpha": 2, "beta": 1}
_SHAPES: Final[Mapping[str, Shape]] = {
    "string": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
    "array": "list",
}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@final
class Kinds:
    """The kinds that are served now; changes when definitions come and go."""

    def __init__(self, schemas: Schemas | None = None) -> None:
        self.schemas = Schemas.recorded() if schemas is None else schemas
        self._by_resource: dict[tuple[str, str, str], ServedKind] = {}
        self._by_kind: dict[tuple[str, str], ServedKind] = {}
        self._custom: dict[str, tuple[ServedKind, ...]] = {}
        self._changes = 0
        for kind in builtin_kinds(self.schemas):
            self._add(kind)

    def __iter__(self) -> Iterator[ServedKind]:
        """Every kind in every version, in the order of discovery."""
        return iter(self._by_resource.values())

    @property
    def generation(self) -> int:
        """Grows with every change, for who keeps something made from the register."""
        return self._changes

    def by_resource(self, group: str, version: str, plural: str) -> ServedKind | None:
        """Find the kind that a URL means."""
        return self._by_resource.get((group, version, plural))

    def by_kind(self, api_version: str, kind: str) -> ServedKind | None:
        """Find the kind that a body says it is."""
        return self._by_kind.get((api_version, kind))

    def by_storage_key(self, storage_key: str) -> ServedKind | None:
        """Find the kind, in the version in which it is stored, that is kept under a key."""
        return next(
            (
                kind
                for kind in self
                if kind.storage_key == storage_key and kind.version == kind.storage_version
            ),
            None,
        )

    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Give every group with its versions, the preferred version first."""
        versions: dict[str, list[str]] = {}
        for kind in self:
            known = versions.setdefault(kind.group, [])
            if kind.version not in known:
                known.append(kind.version)
        return {group: tuple(sorted(found, key=version_rank)) for group, found in versions.items()}

    def is_custom(self, group: str) -> bool:
        """Whether a group is there because of definitions alone."""
        return all(kind.custom is not None for kind in self if kind.group == group)

    def in_version(self, group: str, version: str) -> tuple[ServedKind, ...]:
        """Give the kinds of one group in one version."""
        return tuple(kind for kind in self if (kind.group, kind.version) == (group, version))

    def add_custom(self, definition: Mapping[str, Any]) -> tuple[ServedKind, ...]:
        """Serve what a stored CustomResourceDefinition defines, instead of what it did before."""
        name = str(definition["metadata"]["name"])
        self.remove_custom(name)
        added = custom_kinds(definition, self.schemas)
        self._custom[name] = added
        for kind in added:
            self._add(kind)
        return added

    def remove_custom(self, name: str) -> tuple[ServedKind, ...]:
        """Stop serving what the definition of that name defines, and return it."""
        removed = self._custom.pop(name, ())
        for kind in removed:
            del self._by_resource[kind.group, kind.version, kind.plural]
            del self._by_kind[kind.api_version, kind.kind]
        self._changes += 1
        return removed

    def _add(self, kind: ServedKind) -> None:
        self._by_resource[kind.group, kind.version, kind.plural] = kind
        self._by_kind[kind.api_version, kind.kind] = kind
        self._changes += 1


def version_rank(version: str) -> tuple[int, int, int, int, str]:
    """Sort key that puts ``v2`` before ``v1`` before ``v1beta2``, and other names last."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return (1, 0, 0, 0, version)
    major, maturity, minor = found.groups()
    return (0, _MATURITY.get(maturity or "", 0), -int(major), -int(minor or 0), version)


def custom_kinds(definition: Mapping[str, Any], schemas: Schemas) -> tuple[ServedKind, ...]:
    """Give the kind in each served version, the preferred one first."""
    spec = definition["spec"]
    stored = next(version["name"] for version in spec["versions"] if version.get("storage"))
    served = sorted(
        (version for version in spec["versions"] if version.get("served")),
        key=lambda version: version_rank(version["name"]),
    )
    return tuple(_custom_kind(definition, version, stored, schemas) for version in served)


def _custom_kind(
    definition: Mapping[str, Any], version: Mapping[str, Any], stored: str, schemas: Schemas
) -> ServedKind:
    spec = definition["spec"]
    names = spec["names"]
    kind = names["kind"]
    open_api = version.get("schema", {}).get("openAPIV3Schema", _NOTHING)
    reversed_group = ".".join(reversed(spec["group"].split(".")))
    type_name = f"{reversed_group}.{version['name']}.{kind}"
    schema = custom_schema(open_api, schemas, type_name)
    parts = version.get("subresources") or {}
    subresources = []
    if "status" in parts:
        subresources.append(Subresource("status", kind))
    if "scale" in parts:
        subresources.append(SCALE)
    return ServedKind(
        group=spec["group"],
        version=version["name"],
        kind=kind,
        plural=names["plural"],
        singular=names.get("singular") or kind.lower(),
        namespaced=spec["scope"] == "Namespaced",
        type_name=type_name,
        read_schema=lambda: schema,
        list_kind=names.get("listKind") or f"{kind}List",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        verbs=CUSTOM_VERBS,
        subresources=tuple(subresources),
        storage_version=stored,
        custom=CustomFacts(
            definition=definition["metadata"]["name"],
            open_api=open_api,
            printer_columns=_printer_columns(version),
            scale=_scale(parts.get("scale")),
            selectable_fields=tuple(
                field["jsonPath"] for field in version.get("selectableFields") or ()
            ),
            storage_version=stored,
        ),
    )


def _printer_columns(version: Mapping[str, Any]) -> tuple[PrinterColumn, ...]:
    return tuple(
        PrinterColumn(
            name=column["name"],
            type=column["type"],
            json_path=column["jsonPath"],
            format=column.get("format", ""),
            description=column.get("description", ""),
            priority=column.get("priority", 0),
        )
        for column in version.get("additionalPrinterColumns") or ()
    )


def _scale(scale: Mapping[str, Any] | None) -> ScalePaths | None:
    if scale is None:
        return None
    return ScalePaths(
        spec_replicas=scale["specReplicasPath"],
        status_replicas=scale["statusReplicasPath"],
        label_selector=scale.get("labelSelectorPath") or "",
    )


def custom_schema(open_api: Mapping[str, Any], schemas: Schemas, type_name: str = "") -> Schema:
    """Describe a whole custom object; its metadata is the same as everywhere."""
    whole = _schema(open_api, schemas)
    fields = dict(whole.structure.fields) if whole.structure is not None else {}
    fields["apiVersion"] = fields["kind"] = Schema("string")
    fields["metadata"] = schemas.lookup(OBJECT_META)
    structure = Structure(type_name, fields, required=frozenset(open_api.get("required", ())))
    return Schema(
        "object",
        structure=structure,
        preserves_unknown=whole.preserves_unknown,
        rules=open_api,
    )


def _schema(open_api: Mapping[str, Any], schemas: Schemas) -> Schema:
    if open_api.get("x-kubernetes-embedded-resource"):
        inner = {key: value for key, value in open_api.items() if "embedded" not in key}
        return custom_schema(inner, schemas)
    kind = open_api.get("type", "")
    items = open_api.get("items")
    extra = open_api.get("additionalProperties")
    preserves = bool(open_api.get("x-kubernetes-preserve-unknown-fields"))
    shape: Shape = _SHAPES.get(kind, "anything")
    structure = values = None
    if open_api.get("x-kubernetes-int-or-string"):
        shape = "intOrString"
    elif kind == "object" and extra:
        shape = "map"
        values = _schema(extra, schemas) if isinstance(extra, Mapping) else Schema("anything")
    elif kind == "object":
        shape = "object"
        structure = Structure(
            "",
            {
                name: _schema(inner, schemas)
                for name, inner in (open_api.get("properties") or {}).items()
            },
            required=frozenset(open_api.get("required") or ()),
        )
    return Schema(
        shape,
        structure=structure,
        items=_schema(items, schemas) if isinstance(items, Mapping) else None,
        values=values,
        list_type=open_api.get("x-kubernetes-list-type", ""),
        list_map_keys=open_api.get("x-kubernetes-list-map-keys") or (),
        map_type=open_api.get("x-kubernetes-map-type", ""),
        preserves_unknown=preserves or shape == "anything",
        default=open_api.get("default"),
        rules=open_api,
    )
