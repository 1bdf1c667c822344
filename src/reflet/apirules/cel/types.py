"""The types of expressions, and which of them fit together.

Upstream: cel-go/checker/types.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Type:
    """A type: ``int``, ``list`` of something, an object with fields, or a variable for one.

    Objects are told apart by name, so ``fields`` take no part in comparisons.
    """

    kind: str
    parameters: tuple[Type, ...] = ()
    name: str = ""
    fields: Mapping[str, Type] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        if self.kind in {"object", "variable"}:
            return self.name
        shown = _SHOWN.get(self.kind, self.kind)
        if not self.parameters:
            return shown
        return f"{shown}({', '.join(map(str, self.parameters))})"


_SHOWN: Final[Mapping[str, str]] = {
    "optional": "optional_type",
    "timestamp": "timestamp",
    "error": "!error!",
    "url": "kubernetes.URL",
    "ip": "net.IP",
    "cidr": "net.CIDR",
    "quantity": "kubernetes.Quantity",
    "semver": "kubernetes.Semver",
    "format": "kubernetes.NamedFormat",
}
OPAQUE: Final = frozenset({"url", "ip", "cidr", "quantity", "semver", "format", "optional"})
_NULLABLE: Final = OPAQUE | {"object", "null", "timestamp", "duration"}
_COMPOUND: Final = frozenset({"list", "map", "optional", "type"})

BOOL: Final = Type("bool")
INT: Final = Type("int")
UINT: Final = Type("uint")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
BYTES: Final = Type("bytes")
NULL: Final = Type("null")
DYN: Final = Type("dyn")
ERROR: Final = Type("error")
TIMESTAMP: Final = Type("timestamp")
DURATION: Final = Type("duration")


def list_of(item: Type) -> Type:
    """Give the type of lists of that."""
    return Type("list", (item,))


def map_of(key: Type, value: Type) -> Type:
    """Give the type of maps."""
    return Type("map", (key, value))


def optional_of(inner: Type) -> Type:
    """Give the type of what may be there."""
    return Type("optional", (inner,))


def is_free(kind: str) -> bool:
    """Whether anything goes with this kind."""
    return kind in {"dyn", "error"}


class Inference:
    """What is known so far of the type variables of one expression."""

    def __init__(self) -> None:
        self._known: dict[Type, Type] = {}
        self._made = 0

    def variable(self) -> Type:
        """Make a variable for a type that is not known yet."""
        self._made += 1
        return Type("variable", name=f"_var{self._made}")

    def assignable(self, left: Sequence[Type], right: Sequence[Type]) -> bool:
        """Tell whether the types fit one by one, and remember what follows if they do."""
        before = dict(self._known)
        if len(left) == len(right) and all(map(self._fits, left, right)):
            return True
        self._known = before
        return False

    def resolved(self, kind: Type, *, final: bool = False) -> Type:
        """Put what is known in the place of variables; ``final`` makes the rest dynamic."""
        known = self._known.get(kind)
        if known is not None:
            return self.resolved(known, final=final)
        if kind.kind == "variable":
            return DYN if final else kind
        if kind.kind in _COMPOUND and kind.parameters:
            parts = tuple(self.resolved(each, final=final) for each in kind.parameters)
            return Type(kind.kind, parts)
        return kind

    def _fits(self, left: Type, right: Type) -> bool:
        if left == right:
            return True
        if right.kind == "variable":
            fits, was_known = self._substitutes(left, right)
            if fits or was_known:
                return fits
        if left.kind == "variable":
            return self._substitutes(right, left)[0]
        if is_free(left.kind) or is_free(right.kind):
            return True
        if left.kind == "null" or right.kind == "null":
            return (right if left.kind == "null" else left).kind in _NULLABLE
        if left.kind == "type":
            return right.kind == "type"
        if left.kind not in _COMPOUND:
            return False  # and not equal
        same = left.kind == right.kind and len(left.parameters) == len(right.parameters)
        return same and all(map(self._fits, left.parameters, right.parameters))

    def _substitutes(self, kind: Type, variable: Type) -> tuple[bool, bool]:
        known = self._known.get(variable)
        if known is None:
            if self._occurs(variable, kind):
                return False, False
            self._known[variable] = kind
            return True, False
        if known == kind:
            return True, True
        if not self._fits(kind, known):
            return False, True
        wider = kind if _is_wider(kind, known) else known
        if not self._occurs(variable, wider):
            self._known[variable] = wider
        return True, True

    def _occurs(self, variable: Type, within: Type) -> bool:
        if variable == within:
            return True
        if within.kind == "variable":
            known = self._known.get(within)
            return known is not None and self._occurs(variable, known)
        return any(self._occurs(variable, each) for each in within.parameters)


def wider(left: Type, right: Type) -> Type:
    """Give the more general of two types that fit together."""
    return left if _is_wider(left, right) else right


def _is_wider(left: Type, right: Type) -> bool:
    if left.kind in {"dyn", "variable"}:
        return True
    if right.kind in {"dyn", "variable"} or left.kind != right.kind:
        return False
    if left.kind in _COMPOUND and len(left.parameters) == len(right.parameters):
        return left.kind == "type" or all(map(_is_wider, left.parameters, right.parameters))
    return left == right
