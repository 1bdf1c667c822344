"""YAML text becomes plain values: the one reader for everybody.

Documents, anchors, merge keys, repeated keys and the bounds against hostile text are the same
for manifests and for what the development server is sent; how much is allowed and in which words
a mistake is told is the dialect.  What a plain word means is in scalars.py.

The C parser is used for events only and values are built here without recursion: its own
builder overflows the stack on deep nesting, and keeps no count of what aliases multiply.  Lines
are found by reading a document once more when somebody asks: hardly any document is asked
about, and lines cost as much time and memory as the values.

Upstream: sigs.k8s.io/yaml/yaml.go; go.yaml.in/yaml/v2/decode.go
"""

import base64
import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from reflet.api import field_path
from reflet.api.yaml.dialects import Dialect, YamlProblem, YamlWarning, quote_escape, repeated_key
from reflet.api.yaml.quote_escapes import Restoring, is_quote_escape, with_stand_in
from reflet.api.yaml.scalars import FIRST_LETTERS, Scalar, key_text, resolved

LARGEST_SURPLUS: Final = 100_000  # values that aliases may add to a file
LETTERS_PER_VALUE: Final = 32  # so much text counts as one more value
NESTED_LISTS: Final = 10  # levels of lists in lists
_TAGS: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_MERGE: Final = object()  # the key <<; a quoted one is an ordinary key
_UNFINISHED: Final = object()  # what an anchor names until its value is complete


class YamlDocument(NamedTuple):
    """A document: its plain value, its line, how to find lines inside, and what to warn of.

    ``line_of`` gives the line of a place, or of the nearest thing around it that is there.
    """

    value: Any
    line: int
    line_of: Callable[[str], int]
    warnings: tuple[YamlWarning, ...] = ()


def documents(text: str, dialect: Dialect) -> Iterator[YamlDocument]:
    """Yield the documents of YAML text, each as soon as it is complete."""
    # A parser that most programs never need.
    import yaml  # noqa: PLC0415

    text = text.removeprefix("\ufeff")  # The parser does not count it, which places would miss.
    done = 0
    stand_in = ""
    while True:
        try:
            for document in islice(_Reader(dialect, yaml, stand_in).read(text), done, None):
                done += 1
                yield document
        except yaml.YAMLError as error:
            if not stand_in and is_quote_escape(error, text):
                # From the beginning: the parser cannot go on after a mistake.
                text, stand_in = with_stand_in(text)
                if stand_in:
                    continue
            # Unchained: the original error quotes the text, which may be secret.
            raise dialect.syntax_complaint(error, text) from None
        return


class _Lines:
    """Finds the lines of one document, by reading it again at the first question."""

    __slots__ = ("_first", "_line", "_lines", "_settings", "_text", "_tree")

    def __init__(
        self, settings: tuple[Dialect, Any, str], text: str, first: int, line: int
    ) -> None:
        self._settings = settings
        self._text = text  # empty after the first question
        self._first = first  # lines before the text
        self._line = line
        self._tree: Any = None  # the document, with a line in the place of each scalar
        self._lines: dict[int, int] = {}  # of mappings and sequences, by identity

    def line_of(self, path: str) -> int:
        """Return the line of a place inside, or of the nearest thing around it that is there."""
        steps = field_path.steps(path)
        if not steps:
            return self._line
        if self._text:
            again = _Reader(*self._settings, lines=self._lines)
            self._tree = next(again.read(self._text)).value
            self._text = ""
        place = self._tree
        for step in steps:
            try:
                place = place[step]
            except (LookupError, TypeError):
                break
        return self._first + (place if isinstance(place, int) else self._lines[id(place)])


class _Reader:
    """Puts the events of one text together.

    With ``lines``, each scalar's value is its line, and ``lines`` gets those of mappings and
    sequences.
    """

    def __init__(
        self, dialect: Dialect, yaml: Any, stand_in: str, lines: dict[int, int] | None = None
    ) -> None:
        self._dialect = dialect
        self._yaml = yaml
        self._stand_in = stand_in
        self._lines = lines
        self._anchors: dict[str, Any] = {}
        self._keys: dict[str, Any] = {}  # what plain words are as keys
        self._merged: dict[int, set[str]] = {}  # keys that a mapping got by merging, by identity
        # Around the mapping or sequence that is read: what, the key it is at, and its beginning.
        self._outer: list[tuple[Any, Any, Any]] = []
        self._warnings: list[YamlWarning] = []
        self._surplus = 0

    def read(self, text: str) -> Iterator[YamlDocument]:
        """Yield the documents."""
        parser: Any = getattr(self._yaml, "CSafeLoader", self._yaml.SafeLoader)(text)
        next_event = parser.get_event
        if self._stand_in:
            next_event = Restoring(next_event, self._stand_in, self._warn_of_escape).next_event
        try:
            while (event := next_event()) is not None:
                if type(event) is not self._yaml.DocumentStartEvent:
                    continue
                if event.version not in {None, (1, 1)}:
                    raise self._complaint(YamlProblem.INCOMPATIBLE, event)
                start = event.start_mark
                line = parser.peek_event().start_mark.line + 1
                value, end = self._document(next_event)
                # From the beginning of the line: indentation counts.
                own = text[start.index - start.column : end.index]
                settings = (self._dialect, self._yaml, self._stand_in)
                finder = _Lines(settings, own, start.line, line)
                yield YamlDocument(value, line, finder.line_of, tuple(self._warnings))
        finally:
            parser.dispose()

    def _document(self, next_event: Callable[[], Any]) -> tuple[Any, Any]:
        """Return a document's value, and the mark where it ends.

        With what is rare elsewhere: this loop is what reading costs.
        """
        scalar, mapping, alias = (getattr(self._yaml, name) for name in _EVENTS)
        starts = {mapping, self._yaml.SequenceStartEvent}
        end, last = self._yaml.MappingEndEvent, self._yaml.DocumentEndEvent
        wants_all = self._lines is not None
        self._anchors.clear()
        self._merged.clear()
        self._warnings.clear()
        root: list[Any] = []
        container: Any = root
        key: Any = None  # none is known in a mapping that expects one
        in_mapping = False
        while True:
            event = next_event()
            kind = type(event)
            if in_mapping and key is None and kind is not end:
                key = self._key(event, container)
                continue
            if kind is scalar:
                value = event.value
                if (
                    (event.implicit[0] and value[:1] in FIRST_LETTERS)
                    or event.tag is not None
                    or event.anchor is not None
                    or wants_all
                ):
                    value = self._value(event)
            elif kind in starts:
                container = self._start(event, container, key)
                in_mapping, key = kind is mapping, None
                continue
            elif kind is alias:
                value = self._alias(event)
            elif kind is last:
                return root[0], event.end_mark
            else:
                value = container
                container, key = self._end(value)
                in_mapping = type(container) is dict
            if in_mapping:
                if key is _MERGE:
                    self._merge(container, value, event)
                else:
                    container[key] = value
                key = None
            else:
                container.append(value)

    def _complaint(self, problem: YamlProblem, event: Any, *details: Any) -> Exception:
        return self._dialect.complaint(problem, event.start_mark.line + 1, *details)

    def _key(self, event: Any, container: dict[str, Any]) -> Any:
        if type(event) is not self._yaml.ScalarEvent:
            key: Any = self._as_key(self._aliased(event), event)
        elif event.implicit[0] and event.anchor is None and event.tag is None:
            key = self._keys.get(event.value)
            if key is None:
                key = self._keys[event.value] = self._new_key(event)
        else:
            key = self._new_key(event)
        if key in container:
            self._repeat(container, key, event)
        return key

    def _new_key(self, event: Any) -> Any:
        plain = event.implicit[0] and event.tag in {None, "!"}
        if event.value == "<<" and (plain or event.tag == f"{_TAGS}merge"):
            return _MERGE
        value = resolved(event.value) if plain else self._scalar(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return self._as_key(value, event)

    def _as_key(self, value: Any, event: Any) -> str:
        key = None if isinstance(value, dict | list) else key_text(value)
        if key is None:
            raise self._complaint(YamlProblem.NOT_A_KEY, event, type(value))
        return key

    def _repeat(self, container: dict[str, Any], key: str, event: Any) -> None:
        merged = self._merged.get(id(container))
        if merged is not None and key in merged:
            merged.discard(key)
        elif not self._dialect.repeated_keys:
            raise self._complaint(YamlProblem.REPEATED_KEY, event, key)
        else:
            self._warnings.append(repeated_key(event.start_mark.line + 1, key, self._items()))

    def _warn_of_escape(self, event: Any) -> None:
        self._warnings.append(quote_escape(event.start_mark.line + 1, self._items()))

    def _items(self) -> tuple[int, ...]:
        """Return the positions in the items of lists that lead to where the reader is."""
        found: list[int] = []
        around = self._outer[1 : 1 + 2 * NESTED_LISTS]
        for (_, key, _), (sequence, _, _) in zip(around[::2], around[1::2], strict=False):
            if key != "items" or not isinstance(sequence, list):
                break
            found.append(len(sequence))
        return tuple(found)

    def _value(self, event: Any) -> Scalar:
        value = self._scalar(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value if self._lines is None else event.start_mark.line + 1

    def _scalar(self, event: Any) -> Scalar:
        text: str = event.value
        tag = (event.tag or "").removeprefix(_TAGS)
        if tag == "binary":
            try:
                decoded = base64.b64decode("".join(text.split()), validate=True)
                return decoded.decode("utf-8", self._dialect.binary_errors)
            except ValueError:
                raise self._complaint(YamlProblem.NOT_BASE64, event) from None
        if tag not in _TYPES and not (event.implicit[0] and tag in {"", "!"}):
            return text
        value = resolved(text)
        if tag in _TYPES and type(value) not in _TYPES[tag]:
            raise self._complaint(YamlProblem.WRONG_TAG, event, tag, _tag_of(value), text)
        if isinstance(value, float) and not math.isfinite(value):
            raise self._complaint(YamlProblem.NOT_A_JSON_NUMBER, event, text)
        return value

    def _start(self, event: Any, container: Any, key: Any) -> dict[str, Any] | list[Any]:
        if len(self._outer) >= self._dialect.deepest:
            raise self._complaint(YamlProblem.TOO_DEEP, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = _UNFINISHED
        self._outer.append((container, key, event))
        started = self._empty(event)
        if self._lines is not None:
            self._lines[id(started)] = event.start_mark.line + 1
        return started

    def _end(self, value: Any) -> tuple[Any, Any]:
        container, key, start = self._outer.pop()
        if start.anchor is not None:
            self._anchors[start.anchor] = value
        return container, key

    def _empty(self, event: Any) -> dict[str, Any] | list[Any]:
        return {} if type(event) is self._yaml.MappingStartEvent else []

    def _merge(self, container: dict[str, Any], value: Any, event: Any) -> None:
        """Put in what is merged, over what is there already, as Kubernetes' reader does."""
        is_alias = isinstance(event, self._yaml.AliasEvent)
        # Of several, the first counts.
        for source in reversed(value) if isinstance(value, list) and not is_alias else [value]:
            if not isinstance(source, dict):
                raise self._complaint(YamlProblem.NOT_MERGEABLE, event)
            container |= source
            self._merged.setdefault(id(container), set()).update(source)

    def _aliased(self, event: Any) -> Any:
        if type(event) is not self._yaml.AliasEvent:  # a mapping or a sequence
            return self._empty(event)
        value = self._anchors.get(event.anchor, self)
        if value is self:
            raise self._complaint(YamlProblem.UNKNOWN_ANCHOR, event, event.anchor)
        if value is _UNFINISHED:
            raise self._complaint(YamlProblem.CONTAINS_ITSELF, event, event.anchor)
        return value

    def _alias(self, event: Any) -> Any:
        value = self._aliased(event)
        # Stops as soon as it is too much, so that all aliases together take no longer.
        waiting = [(value, 1)]
        while waiting:
            part, depth = waiting.pop()
            self._surplus += 1
            if isinstance(part, str):
                self._surplus += len(part) // LETTERS_PER_VALUE
            elif isinstance(part, dict | list):
                inner = part.values() if isinstance(part, dict) else part
                waiting += [(each, depth + 1) for each in inner]
            if self._surplus + len(waiting) > LARGEST_SURPLUS:
                raise self._complaint(YamlProblem.TOO_MANY_ALIASES, event)
            if len(self._outer) + depth > self._dialect.deepest + 1:
                raise self._complaint(YamlProblem.TOO_DEEP, event)
        if self._lines is not None and not isinstance(value, dict | list):
            return event.start_mark.line + 1
        return value


_EVENTS: Final = ("ScalarEvent", "MappingStartEvent", "AliasEvent")


def _tag_of(value: Scalar) -> str:
    return next((tag for tag, types in _TYPES.items() if type(value) in types), "str")
