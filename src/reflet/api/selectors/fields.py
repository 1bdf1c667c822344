r"""Field selectors: their text, and which fields they match.

The grammar of Kubernetes 1.36 with its escapes (``\\``, ``\,`` and ``\=`` in values), the
canonical text, and matching.  A selector is a value: it can be compared, hashed, combined and
shared.  Which fields a resource can be selected by is the server's business.

Upstream: apimachinery/pkg/fields/selector.go, ParseSelector
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from reflet.errors import ParseError
from reflet.gotext.quoting import excerpt

LONGEST_QUOTE: Final = 120  # characters of a malformed selector that a message repeats

_NEEDS_ESCAPE: Final = re.compile(r"[\\,=]")
# A backslash protects the next character, whatever it is, from ending a term.
_TERM: Final = re.compile(r"(?:[^\\,]|\\.?)+", re.DOTALL)
_OPERATOR: Final = re.compile(r"!=|==|=")
_VALUE_PIECE: Final = re.compile(r"[^\\,=]+|\\[\\,=]")
# What can stand before an operator and be found there again: no '=', commas only protected.
_FIELD: Final = re.compile(r"(?:[^\\,=]|\\[^=])*\\?", re.DOTALL)


def _quoted(text: str) -> str:
    return excerpt(text, LONGEST_QUOTE)


def escape(value: str) -> str:
    r"""Write a value so that the parser reads it back: ``\\``, ``,`` and ``=`` get a backslash."""
    return _NEEDS_ESCAPE.sub(r"\\\g<0>", value)


class FieldRequirement(msgspec.Struct, frozen=True, gc=False):
    """One condition on one field: it has the value, or, when negated, any other.

    A field name that could not be written as text raises ParseError when it is used.
    """

    field: str
    value: str
    negated: bool = False

    def __post_init__(self) -> None:
        if not _FIELD.fullmatch(self.field) or (self.field.endswith("!") and not self.negated):
            raise ParseError(
                f"field selector: field {_quoted(self.field)} cannot be selected by; "
                "expected a name without '=' and ',' and not ending in '!'"
            )

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether the fields fulfil this; an absent field has the empty value."""
        return (fields.get(self.field, "") == self.value) is not self.negated

    def __str__(self) -> str:
        return f"{self.field}{'!=' if self.negated else '='}{escape(self.value)}"


class FieldSelector(msgspec.Struct, frozen=True, gc=False):
    """A condition on an object's fields: all of its requirements, ordered by their text.

    ``str()`` is the canonical text and parses to an equal selector, with one exception:
    ``nothing()`` has no text, so its ``str()`` is empty and must not be sent.
    """

    requirements: tuple[FieldRequirement, ...] = ()
    selects_nothing: bool = False

    def __post_init__(self) -> None:
        # Kubernetes drops a term without field and value instead of matching with it.
        kept = [item for item in self.requirements if item.field or item.value]
        if len(kept) > 1:
            kept.sort(key=str)
        ordered = () if self.selects_nothing else tuple(kept)
        if ordered != self.requirements:
            msgspec.structs.force_setattr(self, "requirements", ordered)

    @classmethod
    def parse(cls, text: str) -> FieldSelector:
        """Read a selector such as ``metadata.name=web,status.phase!=Failed``.

        Raises ParseError with the place and what was expected there.
        """
        return cls(tuple(_requirements(text)))

    @classmethod
    def everything(cls) -> FieldSelector:
        """Give the selector without requirements, which matches every object."""
        return cls()

    @classmethod
    def nothing(cls) -> FieldSelector:
        """Give the selector that matches no object."""
        return cls(selects_nothing=True)

    @classmethod
    def one_object(cls, name: str) -> FieldSelector:
        """Give the selector for the object of this name: ``metadata.name=<name>``.

        - *name*: name of the object
        """
        return cls((FieldRequirement("metadata.name", name),))

    @property
    def selects_everything(self) -> bool:
        """Whether no object can be left out."""
        return not self.requirements and not self.selects_nothing

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether an object with these fields is selected.

        - *fields*: values by field path, such as ``metadata.name``
        """
        for requirement in self.requirements:
            if not requirement.matches(fields):
                return False
        return not self.selects_nothing

    def requires_exact_match(self, field: str) -> str | None:
        """Give the one value that the field must have, or None when several would do.

        - *field*: field path, such as ``metadata.name``
        """
        for requirement in self.requirements:
            if requirement.field == field and not requirement.negated:
                return requirement.value
        return None

    def adding(self, *requirements: FieldRequirement) -> FieldSelector:
        """Give a selector that demands these too; nothing stays nothing.

        - *requirements*: what is demanded besides
        """
        return FieldSelector(self.requirements + requirements, self.selects_nothing)

    def __and__(self, other: FieldSelector) -> FieldSelector:
        return FieldSelector(
            self.requirements + other.requirements, self.selects_nothing or other.selects_nothing
        )

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


def _requirements(text: str) -> Iterator[FieldRequirement]:
    for term in _TERM.finditer(text):
        operator = _OPERATOR.search(text, term.start(), term.end())
        if operator is None:
            raise _malformed(text, term.start(), f"{_quoted(term[0])} lacks one of '=' '==' '!='")
        value = _value(text, operator.end(), term.end())
        yield FieldRequirement(text[term.start() : operator.start()], value, operator[0] == "!=")


def _value(text: str, start: int, end: int) -> str:
    pieces = []
    while start < end:
        piece = _VALUE_PIECE.match(text, start, end)
        if piece is None:
            raise _malformed(text, start, _problem_in_value(text[start:end]))
        pieces.append(piece[0].removeprefix("\\"))
        start = piece.end()
    return "".join(pieces)


def _problem_in_value(rest: str) -> str:
    if rest.startswith("\\"):
        return f"found {_quoted(rest[:2])}, expected one of the escapes \\\\ \\, \\="
    return f"found {_quoted(rest[0])} inside a value, expected it escaped as \\{rest[0]}"


def _malformed(text: str, position: int, problem: str) -> ParseError:
    return ParseError(f"field selector {_quoted(text)}, position {position}: {problem}")
