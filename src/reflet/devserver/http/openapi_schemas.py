"""Schemas of OpenAPI documents, made from the recorded structure, with our own descriptions.

Upstream: k8s.io/kube-openapi/pkg/builder3/openapi.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

import msgspec

from reflet.apirules.schema.schemas import LIST_META, OBJECT_META, Schema, Schemas, Structure
from reflet.apirules.schema.served_kind import ServedKind

Document = dict[str, Any]
Dialect = Literal[2, 3]

META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
EXTENSIONS: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
DELETE_OPTIONS: Final = f"{META}DeleteOptions"
PATCH: Final = f"{META}Patch"
STATUS: Final = f"{META}Status"

_QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_RAW: Final = "io.k8s.apimachinery.pkg.runtime.RawExtension"

_SCALARS: Final[Mapping[str, Document]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
}
_NAMED_SCALARS: Final[Mapping[str, str]] = {
    "time": f"{META}Time",
    "microTime": f"{META}MicroTime",
    "quantity": _QUANTITY,
    "intOrString": _INT_OR_STRING,
}
_LEAVES: Final[Mapping[str, Mapping[Dialect, Document]]] = {
    f"{META}Time": {d: {"type": "string", "format": "date-time"} for d in (2, 3)},
    f"{META}MicroTime": {d: {"type": "string", "format": "date-time"} for d in (2, 3)},
    _QUANTITY: {
        2: {"type": "string"},
        3: {"oneOf": [{"type": "string"}, {"type": "number"}]},
    },
    _INT_OR_STRING: {
        2: {"type": "string", "format": "int-or-string"},
        3: {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    },
    _RAW: {d: {"type": "object"} for d in (2, 3)},
    f"{META}FieldsV1": {d: {"type": "object"} for d in (2, 3)},
    PATCH: {d: {"type": "object"} for d in (2, 3)},
    STATUS: {
        d: {
            "type": "object",
            "properties": {
                "apiVersion": {"type": "string"},
                "code": {"type": "integer", "format": "int32"},
                "details": {"type": "object"},
                "kind": {"type": "string"},
                "message": {"type": "string"},
                "metadata": {"type": "object"},
                "reason": {"type": "string"},
                "status": {"type": "string"},
            },
        }
        for d in (2, 3)
    },
    **{
        f"{EXTENSIONS}{name}": {d: {} for d in (2, 3)}
        for name in (
            *("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool"),
            "JSONSchemaPropsOrStringArray",
        )
    },
}


@cache
def _descriptions() -> Mapping[str, Mapping[str, str]]:
    content = resources.files("reflet.devserver").joinpath("data/descriptions.json").read_bytes()
    return msgspec.json.decode(content, type=dict[str, dict[str, str]])


def reference(name: str, dialect: Dialect) -> Document:
    """Refer to a type by name."""
    place = "definitions" if dialect == 2 else "components/schemas"
    return {"$ref": f"#/{place}/{name}"}


def kind_schemas(kind: ServedKind, schemas: Schemas, dialect: Dialect) -> Document:
    """Give every type that objects and lists of a kind are made of, by name."""
    made: Document = {}
    wanted = [kind.type_name, LIST_META, OBJECT_META, DELETE_OPTIONS, PATCH, STATUS]
    if kind.custom is not None:
        made[kind.type_name] = _custom_kind(kind, dialect)
    if "list" in kind.verbs:
        made[_list_name(kind)] = _list_schema(kind, dialect)
    while wanted:
        name = wanted.pop()
        if name in made:
            continue
        if name in _LEAVES:
            made[name] = dict(_LEAVES[name][dialect])
            continue
        structure = schemas.structure(name)
        made[name] = _type_schema(structure, dialect)
        wanted += _types_inside(structure)
    made[kind.type_name] |= _group_version_kind(kind, kind.kind)
    return made


def _group_version_kind(kind: ServedKind, name: str) -> Document:
    named = {"group": kind.group, "kind": name, "version": kind.version}
    return {"x-kubernetes-group-version-kind": [named]}


def _list_name(kind: ServedKind) -> str:
    return f"{kind.type_name.rpartition('.')[0]}.{kind.list_kind}"


def _list_schema(kind: ServedKind, dialect: Dialect) -> Document:
    described = _descriptions()
    return {
        "description": f"A list of objects of kind {kind.kind}.",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"description": described[""]["apiVersion"], "type": "string"},
            "items": {
                "description": "The objects.",
                "type": "array",
                "items": (reference if kind.custom else _referring)(kind.type_name, dialect),
            },
            "kind": {"description": described[""]["kind"], "type": "string"},
            "metadata": {"description": described[""]["listMetadata"]}
            | _referring(LIST_META, dialect),
        },
    } | _group_version_kind(kind, kind.list_kind)


def _referring(name: str, dialect: Dialect) -> Document:
    refers = reference(name, dialect)
    return refers if dialect == 2 else {"allOf": [refers]}


def _type_schema(structure: Structure, dialect: Dialect) -> Document:
    described = _descriptions().get(structure.type_name, {})
    shared = _descriptions()[""]
    made: Document = {}
    if "" in described:
        made["description"] = described[""]
    made["type"] = "object"
    if structure.required:
        made["required"] = sorted(structure.required)
    properties: Document = {}
    for name, schema in sorted(structure.fields.items()):
        text = described.get(name) or (shared.get(name, "") if name in _SHARED else "")
        entry = _property(schema, dialect)
        properties[name] = {"description": text} | entry if text else entry
    if properties:
        made["properties"] = properties
    if structure.map_type:
        made["x-kubernetes-map-type"] = structure.map_type
    return made


_SHARED: Final = frozenset({"apiVersion", "kind", "metadata"})


def _property(schema: Schema, dialect: Dialect) -> Document:
    made: Document = {}
    name = _type_of(schema)
    if schema.default is not None and dialect == 3:
        made["default"] = schema.default
    if name:
        made |= _referring(name, dialect)
    elif schema.items is not None:
        made |= {"type": "array", "items": _property(schema.items, dialect)}
    elif schema.values is not None:
        made |= {"type": "object", "additionalProperties": _map_value(schema.values, dialect)}
    else:
        made |= _SCALARS.get(schema.shape, {"type": "object"})
    if schema.enum:
        made["enum"] = list(schema.enum)
    if schema.list_map_keys:
        made["x-kubernetes-list-map-keys"] = list(schema.list_map_keys)
    for name, value in (
        ("x-kubernetes-list-type", schema.list_type),
        ("x-kubernetes-map-type", _own_map_type(schema)),
        ("x-kubernetes-patch-merge-key", schema.patch_merge_key),
        ("x-kubernetes-patch-strategy", schema.patch_strategy),
    ):
        if value:
            made[name] = value
    return made


def _map_value(schema: Schema, dialect: Dialect) -> Document:
    name = _NAMED_SCALARS.get(schema.shape)
    return reference(name, dialect) if name else _property(schema, dialect)


def _own_map_type(schema: Schema) -> str:
    """Say how a map is owned, unless its type says the same."""
    structure = schema.structure
    inherited = "" if structure is None else structure.map_type
    return "" if schema.map_type == inherited else schema.map_type


def _type_of(schema: Schema) -> str:
    if schema.shape in _NAMED_SCALARS:
        return _NAMED_SCALARS[schema.shape]
    if schema.shape != "anything":
        return schema.type_name
    if schema.go_type == "runtime.RawExtension":
        return _RAW
    name = schema.go_type.rpartition(".")[2]
    return f"{META}{name}" if name == "FieldsV1" else f"{EXTENSIONS}{name}" if name else ""


def _types_inside(structure: Structure) -> Iterator[str]:
    for schema in structure.fields.values():
        inner: Schema | None = schema
        while inner is not None:
            name = _type_of(inner)
            if name:
                yield name
            inner = inner.items or inner.values


def _custom_kind(kind: ServedKind, dialect: Dialect) -> Document:
    rules = {} if kind.custom is None else kind.custom.open_api
    if not rules or (dialect == 2 and rules.get(_PRESERVE)):
        # To kubectl, a field that is not among the properties is unknown.
        return {"type": "object"}
    made = _custom(rules, dialect)
    made["properties"] = dict(sorted((made.get("properties", {}) | _of_objects(dialect)).items()))
    return made


def _of_objects(dialect: Dialect) -> Document:
    described = _descriptions()[""]
    return {
        "apiVersion": {"description": described["apiVersion"], "type": "string"},
        "kind": {"description": described["kind"], "type": "string"},
        "metadata": {"description": described["metadata"]} | _referring(OBJECT_META, dialect),
    }


def _custom(rules: Mapping[str, Any], dialect: Dialect) -> Document:
    made: Document = {}
    for name, value in (_in_older_words(rules) if dialect == 2 else rules).items():
        if name == "properties":
            made[name] = {key: _custom(inner, dialect) for key, inner in value.items()}
        elif name in {"items", "additionalProperties"} and isinstance(value, Mapping):
            made[name] = _custom(value, dialect)
        else:
            made[name] = value
    if rules.get("x-kubernetes-embedded-resource") and not (dialect == 2 and rules.get(_PRESERVE)):
        made["properties"] = made.get("properties", {}) | _of_objects(dialect)
        needed = made.get("required", [])
        more = [name for name in ("kind", "apiVersion") if name not in needed]
        made["required"] = [*needed, *more]
    if rules.get("x-kubernetes-int-or-string") and dialect == 3:
        made["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    return made


_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_NEWER: Final = frozenset({"nullable", "default", "allOf", "anyOf", "oneOf", "not"})


def _in_older_words(rules: Mapping[str, Any]) -> Document:
    """Leave out what OpenAPI 2 has no words for, and what makes kubectl refuse the document.

    Upstream: apiextensions-apiserver/pkg/controller/openapi/v2/conversion.go
    """
    made = {name: value for name, value in rules.items() if name not in _NEWER}
    nullable, preserves = rules.get("nullable"), rules.get(_PRESERVE)
    if nullable or preserves:
        made.pop("items", None)
        made.pop("properties", None)
    kind = made.get("type")
    if nullable or (preserves and kind == "object") or (kind == "array" and "items" not in made):
        made.pop("type", None)
    if "required" in made:
        values = rules.get("additionalProperties")
        fields = made.get("properties", {})
        needed = [name for name in made["required"] if not fields.get(name, {}).get("nullable")]
        if not needed or (isinstance(values, Mapping) and values.get("nullable")):
            del made["required"]
        else:
            made["required"] = needed
    return made
