"""Sets of the fields of an object, as ``managedFields`` writes them (``FieldsV1``).

A field is a path of elements, each in the written form: ``f:name`` for a field or key,
``k:{"name":"web"}`` for the item of a list that is told by its keys, ``v:"text"`` for the item of
a set, ``i:0`` for one told by its place.  Elements are canonical, so equal texts are equal
elements.

Upstream: sigs.k8s.io/structured-merge-diff/fieldpath
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from reflet.apirules.schema.yaml_reading import TOO_DEEP
from reflet.errors import DecodeError
from reflet.gotext import printing
from reflet.gotext.quoting import quoted

Path = tuple[str, ...]

SELF: Final = "."
_CACHED: Final = frozenset({str, int, bool})

# What sorts first, by the type of a value: numbers before texts before truth.
_RANKS: Final = ((int, 0), (float, 0), (str, 1))


def field_element(name: str) -> str:
    """Give the element of a field, or of a key of a map."""
    return f"f:{name}"


def key_element(keys: Mapping[str, Any]) -> str:
    """Give the element of an item that is told by the values of some of its fields."""
    if all(type(value) in _CACHED for value in keys.values()):
        return _key_element(*((name, keys[name], type(keys[name])) for name in sorted(keys)))
    return f"k:{printing.json_text({name: _canonical(keys[name]) for name in sorted(keys)})}"


@lru_cache(maxsize=8192)
def _key_element(*keys: tuple[str, Any, type]) -> str:
    # The types are there to tell 1 from true, which are equal in Python.
    return f"k:{printing.json_text({name: value for name, value, _ in keys})}"


def value_element(value: Any) -> str:
    """Give the element of an item of a set."""
    return f"v:{printing.json_text(_canonical(value))}"


def index_element(index: int) -> str:
    """Give the element of an item that is told by its place."""
    return f"i:{index}"


def _canonical(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def path_text(path: Path) -> str:
    """Write a path for people: ``.spec.containers[name="web"].image``."""
    return "".join(map(_element_text, path))


def _element_text(element: str) -> str:
    kind, content = element[0], element[2:]
    if kind == "f":
        return f".{content}"
    if kind == "k":
        keys = json.loads(content)
        return f"[{','.join(f'{name}={_value_text(keys[name])}' for name in sorted(keys))}]"
    return f"[={_value_text(json.loads(content))}]" if kind == "v" else f"[{content}]"


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else printing.plain(value)


class FieldSet(msgspec.Struct, frozen=True, gc=False):
    """A set of paths: ``members`` end here, ``children`` go on and are never empty.

    A path and what it leads to are separate members: a set may have either, both or none.
    """

    members: frozenset[str] = frozenset()
    children: Mapping[str, FieldSet] = {}

    @classmethod
    def of(cls, paths: Iterable[Path]) -> FieldSet:
        """Make the set of some paths; the empty path is never in a set."""
        growing = _Growing()
        for path in paths:
            if path:
                growing.insert(path)
        return growing.grown()

    def __bool__(self) -> bool:
        return bool(self.members or self.children)

    def __contains__(self, path: Path) -> bool:
        if not path:
            return False
        node: FieldSet | None = self
        for element in path[:-1]:
            node = node.children.get(element) if node is not None else None
        return node is not None and path[-1] in node.members

    def below(self, element: str) -> FieldSet:
        """Give what goes on behind an element."""
        return self.children.get(element, EMPTY)

    def union(self, other: FieldSet) -> FieldSet:
        """Give the paths of either set."""
        children = dict(self.children)
        for element, node in other.children.items():
            children[element] = children[element].union(node) if element in children else node
        return FieldSet(self.members | other.members, children)

    def intersection(self, other: FieldSet) -> FieldSet:
        """Give the paths of both sets."""
        children = {
            element: node.intersection(other.children[element])
            for element, node in self.children.items()
            if element in other.children
        }
        return _tidy(self.members & other.members, children)

    def difference(self, other: FieldSet) -> FieldSet:
        """Give the paths that are not in the other set; what they lead to stays."""
        children = dict(self.children)
        for element in children.keys() & other.children.keys():
            _put(children, element, children[element].difference(other.children[element]))
        return FieldSet(self.members - other.members, children)

    def without(self, other: FieldSet) -> FieldSet:
        """Give the paths that are not in the other set, nor lead through one that is."""
        children = dict(self.children)
        for element in children.keys() & (other.children.keys() | other.members):
            node = children[element].without(other.below(element))
            _put(children, element, EMPTY if element in other.members else node)
        return FieldSet(self.members - other.members, children)

    def paths(self, prefix: Path = ()) -> Iterator[Path]:
        """Go through the paths in the order of the real server's messages."""
        for element in sorted(self.members, key=rank):
            yield (*prefix, element)
        for element in sorted(self.children, key=rank):
            yield from self.children[element].paths((*prefix, element))

    def encoded(self) -> dict[str, Any]:
        """Write the set as ``FieldsV1``."""
        if not self.children:
            return _encoded_names(self.members)
        written: dict[str, Any] = {}
        for element in _sorted(self.members | self.children.keys()):
            inner = self.children[element].encoded() if element in self.children else {}
            both = inner and element in self.members
            written[element] = {SELF: {}, **inner} if both else inner
        return written


EMPTY: Final = FieldSet()


def _put(children: dict[str, FieldSet], element: str, node: FieldSet) -> None:
    """Replace a child; one that is empty goes."""
    if node:
        children[element] = node
    else:
        del children[element]


@lru_cache(maxsize=1024)
def _encoded_names(members: frozenset[str]) -> dict[str, Any]:
    """Write what leads no further; thousands of objects with the same keys share it."""
    return {element: {} for element in _sorted(members)}


def _sorted(elements: Iterable[str]) -> list[str]:
    written = sorted(elements)
    # Names of fields come first, are in order as they are, and are mostly all that there is.
    return written if not written or written[-1][0] == "f" else sorted(written, key=rank)


def _tidy(members: frozenset[str], children: Mapping[str, FieldSet]) -> FieldSet:
    return FieldSet(members, {element: node for element, node in children.items() if node})


def decoded(written: Any) -> FieldSet:
    """Read ``FieldsV1``; elements of a kind that is not known are left out."""
    if written is None:
        return EMPTY
    try:
        found, _ = _decoded(written)
    except RecursionError:
        raise DecodeError(TOO_DEEP) from None
    return found


def _decoded(written: Any) -> tuple[FieldSet, bool]:
    if not isinstance(written, dict):
        raise DecodeError("a field set is made of objects")
    members: set[str] = set()
    children: dict[str, FieldSet] = {}
    is_member = False
    for text, inner in written.items():
        if text == SELF:
            is_member = True
            continue
        element = _read_element(text)
        if element is None:
            continue
        child, belongs = _decoded(inner)
        if belongs:
            members.add(element)
        if child:
            children[element] = child
    found = FieldSet(frozenset(members), children)
    return found, is_member or not found


def _read_element(text: str) -> str | None:
    if len(text) < 2:
        raise DecodeError("key must be 2 characters long:")
    kind, colon, content = text[0], text[1], text[2:]
    if colon != ":":
        raise DecodeError(f"missing colon: {text}")
    try:
        match kind:
            case "f":
                return text
            case "k":
                return key_element(json.loads(content))
            case "v":
                return value_element(json.loads(content))
            case "i":
                return index_element(int(content))
            case _:
                return None
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise DecodeError(f"parsing key as path element: {text}") from None


@lru_cache(maxsize=8192)
def rank(element: str) -> tuple[Any, ...]:
    """Give the sort key of an element: names, then keys, then values, then places."""
    kind, content = element[0], element[2:]
    match kind:
        case "f":
            return (0, content)
        case "k":
            keys = json.loads(content)
            return (1, tuple((name, *_value_rank(keys[name])) for name in sorted(keys)))
        case "v":
            return (2, *_value_rank(json.loads(content)))
        case _:
            return (3, int(content))


def _value_rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return (2, value)
    for kind, place in _RANKS:
        if isinstance(value, kind):
            return (place, value)
    return (3, json.dumps(value, sort_keys=True))


class _Growing:
    """A set while it is being made."""

    __slots__ = ("children", "members")

    def __init__(self) -> None:
        self.members: set[str] = set()
        self.children: dict[str, _Growing] = {}

    def insert(self, path: Path) -> None:
        node = self
        for element in path[:-1]:
            node = node.children.setdefault(element, _Growing())
        node.members.add(path[-1])

    def grown(self) -> FieldSet:
        return FieldSet(
            frozenset(self.members),
            {element: node.grown() for element, node in self.children.items()},
        )
