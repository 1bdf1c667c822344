"""YAML text becomes plain values that remember their lines: the one reader for everybody.

Documents, anchors, merge keys, duplicate keys and the bounds against hostile text are the same
for manifests and for what the development server is sent; how much is allowed and in which words
a mistake is told is the :class:`Dialect`.  What a plain word means is in scalars.py.

The C parser is used for events only and values are built here without recursion: its own
builder overflows the stack on deep nesting, and keeps no count of what aliases multiply.

Upstream: sigs.k8s.io/yaml/yaml.go; go.yaml.in/yaml/v2/decode.go
"""

import base64
import math
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Any, Final, Protocol

from reflet.api import field_path
from reflet.api.yaml.scalars import Scalar, key_text, resolved
from reflet.errors import DecodeError

LARGEST_SURPLUS: Final = 100_000  # values that aliases may add to a file
LETTERS_PER_VALUE: Final = 32  # so much text counts as one more value
_TAGS: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}


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


class Dialect(Protocol):
    """What one kind of reader allows, and the words in which it complains."""

    @property
    def deepest(self) -> int:
        """How many levels a document may have."""

    @property
    def repeated_keys(self) -> bool:
        """Whether a key may be there twice; the last one counts then."""

    @property
    def binary_errors(self) -> str:
        """What becomes of ``!!binary`` that is no text: ``strict`` or ``replace``."""

    def complaint(self, problem: YamlProblem, line: int, *details: Any) -> DecodeError:
        """Say what is wrong; without repeating values, which may be secret, unless it must."""

    def syntax_complaint(self, error: Any, text: str) -> DecodeError:
        """Say what the parser stumbled over; *error* is its ``YAMLError``."""


class ManifestDialect:
    """YAML that people write: nothing twice, and every message begins with file and line."""

    deepest = 300  # Kubernetes' own objects stay below 30
    repeated_keys = False
    binary_errors = "strict"

    def __init__(self, source: str) -> None:
        self._source = source

    def complaint(self, problem: YamlProblem, line: int, *details: Any) -> DecodeError:
        """Return the error, with the place."""
        if problem is YamlProblem.REPEATED_KEY:
            details = (field_path.with_key("", details[0])[1:-1],)
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
    }
)


class YamlNode:
    """A value, the line it starts on, and the nodes of its parts."""

    __slots__ = ("depth", "line", "parts", "size", "value")

    def __init__(
        self, value: Any, line: int, parts: "dict[str, YamlNode] | list[YamlNode] | None"
    ) -> None:
        inner = list(parts.values()) if isinstance(parts, dict) else parts or []
        self.value = value
        self.line = line
        self.parts = parts
        self.size: int = 1 + sum(part.size for part in inner)
        self.depth: int = 1 + max((part.depth for part in inner), default=0)
        if isinstance(value, str):
            self.size += len(value) // LETTERS_PER_VALUE

    def line_of(self, path: str) -> int:
        """Return the line of a place inside, or of the nearest thing around it that is there."""
        node = self
        for step in field_path.steps(path):
            inner = node._part(step)
            if inner is None:
                break
            node = inner
        return node.line

    def _part(self, step: str | int) -> "YamlNode | None":
        if isinstance(self.parts, dict) and isinstance(step, str):
            return self.parts.get(step)
        if isinstance(self.parts, list) and isinstance(step, int) and step < len(self.parts):
            return self.parts[step]
        return None


class _Frame:
    """A sequence or mapping that is not complete yet."""

    __slots__ = ("anchor", "is_mapping", "key", "line", "members", "merged", "nodes")

    def __init__(self, line: int, anchor: str | None, *, is_mapping: bool) -> None:
        self.line = line
        self.anchor = anchor
        self.is_mapping = is_mapping
        self.key: str | None = None
        self.members: dict[str, YamlNode] = {}
        self.merged: list[YamlNode] = []
        self.nodes: list[YamlNode] = []


_MERGE: Final = "<<"
# Keys are marked, so that a quoted "<<" stays an ordinary key.
_MERGE_MARK: Final = "m"


def documents(text: str, dialect: Dialect) -> Iterator[YamlNode]:
    """Yield the documents of YAML text, each as soon as it is complete."""
    # A parser that most programs never need.
    import yaml  # noqa: PLC0415

    builder = _Builder(dialect)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event, type(event).__name__)
            if builder.finished is not None:
                yield builder.finished
                builder.finished = None
    except yaml.YAMLError as error:
        # Unchained: the original error quotes the text, which may be secret.
        raise dialect.syntax_complaint(error, text) from None
    except RecursionError as error:
        raise dialect.complaint(YamlProblem.TOO_DEEP, 1) from error


class _Builder:
    """Puts events together."""

    def __init__(self, dialect: Dialect) -> None:
        self.finished: YamlNode | None = None
        self._dialect = dialect
        self._complaint = dialect.complaint
        self._frames: list[_Frame] = []
        self._anchors: dict[str, YamlNode | None] = {}
        self._surplus = 0

    def take(self, event: Any, name: str) -> None:
        """Take one event of the parser."""
        line = event.start_mark.line + 1
        if name == "ScalarEvent":
            self._scalar(event, line)
        elif name in {"MappingStartEvent", "SequenceStartEvent"}:
            self._start(event, line, is_mapping=name == "MappingStartEvent")
        elif name in {"MappingEndEvent", "SequenceEndEvent"}:
            self._end()
        elif name == "AliasEvent":
            self._alias(event.anchor, line)
        elif name == "DocumentStartEvent":
            self._anchors.clear()

    def _scalar(self, event: Any, line: int) -> None:
        plain = event.implicit[0]
        value: Scalar = self._tagged(event, line) if event.tag else str(event.value)
        if plain and event.tag in {None, "!"}:
            value = resolved(event.value)
        if self._expects_key():
            is_merge = plain and event.value == _MERGE
            if is_merge:
                self._frames[-1].key = _MERGE_MARK
            else:
                self._key(value, line)
            if event.anchor:
                self._anchors[event.anchor] = YamlNode(value, line, None)
            return
        if isinstance(value, float) and not math.isfinite(value):
            raise self._complaint(YamlProblem.NOT_A_JSON_NUMBER, line, event.value)
        self._add(YamlNode(value, line, None), event.anchor)

    def _tagged(self, event: Any, line: int) -> Scalar:
        tag = event.tag.removeprefix(_TAGS)
        if tag == "binary":
            try:
                decoded = base64.b64decode("".join(event.value.split()), validate=True)
                return decoded.decode("utf-8", self._dialect.binary_errors)
            except ValueError:
                raise self._complaint(YamlProblem.NOT_BASE64, line) from None
        if tag not in _TYPES:
            return str(event.value)
        value: Scalar = resolved(str(event.value))
        if type(value) not in _TYPES[tag]:
            raise self._complaint(YamlProblem.WRONG_TAG, line, tag, _tag_of(value), event.value)
        return value

    def _expects_key(self) -> bool:
        return bool(self._frames) and self._frames[-1].is_mapping and self._frames[-1].key is None

    def _key(self, value: Any, line: int) -> None:
        frame = self._frames[-1]
        key = None if isinstance(value, dict | list) else key_text(value)
        if key is None:
            raise self._complaint(YamlProblem.NOT_A_KEY, line, type(value))
        if key in frame.members and not self._dialect.repeated_keys:
            raise self._complaint(YamlProblem.REPEATED_KEY, line, key)
        frame.key = f"k{key}"

    def _start(self, event: Any, line: int, *, is_mapping: bool) -> None:
        if self._expects_key():
            raise self._complaint(YamlProblem.NOT_A_KEY, line, dict if is_mapping else list)
        if len(self._frames) >= self._dialect.deepest:
            raise self._complaint(YamlProblem.TOO_DEEP, line)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._frames.append(_Frame(line, event.anchor, is_mapping=is_mapping))

    def _end(self) -> None:
        frame = self._frames.pop()
        if not frame.is_mapping:
            node = YamlNode([part.value for part in frame.nodes], frame.line, frame.nodes)
        else:
            members = self._merged(frame) if frame.merged else frame.members
            node = YamlNode({key: part.value for key, part in members.items()}, frame.line, members)
        if len(self._frames) + node.depth > self._dialect.deepest + 1:
            raise self._complaint(YamlProblem.TOO_DEEP, frame.line)
        self._add(node, frame.anchor)

    def _merged(self, frame: _Frame) -> dict[str, YamlNode]:
        members: dict[str, YamlNode] = {}
        for source in frame.merged:
            for each in source.parts if isinstance(source.parts, list) else [source]:
                if not isinstance(each.parts, dict):
                    raise self._complaint(YamlProblem.NOT_MERGEABLE, source.line)
                members = each.parts | members
        return members | frame.members

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            raise self._complaint(YamlProblem.UNKNOWN_ANCHOR, line, anchor)
        node = self._anchors[anchor]
        if node is None:
            raise self._complaint(YamlProblem.CONTAINS_ITSELF, line, anchor)
        if self._expects_key():
            self._key(node.value, line)
            return
        self._surplus += node.size
        if self._surplus > LARGEST_SURPLUS:
            raise self._complaint(YamlProblem.TOO_MANY_ALIASES, line)
        self._add(node, None)

    def _add(self, node: YamlNode, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = node
        if not self._frames:
            self.finished = node
            return
        frame = self._frames[-1]
        if not frame.is_mapping:
            frame.nodes.append(node)
        elif frame.key == _MERGE_MARK:
            frame.merged.append(node)
            frame.key = None
        elif frame.key is not None:
            frame.members[frame.key[1:]] = node
            frame.key = None


def _tag_of(value: Scalar) -> str:
    return next((tag for tag, types in _TYPES.items() if type(value) in types), "str")
