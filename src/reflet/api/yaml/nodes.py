"""YAML text becomes plain values that remember their lines.

Owns: documents, anchors, merge keys, duplicate keys, and the bounds against hostile text.
Must not know kinds, nor what a plain word means: yaml_scalars.py.

The C parser is used for events only and values are built here without recursion: its own
builder overflows the stack on deep nesting, and keeps no count of what aliases multiply.
"""

import base64
import math
from collections.abc import Iterator
from typing import Any, Final

from reflet.api import field_path
from reflet.api.yaml.scalars import Scalar, key_text, resolved
from reflet.errors import DecodeError

DEEPEST: Final = 300  # levels; Kubernetes' own objects stay below 30
LARGEST_SURPLUS: Final = 100_000  # values that aliases may add to a file
LETTERS_PER_VALUE: Final = 32  # so much text counts as one more value
_TAGS: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}


class Node:
    """A value, the line it starts on, and the nodes of its parts."""

    __slots__ = ("depth", "line", "parts", "size", "value")

    def __init__(self, value: Any, line: int, parts: "dict[str, Node] | list[Node] | None") -> None:
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

    def _part(self, step: str | int) -> "Node | None":
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
        self.members: dict[str, Node] = {}
        self.merged: list[Node] = []
        self.nodes: list[Node] = []


_MERGE: Final = "<<"


def documents(text: str, source: str) -> Iterator[Node]:
    """Yield the documents of YAML text; ``source`` names it in a ``DecodeError``."""
    # A parser that most programs never need.
    import yaml  # noqa: PLC0415

    builder = _Builder(source)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event, type(event).__name__)
            if builder.finished is not None:
                yield builder.finished
                builder.finished = None
    except yaml.YAMLError as error:
        # Unchained: the original error quotes the text, which may be secret.
        raise _syntax_error(error, source, text) from None
    except RecursionError as error:
        raise DecodeError(f"{source}: nested too deeply") from error


class _Builder:
    """Puts events together."""

    def __init__(self, source: str) -> None:
        self.finished: Node | None = None
        self._source = source
        self._frames: list[_Frame] = []
        self._anchors: dict[str, Node | None] = {}
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
            self._key(_MERGE if is_merge else key_text(value), line, is_merge=is_merge)
            return
        if isinstance(value, float) and not math.isfinite(value):
            raise self._error(line, f"{event.value} is not a number that JSON has")
        self._add(Node(value, line, None), event.anchor)

    def _tagged(self, event: Any, line: int) -> Scalar:
        tag = event.tag.removeprefix(_TAGS)
        if tag == "binary":
            try:
                return base64.b64decode("".join(event.value.split()), validate=True).decode()
            except ValueError:
                raise self._error(line, "!!binary that is not base64 of text") from None
        if tag not in _TYPES:
            return str(event.value)
        value: Scalar = resolved(str(event.value))
        if type(value) not in _TYPES[tag]:
            raise self._error(line, f"a value that is no {tag} is marked as !!{tag}")
        return value

    def _expects_key(self) -> bool:
        return bool(self._frames) and self._frames[-1].is_mapping and self._frames[-1].key is None

    def _key(self, key: str | None, line: int, *, is_merge: bool = False) -> None:
        frame = self._frames[-1]
        if key is None:
            raise self._error(line, "a key must be text, a number or a boolean")
        if key in frame.members and not is_merge:
            shown = field_path.with_key("", key)[1:-1]
            raise self._error(line, f"the key {shown} is there twice")
        # Marked, so that a quoted "<<" stays an ordinary key.
        frame.key = "m" if is_merge else f"k{key}"

    def _start(self, event: Any, line: int, *, is_mapping: bool) -> None:
        if self._expects_key():
            raise self._error(line, "a key must be text, a number or a boolean")
        if len(self._frames) >= DEEPEST:
            raise self._error(line, "nested too deeply")
        if event.anchor:
            self._anchors[event.anchor] = None
        self._frames.append(_Frame(line, event.anchor, is_mapping=is_mapping))

    def _end(self) -> None:
        frame = self._frames.pop()
        if not frame.is_mapping:
            node = Node([part.value for part in frame.nodes], frame.line, frame.nodes)
        else:
            members = self._merged(frame) if frame.merged else frame.members
            node = Node({key: part.value for key, part in members.items()}, frame.line, members)
        if len(self._frames) + node.depth > DEEPEST:
            raise self._error(frame.line, "nested too deeply")
        self._add(node, frame.anchor)

    def _merged(self, frame: _Frame) -> dict[str, Node]:
        members: dict[str, Node] = {}
        for source in frame.merged:
            for each in source.parts if isinstance(source.parts, list) else [source]:
                if not isinstance(each.parts, dict):
                    raise self._error(source.line, "only mappings can be merged with <<")
                members = each.parts | members
        return members | frame.members

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            raise self._error(line, "an alias of something that is not there")
        node = self._anchors[anchor]
        if node is None:
            raise self._error(line, "a value that contains itself")
        if self._expects_key():
            self._key(None if node.parts is not None else key_text(node.value), line)
            return
        self._surplus += node.size
        if self._surplus > LARGEST_SURPLUS:
            raise self._error(line, "aliases make this too large")
        self._add(node, None)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = node
        if not self._frames:
            self.finished = node
            return
        frame = self._frames[-1]
        if not frame.is_mapping:
            frame.nodes.append(node)
        elif frame.key == "m":
            frame.merged.append(node)
            frame.key = None
        elif frame.key is not None:
            frame.members[frame.key[1:]] = node
            frame.key = None

    def _error(self, line: int, message: str) -> DecodeError:
        return DecodeError(f"{self._source}:{line}: {message}")


def _syntax_error(error: Any, source: str, text: str) -> DecodeError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    if mark is not None:
        # What is missing at the end is missed on the line after it.
        line = min(mark.line + 1, max(len(text.splitlines()), 1))
        return DecodeError(f"{source}:{line}: {problem}")
    position = getattr(error, "position", None)
    line = text.count("\n", 0, position) + 1 if isinstance(position, int) else 1
    return DecodeError(f"{source}:{line}: {problem}")
