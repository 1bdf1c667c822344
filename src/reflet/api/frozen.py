"""The base of every struct of the vocabulary: frozen, cheap, and read-only all the way down.

Says how Python names become Kubernetes' JSON names, marks text that may be written as a number
(``QuantityText``), and gives mappings their read-only face.

A mapping field holds a plain ``dict``, which is what the decoder fills and the encoder reads
in C.  Only *reading the attribute* goes through ``ReadOnlyMapping``, so the protection costs
nothing in memory and nothing while decoding.  The structs are invisible to the garbage
collector: they are trees of frozen values, so no reference cycle can pass through them.
"""

from collections.abc import Mapping
from types import MappingProxyType, MemberDescriptorType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin

import msgspec

EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})
"""The default of every mapping field: one shared object instead of a dict for each struct."""

INITIALISMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "api": "API",
        "cidr": "CIDR",
        "cidrs": "CIDRs",
        "fqdn": "FQDN",
        "id": "ID",
        "io": "IO",
        "ip": "IP",
        "ipc": "IPC",
        "ips": "IPs",
        "pid": "PID",
        "uuid": "UUID",
    }
)
"""Words that Kubernetes writes in capitals when they are not the first word of a name."""

Value = TypeVar("Value")


class MayBeNumber:
    """Marks text that manifests may write as a bare number: ``cpu: 1``."""


QuantityText = Annotated[str, MayBeNumber]
"""A quantity as the text that was sent; ``quantities`` says what it means."""


def json_name(name: str) -> str:
    """Return the JSON name of a field: ``pod_ips`` is ``podIPs``, ``continue_`` is ``continue``."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(INITIALISMS.get(word, word.capitalize()) for word in rest)


def freeze(value: Any) -> Any:
    """Return decoded JSON as a deeply read-only value: mapping proxies and tuples."""
    if isinstance(value, dict | MappingProxyType):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """Return a deep mutable copy of what ``freeze`` made: dicts and lists."""
    if isinstance(value, dict | MappingProxyType):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def constant(text: Value) -> Value:
    """Return a field default that is written out even though defaults are left out.

    The encoder leaves out a default it can compare; it cannot compare what a function makes.

    - *text*: the default
    """
    made: Value = msgspec.field(default_factory=lambda: text)
    return made


class ReadOnlyMapping:
    """Reads a struct's mapping field as a mapping that cannot be written to.

    ``member`` reads the mapping itself, for whoever may see it.
    """

    __slots__ = ("member",)

    def __init__(self, member: MemberDescriptorType) -> None:
        self.member = member

    def __get__(self, struct: Any, owner: type | None = None) -> Any:
        if struct is None:
            return self
        mapping = self.member.__get__(struct, owner)
        return mapping if type(mapping) is MappingProxyType else MappingProxyType(mapping)


class DeeplyReadOnlyMapping(ReadOnlyMapping):
    """The same for mappings whose values may be mappings and lists themselves."""

    __slots__ = ()

    def __get__(self, struct: Any, owner: type | None = None) -> Any:
        return self if struct is None else freeze(self.member.__get__(struct, owner))


def _holds_plain_values(value_type: Any) -> bool:
    if get_origin(value_type) is Annotated:
        value_type = get_args(value_type)[0]
    return value_type in {str, bytes, int, float, bool}


class Frozen(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    rename=json_name,
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """A struct whose fields, and whose fields' mappings, cannot be changed.

    Fields that are not declared are dropped when decoding; fields that have their default are
    left out when encoding.  A subclass repeats ``frozen=True, kw_only=True``: the first for the
    type checker, the second because it holds for one class only.  Its annotations must be real
    types, not text: a module of structs does without ``from __future__ import annotations``.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, annotation in cls.__annotations__.items():
            member = cls.__dict__.get(name)
            origin: Any = get_origin(annotation)
            if origin is Mapping and isinstance(member, MemberDescriptorType):
                plain = _holds_plain_values(get_args(annotation)[1])
                reader = ReadOnlyMapping if plain else DeeplyReadOnlyMapping
                setattr(cls, name, reader(member))

    def __reduce__(self) -> tuple[Any, ...]:
        # Proxies cannot be pickled; empty ones come back as the default.
        fields: dict[str, Any] = {}
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if type(value) is not MappingProxyType:
                fields[name] = value
            elif value:
                fields[name] = thaw(value)
        return _rebuilt, (type(self), fields)


def _rebuilt(struct: type[Frozen], fields: dict[str, Any]) -> Frozen:
    return struct(**fields)
