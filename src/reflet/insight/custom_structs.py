"""Which structs a CustomResourceDefinition describes: a class for each object with fields.

The schema is structural, so a class is made from types, properties and defaults alone; what only
forbids values (patterns, rules, ``oneOf``) is left to the server.  How classes are written down is
``struct_source``.

- A field that is required has no default; others are None when they are absent, arrays and maps
  empty, and are then not sent.  A scalar default of the schema is the default of the field, and
  is sent: the schema's may be another one some day.
- An object that keeps unknown fields, or has none that are known, is a mapping of anything.
- A class is named after its kind and the path to it: ``WidgetSpecPorts``.  Where several versions
  are written side by side, their classes carry the version: ``WidgetV1beta1SpecPorts``.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/types_jsonschema.go
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from reflet.api.frozen import json_name
from reflet.errors import ConfigurationError

DEFINITION: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
OPEN: Final = "Mapping[str, Any]"
NONE: Final = " | None"
ABSENT: Final = ("None", "()", "{}")
"""Defaults that stand for a field which is not there."""

SCALARS: Final[Mapping[str, tuple[str, type | tuple[type, ...]]]] = {
    "boolean": ("bool", bool),
    "integer": ("int", int),
    "number": ("float", (int, float)),
    "string": ("str", str),
}
FORMATS: Final[Mapping[str, str]] = {"date-time": "Time", "byte": "bytes"}
TAKEN: Final = frozenset(
    {"bool", "bytes", "complete", "constant", "field", "float", "int", "str", "tuple"}
)
"""Attributes that would hide a name which annotations below them use, or one of the base's."""
OWN: Final = frozenset({"apiVersion", "kind", "metadata"})


@dataclass(frozen=True, slots=True)
class StructField:
    """A field: its attribute, its JSON name, its annotation, and its default if it has one."""

    name: str
    json_name: str
    annotation: str
    default: str = ""
    description: str = ""

    @property
    def is_renamed(self) -> bool:
        """Whether the attribute alone does not tell the JSON name."""
        return json_name(self.name) != self.json_name


@dataclass(frozen=True, slots=True)
class StructClass:
    """A class; ``identity`` is the apiVersion and kind of one that is a whole object.

    ``complete`` says that none of its fields, nor of those inside it, would be lost.
    """

    name: str
    fields: tuple[StructField, ...]
    description: str = ""
    identity: tuple[str, str] | None = None
    complete: bool = False


def classes_of(definition: Mapping[str, Any], *, version: str = "") -> Iterator[StructClass]:
    """Yield the classes of every served version, or of one; each behind those that it needs.

    ConfigurationError for what is no definition, and for a version that it does not have.
    """
    if (definition.get("apiVersion"), definition.get("kind")) != DEFINITION:
        kind, api_version = definition.get("kind"), definition.get("apiVersion")
        raise ConfigurationError(
            f"{kind} of {api_version} is no CustomResourceDefinition of {DEFINITION[0]}"
        )
    try:
        spec = definition["spec"]
        group, kind = str(spec["group"]), str(spec["names"]["kind"])
        versions = {str(each["name"]): each for each in spec["versions"]}
    except (KeyError, TypeError) as error:
        raise ConfigurationError(
            f"the CustomResourceDefinition is not whole: {error} is missing or of a wrong type"
        ) from error
    if version and version not in versions:
        there = ", ".join(versions)
        raise ConfigurationError(f"{kind}.{group} has no version {version!r}: it has {there}")
    chosen = [version] if version else [n for n, each in versions.items() if each.get("served")]
    for name in chosen:
        try:
            schema = versions[name]["schema"]["openAPIV3Schema"]
            prefix = kind if len(chosen) == 1 else f"{kind}{_pascal(name)}"
            yield from _Classes(prefix).of_object(schema, (f"{group}/{name}", kind))
        except (AttributeError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{kind}.{group}: version {name} has no schema that can be read: {error}"
            ) from error


@dataclass(slots=True)
class _Classes:
    """The classes of one version, while they are found."""

    prefix: str
    loses: bool = False
    names: set[str] = field(default_factory=set)
    found: list[StructClass] = field(default_factory=list)

    def of_object(self, schema: Mapping[str, Any], identity: tuple[str, str]) -> list[StructClass]:
        if _keeps_unknown(schema):
            self.loses = True  # a whole object must be a class, whatever else may be in it
        self.names.add(self.prefix)
        properties = {
            name: each for name, each in schema.get("properties", {}).items() if name not in OWN
        }
        fields = self._fields({**schema, "properties": properties}, self.prefix)
        description = schema.get("description", "")
        made = StructClass(self.prefix, fields, description, identity, not self.loses)
        return [*self.found, made]

    def _fields(self, schema: Mapping[str, Any], owner: str) -> tuple[StructField, ...]:
        required = set(schema.get("required", ()))
        taken: set[str] = set()
        fields = []
        for name, each in schema.get("properties", {}).items():
            attribute = _attribute(name)
            while attribute in taken:
                attribute += "_"
            taken.add(attribute)
            annotation = self._annotation(each, f"{owner}{_pascal(name)}")
            default = _default(each, annotation)
            if not default and name not in required:
                default = _absent(annotation)
                annotation = _optional(annotation) if default == "None" else annotation
            if each.get("nullable"):
                annotation = _optional(annotation)
            fields.append(
                StructField(attribute, name, annotation, default, each.get("description", ""))
            )
        return tuple(fields)

    def _annotation(self, schema: Mapping[str, Any], name: str) -> str:
        if schema.get("x-kubernetes-int-or-string"):
            return "int | str"
        match schema.get("type"):
            case "object":
                return self._object(schema, name)
            case "array":
                item = schema.get("items") or {}
                inner = self._annotation(item, name)
                return f"tuple[{_optional(inner) if item.get('nullable') else inner}, ...]"
            case str(scalar) if scalar in SCALARS:
                return _enum(schema) or FORMATS.get(schema.get("format", "")) or SCALARS[scalar][0]
            case _:
                return "Any"

    def _object(self, schema: Mapping[str, Any], name: str) -> str:
        values = schema.get("additionalProperties")
        if isinstance(values, dict) and values:
            inner = self._annotation(values, name)
            return f"Mapping[str, {_optional(inner) if values.get('nullable') else inner}]"
        if _keeps_unknown(schema) or not schema.get("properties"):
            return OPEN
        fields = self._fields(schema, name)
        while name in self.names:
            name += "_"
        self.names.add(name)
        self.found.append(StructClass(name, fields, schema.get("description", "")))
        return name


def _keeps_unknown(schema: Mapping[str, Any]) -> bool:
    return bool(
        schema.get("x-kubernetes-preserve-unknown-fields")
        or schema.get("x-kubernetes-embedded-resource")
    )


def _enum(schema: Mapping[str, Any]) -> str:
    """A Literal of the values that are allowed; empty where they are no texts or numbers."""
    values = [each for each in schema.get("enum", ()) if each is not None]
    kind = SCALARS[schema["type"]][1]
    if not values or kind not in (str, int) or not all(type(each) is kind for each in values):
        return ""
    return f"Literal[{', '.join(map(literal, values))}]"


def _default(schema: Mapping[str, Any], annotation: str) -> str:
    """The schema's default as Python writes it; empty for none, and for one that is not scalar."""
    value = schema.get("default")
    if schema.get("x-kubernetes-int-or-string"):
        fits = type(value) in (int, str)
    elif annotation in FORMATS.values() or schema.get("type") not in SCALARS:
        return ""
    else:
        kind = SCALARS[schema["type"]][1]
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if not fits or (annotation.startswith("Literal[") and value not in schema["enum"]):
        return ""
    return literal(value)


def _absent(annotation: str) -> str:
    if annotation.startswith("tuple["):
        return "()"
    return "{}" if annotation.startswith("Mapping[") and annotation != OPEN else "None"


def _optional(annotation: str) -> str:
    return annotation if annotation == "Any" else f"{annotation.removesuffix(NONE)}{NONE}"


def literal(value: Any) -> str:
    """A text, number or truth value as Python writes it."""
    if not isinstance(value, str):
        return repr(value)
    quoted = repr(value)
    if quoted.startswith("'") and '"' not in value:
        quoted = f'"{quoted[1:-1]}"'.replace("\\'", "'")
    return quoted


_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STRANGE: Final = re.compile(r"\W+", re.ASCII)


def _attribute(name: str) -> str:
    """The Python name of a JSON name: ``hostIPs`` is ``host_ips``, ``from`` is ``from_``."""
    words = _HUMPS.sub("_", name.replace("IPs", "Ips"))
    made = _STRANGE.sub("_", words).lower().strip("_")
    if not made or made[0].isdigit():
        made = f"field_{made}"
    return f"{made}_" if keyword.iskeyword(made) or made in TAKEN else made


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in _STRANGE.split(name) if part)
