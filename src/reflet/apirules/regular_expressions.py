"""Regular expressions of other people: patterns of schemas, and those in expressions.

They are written for Go's engine, whose time grows with the text and no faster.  With the library
``re2`` (the extra ``cel``) they are matched by its twin.  Without it Python's engine does it, as
far as a pattern means the same to it and the time can be borne.

Upstream: regexp/syntax/parse.go
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, Final, Protocol

from reflet.apirules.validation.pattern_costs import MOST_STEPS, refused_by_go, steps_of

# What the library says, and what Go says of the same.
_GO_WORDS: Final[Mapping[str, str]] = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid named capture group": "invalid named capture",
}
LONG_TEXT: Final = 256  # characters; what fields of ordinary objects do not exceed
_FOR_GO_ALONE: Final = "the pattern is not one of Python's: install reflet[cel]"
TOO_LONG: Final = "the pattern would take too long on long values: install reflet[cel]"


class MalformedExpression(ValueError):
    """Go refuses the pattern; the message is Go's, as far as it is known."""


class Unbearable(ValueError):
    """The pattern cannot be tried here: for want of an engine, or of time."""


class Matcher(Protocol):
    """A pattern that can be looked for.  Raises Unbearable where that would take too long."""

    def work(self, text: str, /) -> int:
        """Give the steps that it can take; none where time grows with the text alone."""
        ...

    def is_in(self, text: str, /) -> bool:
        """Tell whether the pattern is found."""
        ...

    def all_in(self, text: str, most: int, /) -> list[str]:
        """Give the places that match, at most so many; all of them if that is negative."""
        ...


@cache
def linear_engine() -> ModuleType | None:
    """Give the library that matches in linear time, if it is installed."""
    try:
        import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - untyped; most see no pattern
    except ImportError:
        return None
    library: ModuleType = re2
    return library


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Matcher:
    """Read a pattern.  Raises MalformedExpression for what Go refuses."""
    library = linear_engine()
    if library is None:
        return _with_python(pattern)
    options = library.Options()
    options.log_errors = False
    try:
        return _Linear(library.compile(pattern, options=options))
    except library.error as error:
        raise MalformedExpression(_in_go_words(error, pattern)) from None


def why_not_enforced(pattern: str) -> str:
    """Say why a pattern is not always looked for here; empty if it is."""
    try:
        compiled(pattern).is_in("a" * LONG_TEXT)
    except MalformedExpression:
        return ""
    except Unbearable as reason:
        return str(reason)
    return ""


def _in_go_words(error: Exception, pattern: str) -> str:
    said = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    what, colon, where = text.partition(": ")
    if what == "invalid perl operator":
        return _unsupported(where, pattern)
    shown = f": `{where}`" if colon else ""
    return f"error parsing regexp: {_GO_WORDS.get(what, what)}{shown}"


def _unsupported(sign: str, pattern: str) -> str:
    if sign in {"(?<=", "(?<!"}:  # Go takes it for the beginning of a name
        return f"error parsing regexp: invalid named capture: `{pattern[pattern.find(sign) :]}`"
    return f"error parsing regexp: invalid or unsupported Perl syntax: `{sign}`"


class _Linear:
    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern

    def work(self, _text: str) -> int:
        return 0

    def is_in(self, text: str) -> bool:
        try:
            return self._pattern.search(text) is not None
        except UnicodeEncodeError:  # half a character, as JSON can have it
            return self._pattern.search(text.encode("utf-8", "replace").decode()) is not None

    def all_in(self, text: str, most: int) -> list[str]:
        return list(_first(self._pattern.finditer(text), most))


class _Python:
    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    def work(self, text: str) -> int:
        return steps_of(self._pattern.pattern, len(text))

    def is_in(self, text: str) -> bool:
        self._check(text)
        return self._pattern.search(text) is not None

    def all_in(self, text: str, most: int) -> list[str]:
        self._check(text)
        return list(_first(self._pattern.finditer(text), most))

    def _check(self, text: str) -> None:
        if self.work(text) > MOST_STEPS:
            raise Unbearable(TOO_LONG)


class _Unreadable:
    def work(self, _text: str) -> int:
        return 0

    def is_in(self, _text: str) -> bool:
        raise Unbearable(_FOR_GO_ALONE)

    def all_in(self, _text: str, _most: int) -> list[str]:
        raise Unbearable(_FOR_GO_ALONE)


def _first(found: Iterator[Any], most: int) -> Iterator[str]:
    for count, each in enumerate(found):
        if 0 <= most <= count:
            return
        yield each.group()


def _with_python(pattern: str) -> Matcher:
    try:
        made = re.compile(pattern.replace(r"\z", r"\Z"), re.ASCII)
    except (re.error, RecursionError, OverflowError):
        return _Unreadable()
    wrong = refused_by_go(made.pattern)
    if wrong:
        raise MalformedExpression(_unsupported(wrong, pattern))
    return _Python(made)
