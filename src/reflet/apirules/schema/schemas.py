"""What the served kinds look like: fields, types, keys of lists, numbers of the binary form.

The structure of the built-in kinds is recorded in data/schemas.json, by tools/record_schemas.py,
and read once in a process: it is part of the package, as code is, and nobody can change it under
a running program.  Custom kinds are described in the same vocabulary, and patches merge by it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, final

import msgspec

Shape = Literal[
    "object",
    "list",
    "map",
    "string",
    "bool",
    "int32",
    "int64",
    "float64",
    "bytes",
    "time",
    "microTime",
    "quantity",
    "intOrString",
    "anything",
]
Omission = Literal["empty", "never", "zero"]

# Shapes that are left out when empty; the others are structs in Go and are always written.
ABSENT_WHEN_EMPTY: Final = frozenset(
    {"string", "bool", "int32", "int64", "float64", "list", "map", "bytes", "anything"}
)
OBJECT_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
LIST_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"


class FieldFacts(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One field as recorded; whatever is usual was left out."""

    kind: Shape
    name: str = ""
    type: str = ""
    of: FieldFacts | None = None
    go: str = ""
    embedded: str = ""
    pointer: bool = False
    omit: Omission = "empty"
    number: int = 0
    patch_strategy: str = ""
    patch_merge_key: str = ""
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    default: Any = None
    enum: tuple[str, ...] = ()


class TypeFacts(msgspec.Struct, frozen=True, rename="camel"):
    """One type as recorded."""

    fields: tuple[FieldFacts, ...]
    required: frozenset[str] = frozenset()
    map_type: str = ""


class _Recording(msgspec.Struct, frozen=True):
    source: str
    types: dict[str, msgspec.Raw]


@final
class Structure:
    """The fields of one type, in the order in which the server writes them.

    Embedded types are dissolved into ``fields``, as they are in JSON; ``wire`` keeps them, by
    the numbers of the binary form, under an empty name.  ``places`` are the numbers of the fields
    in their order, ``always_written`` those of which something is written even when nothing is
    known.
    """

    __slots__ = (
        "always_written",
        "fields",
        "map_type",
        "places",
        "required",
        "short_name",
        "type_name",
        "wire",
    )

    def __init__(
        self,
        type_name: str,
        fields: Mapping[str, Schema],
        *,
        required: frozenset[str] = frozenset(),
        map_type: str = "",
        wire: Mapping[int, tuple[str, Schema]] = MappingProxyType({}),
    ) -> None:
        self.type_name = type_name
        self.short_name = type_name.rpartition(".")[2]
        self.fields = fields
        self.places = {name: place for place, name in enumerate(fields)}
        self.always_written = tuple(
            (name, schema) for name, schema in fields.items() if schema.is_always_written
        )
        self.required = required
        self.map_type = map_type
        self.wire = wire


@final
class Schema:
    """What may stand at one place of a document.

    ``go_type`` is the name that the real server's messages use, empty for custom kinds;
    ``embedded_in`` are the names of the Go types between the object and this field that JSON
    does not show.
    """

    __slots__ = (
        "_map_type",
        "_recorded",
        "_structure",
        "default",
        "embedded_in",
        "enum",
        "go_type",
        "items",
        "list_map_keys",
        "list_type",
        "omit",
        "patch_merge_key",
        "patch_strategy",
        "pointer",
        "preserves_unknown",
        "rules",
        "shape",
        "values",
    )

    def __init__(
        self,
        shape: Shape,
        *,
        structure: Structure | None = None,
        recorded: tuple[Schemas, str] | None = None,
        items: Schema | None = None,
        values: Schema | None = None,
        go_type: str = "",
        embedded_in: tuple[str, ...] = (),
        pointer: bool = False,
        omit: Omission = "empty",
        patch_strategy: str = "",
        patch_merge_key: str = "",
        list_type: str = "",
        list_map_keys: Sequence[str] = (),
        map_type: str = "",
        preserves_unknown: bool = False,
        default: Any = None,
        enum: Sequence[str] = (),
        rules: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.shape = shape
        self.items = items
        self.values = values
        self.go_type = go_type
        self.embedded_in = embedded_in
        self.pointer = pointer
        self.omit = omit
        self.patch_strategy = patch_strategy
        self.patch_merge_key = patch_merge_key
        self.list_type = list_type
        self.list_map_keys = tuple(list_map_keys)
        self.preserves_unknown = preserves_unknown
        self.default = default
        self.enum = tuple(enum)
        self.rules = rules
        # The real server does not look inside of what is raw.
        is_raw = go_type == "runtime.RawExtension"
        self._map_type = map_type or ("atomic" if is_raw else None)
        self._structure = structure
        self._recorded = recorded

    def __repr__(self) -> str:
        return f"Schema({self.shape} {self.go_type or self.type_name})".replace(" )", ")")

    @property
    def structure(self) -> Structure | None:
        """The fields, of an object that has any; None for everything else."""
        if self._structure is None and self._recorded is not None:
            schemas, type_name = self._recorded
            self._structure = schemas.structure(type_name)
        return self._structure

    @property
    def is_always_written(self) -> bool:
        """Whether something is written of the field of an object that says nothing of it."""
        if self.pointer or self.shape in ABSENT_WHEN_EMPTY:
            return self.omit == "never"
        return self.omit != "zero"

    @property
    def type_name(self) -> str:
        """The name that OpenAPI documents use for the type of an object, if it has one."""
        if self._recorded is not None:
            return self._recorded[1]
        return "" if self._structure is None else self._structure.type_name

    @property
    def map_type(self) -> str:
        """``atomic`` when an object or a map is owned as a whole, else empty."""
        if self._map_type is None:
            structure = self.structure
            self._map_type = "" if structure is None else structure.map_type
        return self._map_type

    def field(self, name: str) -> Schema | None:
        """Give the schema of a field of this object, or of a value of this map."""
        structure = self.structure
        if structure is not None and name in structure.fields:
            return structure.fields[name]
        return self.values


# Where nothing is described, whatever stands there is kept: maps are owned by key, lists whole.
ANYTHING: Final = Schema("anything", list_type="atomic", preserves_unknown=True)


@final
class Schemas:
    """The recorded types by name, each made ready when it is first asked for."""

    def __init__(self, types: Mapping[str, TypeFacts | msgspec.Raw], *, source: str = "") -> None:
        self.source = source
        self._types = types
        self._structures: dict[str, Structure] = {}

    @classmethod
    def recorded(cls) -> Schemas:
        """Give the built-in kinds' types; read from the package once in a process."""
        return _recorded()

    def __contains__(self, type_name: str) -> bool:
        return type_name in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def lookup(self, type_name: str) -> Schema:
        """Give the schema of a whole object of a recorded type; KeyError when there is none."""
        if type_name not in self._types:
            raise KeyError(type_name)
        go_type = "v1." + type_name.rpartition(".")[2]
        return Schema("object", recorded=(self, type_name), go_type=go_type)

    def structure(self, type_name: str) -> Structure:
        """Give the fields of a recorded type."""
        found = self._structures.get(type_name)
        if found is None:
            found = self._structures[type_name] = self._assembled(type_name)
        return found

    def _assembled(self, type_name: str) -> Structure:
        facts = self._facts(type_name)
        fields: dict[str, Schema] = {}
        wire: dict[int, tuple[str, Schema]] = {}
        for field in facts.fields:
            if field.embedded:
                self._dissolve(field, (field.embedded,), fields)
            else:
                fields[field.name] = self._schema(field, ())
            if field.number:
                schema = fields[field.name] if field.name else self._schema(field, ())
                wire[field.number] = (field.name, schema)
        return Structure(
            type_name, fields, required=facts.required, map_type=facts.map_type, wire=wire
        )

    def _facts(self, type_name: str) -> TypeFacts:
        facts = self._types[type_name]
        if isinstance(facts, TypeFacts):
            return facts
        # A command needs a few of the hundreds.
        return msgspec.json.decode(facts, type=TypeFacts)

    def _dissolve(
        self, field: FieldFacts, path: tuple[str, ...], fields: dict[str, Schema]
    ) -> None:
        for inner in self._facts(field.type).fields:
            if inner.embedded:
                self._dissolve(inner, (*path, inner.embedded), fields)
            else:
                fields[inner.name] = self._schema(inner, path)

    def _schema(self, facts: FieldFacts, embedded_in: tuple[str, ...]) -> Schema:
        inner = None if facts.of is None else self._schema(facts.of, ())
        return Schema(
            facts.kind,
            recorded=(self, facts.type) if facts.type else None,
            items=inner if facts.kind == "list" else None,
            values=inner if facts.kind == "map" else None,
            go_type=facts.go or facts.kind,
            embedded_in=embedded_in,
            pointer=facts.pointer,
            omit=facts.omit,
            patch_strategy=facts.patch_strategy,
            patch_merge_key=facts.patch_merge_key,
            list_type=facts.list_type,
            list_map_keys=facts.list_map_keys,
            map_type=facts.map_type,
            preserves_unknown=facts.kind == "anything",
            default=facts.default,
            enum=facts.enum,
        )


@cache
def _recorded() -> Schemas:
    # Not importlib.resources: importing it takes longer than reading this.
    content = pkgutil.get_data("reflet.apirules", "data/schemas.json")
    recording = msgspec.json.decode(content or b"", type=_Recording)
    return Schemas(recording.types, source=recording.source)
