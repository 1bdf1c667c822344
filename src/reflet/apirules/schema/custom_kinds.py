"""Kinds that a CustomResourceDefinition defines.

Owns: what the fields of a stored definition mean: names, versions, subresources, printer
columns, structure.  Must not know when definitions come and go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from reflet.apirules.schema.builtin_kinds import SCALE
from reflet.apirules.schema.schemas import OBJECT_META, Schema, Schemas, Shape, Structure
from reflet.apirules.schema.served_kind import (
    CustomFacts,
    PrinterColumn,
    ScalePaths,
    ServedKind,
    Subresource,
)

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
_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_MATURITY: Final = {"alpha": 2, "beta": 1}
_SHAPES: Final[Mapping[str, Shape]] = {
    "string": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
    "array": "list",
}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


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
