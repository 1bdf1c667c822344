"""What an expression says, as a tree; ``at`` is the place in the text that messages point to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written out."""

    value: Any
    at: int


@dataclass(frozen=True, slots=True)
class Identifier:
    """The name of a variable, a type, or the beginning of a function's name."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Select:
    """A field of something; ``is_test`` asks whether it is there, ``is_optional`` is ``.?``."""

    operand: Node
    field: str
    at: int
    is_test: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function with arguments, of a target or not; operators are calls too."""

    function: str
    target: Node | None
    arguments: tuple[Node, ...]
    at: int


@dataclass(frozen=True, slots=True)
class LiteralEntry:
    """An item of a list or a pair of a map that is written out; ``?`` makes it optional."""

    key: Node | None
    value: Node
    is_optional: bool


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """A list that is written out."""

    entries: tuple[LiteralEntry, ...]
    at: int


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """A map that is written out."""

    entries: tuple[LiteralEntry, ...]
    at: int


@dataclass(frozen=True, slots=True)
class MessageLiteral:
    """A message that is written out by the name of its type; there are none in schemas."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Macro:
    """Something done with each item of a range, or with what is in an optional value."""

    name: str
    operand: Node
    variables: tuple[str, ...]
    arguments: tuple[Node, ...]
    at: int


Node = (
    Literal | Identifier | Select | FunctionCall | ListLiteral | MapLiteral | MessageLiteral | Macro
)


def qualified_name(node: Node) -> str | None:
    """Give ``a.b.c`` of a chain of fields that begins with a name, or None."""
    if isinstance(node, Identifier):
        return node.name
    if isinstance(node, Select) and not node.is_test and not node.is_optional:
        start = qualified_name(node.operand)
        return None if start is None else f"{start}.{node.field}"
    return None
