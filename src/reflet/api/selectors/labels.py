"""Label selectors: their text, and which labels they match.

The grammar of Kubernetes 1.36, the rules for keys and values, the canonical text, and matching.
A selector is a value: it can be compared, hashed, combined and shared.  ``LabelSelector`` is Go's
labels.Selector; the struct form that workloads carry, metav1.LabelSelector, is in ``meta``.

Upstream: apimachinery/pkg/labels/selector.go, Parse, Requirement
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, assert_never, final

import msgspec

from reflet.errors import ParseError
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.quoting import excerpt

LONGEST_NAME: Final = 63  # characters of a label value, and of a label key after its prefix
LONGEST_PREFIX: Final = 253  # characters of a label key's prefix
LONGEST_QUOTE: Final = 120  # characters of a malformed selector that a message repeats

_INT64: Final = range(-(2**63), 2**63)
_INTEGER: Final = lazy_pattern(r"[+-]?[0-9]+")
_NAME: Final = lazy_pattern(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_SUBDOMAIN: Final = lazy_pattern(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME_RULE: Final = (
    "letters, digits, '-', '_' and '.', beginning and ending with a letter or a digit, "
    f"at most {LONGEST_NAME} characters"
)
_PREFIX_RULE: Final = (
    "lower case letters, digits, '-' and '.', each part beginning and ending with a letter or "
    f"a digit, at most {LONGEST_PREFIX} characters"
)


def _quoted(text: str) -> str:
    return excerpt(text, LONGEST_QUOTE)


@final
class Operator(enum.Enum):
    """How a label requirement compares; the value is the operator's text."""

    IN = "in"
    NOT_IN = "notin"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    GREATER_THAN = ">"
    LESS_THAN = "<"


_IN, _NOT_IN = Operator.IN, Operator.NOT_IN
_EQUALS, _DOUBLE_EQUALS, _NOT_EQUALS = (
    Operator.EQUALS,
    Operator.DOUBLE_EQUALS,
    Operator.NOT_EQUALS,
)
_EXISTS, _DOES_NOT_EXIST = Operator.EXISTS, Operator.DOES_NOT_EXIST
_GREATER_THAN, _LESS_THAN = Operator.GREATER_THAN, Operator.LESS_THAN

_BINARY_OPERATORS: Final[Mapping[str, Operator]] = {
    operator.value: operator
    for operator in Operator
    if operator is not _EXISTS and operator is not _DOES_NOT_EXIST
}
_STRUCT_OPERATORS: Final[Mapping[str, Operator]] = {
    "In": _IN,
    "NotIn": _NOT_IN,
    "Exists": _EXISTS,
    "DoesNotExist": _DOES_NOT_EXIST,
}


def check_label_key(key: str) -> None:
    """Raise ParseError unless ``key`` is a label key: a name with an optional DNS prefix."""
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= LONGEST_PREFIX and _SUBDOMAIN.fullmatch(prefix)):
        raise ParseError(
            f"label key {_quoted(key)}: the part before '/' must be a domain: {_PREFIX_RULE}"
        )
    if not (len(name) <= LONGEST_NAME and _NAME.fullmatch(name)):
        raise ParseError(f"label key {_quoted(key)}: the name must be {_NAME_RULE}")


def check_label_value(value: str) -> None:
    """Raise ParseError unless ``value`` is a label value: empty, or a name."""
    if value and not (len(value) <= LONGEST_NAME and _NAME.fullmatch(value)):
        raise ParseError(f"label value {_quoted(value)} must be empty or {_NAME_RULE}")


def _integer(text: str) -> int | None:
    # The length keeps hostile labels cheap; no 64-bit number with a sign needs more, but
    # leading zeros are legal, and a label value has at most 63 characters anyway.
    if len(text) > LONGEST_NAME + 1 or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if number in _INT64 else None


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One condition on one label; the values are kept sorted and without repetition.

    A requirement that could not be written as text raises ParseError when it is made.
    """

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_label_key(self.key)
        expected = self._values_expected_instead()
        if expected:
            found = _quoted(",".join(self.values)) if self.values else "none"
            raise ParseError(
                f"label {_quoted(self.key)}, operator {self.operator.value!r}: "
                f"expected {expected}, found {found}"
            )
        for value in self.values:
            check_label_value(value)
        if len(self.values) > 1:
            msgspec.structs.force_setattr(self, "values", tuple(sorted(set(self.values))))

    def _values_expected_instead(self) -> str:
        count = len(self.values)
        match self.operator:
            case Operator.EXISTS | Operator.DOES_NOT_EXIST:
                return "no value" if count else ""
            case Operator.IN | Operator.NOT_IN:
                return "" if count else "at least one value"
            case Operator.EQUALS | Operator.DOUBLE_EQUALS | Operator.NOT_EQUALS:
                return "" if count == 1 else "one value"
            case Operator.GREATER_THAN | Operator.LESS_THAN:
                is_bound = count == 1 and _integer(self.values[0]) is not None
                return "" if is_bound else "one 64-bit integer"
            case _:
                assert_never(self.operator)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels fulfil this; an absent label fulfils ``!=``, ``notin`` and ``!``."""
        operator = self.operator
        value = labels.get(self.key)
        if operator is _EQUALS or operator is _IN or operator is _DOUBLE_EQUALS:
            return value in self.values
        if operator is _NOT_EQUALS or operator is _NOT_IN:
            return value not in self.values
        if operator is _EXISTS:
            return value is not None
        if operator is _DOES_NOT_EXIST:
            return value is None
        number = None if value is None else _integer(value)
        if number is None:
            return False
        bound = int(self.values[0])
        return number > bound if operator is _GREATER_THAN else number < bound

    def __str__(self) -> str:
        operator = self.operator
        if operator is _EXISTS:
            return self.key
        if operator is _DOES_NOT_EXIST:
            return "!" + self.key
        if operator is _IN or operator is _NOT_IN:
            return f"{self.key} {operator.value} ({','.join(self.values)})"
        return f"{self.key}{operator.value}{self.values[0]}"


class MatchExpression(Protocol):
    """One entry of ``matchExpressions`` in the struct form of a selector."""

    @property
    def key(self) -> str:
        """The label's key."""

    @property
    def operator(self) -> str:
        """One of In, NotIn, Exists and DoesNotExist."""

    @property
    def values(self) -> Sequence[str]:
        """What In and NotIn compare with; empty for the others."""


class LabelSelector(msgspec.Struct, frozen=True, gc=False):
    """A condition on an object's labels: all of its requirements, ordered by key.

    ``str()`` is the canonical text and parses to an equal selector, with one exception:
    ``nothing()`` has no text, so its ``str()`` is empty and must not be sent.
    """

    requirements: tuple[Requirement, ...] = ()
    selects_nothing: bool = False

    def __post_init__(self) -> None:
        if self.selects_nothing:
            msgspec.structs.force_setattr(self, "requirements", ())
        elif len(self.requirements) > 1:
            by_key = tuple(sorted(self.requirements, key=lambda requirement: requirement.key))
            msgspec.structs.force_setattr(self, "requirements", by_key)

    @classmethod
    def parse(cls, text: str) -> LabelSelector:
        """Read a selector such as ``app=web,tier in (front,back),!legacy``.

        Raises ParseError with the place and what was expected there.
        """
        return cls(tuple(_LabelParser(text).requirements()))

    @classmethod
    def everything(cls) -> LabelSelector:
        """Give the selector without requirements, which matches every object."""
        return cls()

    @classmethod
    def nothing(cls) -> LabelSelector:
        """Give the selector that matches no object; an absent struct form means this one."""
        return cls(selects_nothing=True)

    @classmethod
    def from_label_selector(
        cls,
        match_labels: Mapping[str, str] | None = None,
        match_expressions: Iterable[MatchExpression] | None = None,
    ) -> LabelSelector:
        """Convert the struct form that workloads and policies carry; both empty is everything.

        - *match_labels*: labels and the values they must have; None is no demand
        - *match_expressions*: further demands; None is none
        """
        requirements = [
            Requirement(key, _EQUALS, (value,)) for key, value in (match_labels or {}).items()
        ]
        for expression in match_expressions or ():
            operator = _STRUCT_OPERATORS.get(expression.operator)
            if operator is None:
                raise ParseError(
                    f"label {_quoted(expression.key)}: operator {_quoted(expression.operator)} "
                    f"is not one of {', '.join(_STRUCT_OPERATORS)}"
                )
            requirements.append(Requirement(expression.key, operator, tuple(expression.values)))
        return cls(tuple(requirements))

    @property
    def selects_everything(self) -> bool:
        """Whether no object can be left out."""
        return not self.requirements and not self.selects_nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected.

        - *labels*: the labels of an object
        """
        for requirement in self.requirements:
            if not requirement.matches(labels):
                return False
        return not self.selects_nothing

    def adding(self, *requirements: Requirement) -> LabelSelector:
        """Give a selector that demands these too; nothing stays nothing.

        - *requirements*: what is demanded besides
        """
        return LabelSelector(self.requirements + requirements, self.selects_nothing)

    def __and__(self, other: LabelSelector) -> LabelSelector:
        return LabelSelector(
            self.requirements + other.requirements, self.selects_nothing or other.selects_nothing
        )

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


class _LabelToken(NamedTuple):
    text: str
    position: int
    is_word: bool = False


_TOKEN: Final = lazy_pattern(r"(!=|==|[=!(),<>])|([^ \t\r\n=!(),<>]+)")


class _LabelParser:
    """Reads one selector text from left to right.

    ``in`` and ``notin`` are words like any other, except where an operator must stand.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [
            _LabelToken(found[0], found.start(), found[2] is not None)
            for found in _TOKEN.finditer(text)
        ]
        self._tokens.append(_LabelToken("", len(text)))
        self._next = 0

    def requirements(self) -> Iterator[Requirement]:
        if len(self._tokens) == 1:
            return
        while True:
            yield self._requirement()
            token = self._take()
            if not token.text:
                return
            if token.text != ",":
                raise self._unexpected(token, "',' or the end")

    def _requirement(self) -> Requirement:
        key = self._take()
        is_absent = key.text == "!"
        if is_absent:
            key = self._take()
        if not key.is_word:
            raise self._unexpected(key, "a label key" if is_absent else "a label key or '!'")
        values: tuple[str, ...] = ()
        if is_absent:
            operator = _DOES_NOT_EXIST
        elif self._tokens[self._next].text in {"", ","}:
            operator = _EXISTS
        else:
            operator = self._operator()
            takes_list = operator is _IN or operator is _NOT_IN
            values = self._value_list() if takes_list else (self._value(),)
        try:
            return Requirement(key.text, operator, values)
        except ParseError as error:
            raise self._malformed(key.position, str(error)) from error

    def _operator(self) -> Operator:
        token = self._take()
        operator = _BINARY_OPERATORS.get(token.text)
        if operator is None:
            raise self._unexpected(token, f"one of {' '.join(_BINARY_OPERATORS)} ',' or the end")
        return operator

    def _value(self) -> str:
        if self._tokens[self._next].text in {"", ","}:
            return ""
        token = self._take()
        if not token.is_word:
            raise self._unexpected(token, "a value, ',' or the end")
        return token.text

    def _value_list(self) -> tuple[str, ...]:
        token = self._take()
        if token.text != "(":
            raise self._unexpected(token, "'('")
        values = []
        while token.text != ")":
            expected = "',' or ')'"
            token = self._take()
            if token.is_word:
                values.append(token.text)
                token = self._take()
            else:
                values.append("")
                expected = "a value, ',' or ')'"
            if token.text not in {",", ")"}:
                raise self._unexpected(token, expected)
        return tuple(values)

    def _take(self) -> _LabelToken:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _unexpected(self, token: _LabelToken, expected: str) -> ParseError:
        found = _quoted(token.text) if token.text else "the end"
        return self._malformed(token.position, f"found {found}, expected {expected}")

    def _malformed(self, position: int, problem: str) -> ParseError:
        return ParseError(f"label selector {_quoted(self._text)}, position {position}: {problem}")
