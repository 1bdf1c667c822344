"""What a reader of YAML allows, and the words in which it complains and warns."""

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

import msgspec

from reflet.api import field_path
from reflet.errors import DecodeError


class YamlProblem(Enum):
    """What can be wrong with a text that has YAML's syntax.  The comments name the details."""

    NOT_A_KEY = auto()  # what it is instead, as a type of Python
    REPEATED_KEY = auto()  # the key
    TOO_DEEP = auto()
    NOT_A_JSON_NUMBER = auto()  # the word
    NOT_BASE64 = auto()
    WRONG_TAG = auto()  # the tag, the tag it should be, the word
    NOT_MERGEABLE = auto()
    UNKNOWN_ANCHOR = auto()  # the anchor
    CONTAINS_ITSELF = auto()  # the anchor
    TOO_MANY_ALIASES = auto()
    INCOMPATIBLE = auto()


class YamlWarning(msgspec.Struct, frozen=True, gc=False):
    r"""What Kubernetes reads although its author hardly meant it, and its line.

    ``kind`` tells a key that is there twice from ``\'`` in double quotes; ``items`` are the
    positions that lead through the items of lists to the object it is in.
    """

    line: int
    message: str
    kind: Literal["repeated key", "escape"]
    items: tuple[int, ...] = ()


class Dialect(Protocol):
    """What one kind of reader allows, and the words in which it complains."""

    @property
    def deepest(self) -> int:
        """How many levels a document may have."""

    @property
    def repeated_keys(self) -> bool:
        """Whether a key may be there twice; the last one counts then, and a warning tells."""

    @property
    def binary_errors(self) -> str:
        """What becomes of ``!!binary`` that is no text: ``strict`` or ``replace``."""

    def complaint(self, problem: YamlProblem, line: int, *details: Any) -> DecodeError:
        """Say what is wrong; without repeating values, which may be secret, unless it must."""

    def syntax_complaint(self, error: Any, text: str) -> DecodeError:
        """Say what the parser stumbled over; *error* is its ``YAMLError``."""


class ManifestDialect:
    """YAML that people write: every message begins with file and line."""

    deepest = 300  # Kubernetes' own objects stay below 30
    binary_errors = "strict"

    def __init__(self, source: str, *, repeated_keys: bool = False) -> None:
        self.repeated_keys = repeated_keys
        self._source = source

    def complaint(self, problem: YamlProblem, line: int, *details: Any) -> DecodeError:
        """Return the error, with the place."""
        if problem is YamlProblem.REPEATED_KEY:
            details = (quoted_key(details[0]),)
        return DecodeError(f"{self._source}:{line}: {_WORDS[problem].format(*details)}")

    def syntax_complaint(self, error: Any, text: str) -> DecodeError:
        """Return the error, with the place."""
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        position = getattr(error, "position", None)
        if mark is not None:
            # What is missing at the end is missed on the line after it.
            line = min(mark.line + 1, max(len(text.splitlines()), 1))
        else:
            line = text.count("\n", 0, position) + 1 if isinstance(position, int) else 1
        return DecodeError(f"{self._source}:{line}: {problem}")


_WORDS: Final[Mapping[YamlProblem, str]] = MappingProxyType(
    {
        YamlProblem.NOT_A_KEY: "a key must be text, a number or a boolean",
        YamlProblem.REPEATED_KEY: "the key {0} is there twice",
        YamlProblem.TOO_DEEP: "nested too deeply",
        YamlProblem.NOT_A_JSON_NUMBER: "{0} is not a number that JSON has",
        YamlProblem.NOT_BASE64: "!!binary that is not base64 of text",
        YamlProblem.WRONG_TAG: "a value that is no {0} is marked as !!{0}",
        YamlProblem.NOT_MERGEABLE: "only mappings can be merged with <<",
        # Not the name: it may be a password that lacks its quotes.
        YamlProblem.UNKNOWN_ANCHOR: (
            "an alias names no anchor: a text that begins with * needs quotes"
        ),
        YamlProblem.CONTAINS_ITSELF: "a value that contains itself",
        YamlProblem.TOO_MANY_ALIASES: "aliases make this too large",
        YamlProblem.INCOMPATIBLE: "Kubernetes reads YAML 1.1, and no document that says otherwise",
    }
)


def repeated_key(line: int, key: str, items: tuple[int, ...]) -> YamlWarning:
    """Return the warning about a key that is there once more."""
    message = f"the key {quoted_key(key)} is there twice; the last one counts"
    return YamlWarning(line, message, "repeated key", items)


def quote_escape(line: int, items: tuple[int, ...]) -> YamlWarning:
    r"""Return the warning about ``\'`` in double quotes."""
    message = r"\' in double quotes is not YAML, and is read as '; write ' alone"
    return YamlWarning(line, message, "escape", items)


def quoted_key(key: str) -> str:
    """Return a key in quotes, as one printable line."""
    return field_path.with_key("", key)[1:-1]
