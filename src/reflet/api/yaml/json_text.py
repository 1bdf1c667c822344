"""JSON text becomes plain values: several documents after each other, with lines on demand.

Upstream: apimachinery/pkg/util/yaml/decoder.go, YAMLOrJSONDecoder
"""

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NoReturn

from reflet.api import field_path
from reflet.api.yaml.dialects import YamlWarning, repeated_key
from reflet.api.yaml.documents import NESTED_LISTS, YamlDocument
from reflet.errors import DecodeError

DEEPEST_PLACE: Final = 64  # levels at which a place has a line of its own; objects stay below 30


def json_documents(text: str, source: str) -> list[YamlDocument]:
    """Return the objects of a JSON text; raise ``DecodeError`` if it is something else.

    Of a key that is there twice the last one counts, with a warning.
    """
    # Not msgspec: this one says where a document ends and shows equal keys.
    import json  # noqa: PLC0415

    repeated = False

    def members_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        members = dict(pairs)
        repeated = repeated or len(members) != len(pairs)
        return members

    decoder = json.JSONDecoder(
        object_pairs_hook=members_of, parse_float=_finite, parse_constant=_refused
    )
    found: list[YamlDocument] = []
    position = _next_letter(text, 0)
    line = 1 + text.count("\n", 0, position)
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise DecodeError(f"{source}:{error.lineno}: malformed JSON: {error.msg}") from None
        except (ValueError, RecursionError):
            raise DecodeError(f"{source}: a number out of range, or nested too deeply") from None
        own = text[position:end]
        warnings = tuple(_repeated_keys(own, line)) if repeated else ()
        found.append(YamlDocument(value, line, _JsonLines(own, line).line_of, warnings))
        repeated = False
        following = _next_letter(text, end)
        line += text.count("\n", position, following)
        position = following
    return found


class _JsonLines:
    """Finds lines in one document, looking only into what leads to the places asked for.

    What is inside each mapping and sequence on the way is passed over by the C decoder, once.
    """

    __slots__ = ("_inside", "_line", "_text")

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._line = line
        # By the place of a mapping or sequence: the place and the line of each of its values.
        self._inside: dict[int, dict[str | int, tuple[int, int]]] = {}

    def line_of(self, path: str) -> int:
        """Return the line of a place inside, or of the nearest thing around it that is there."""
        position, line = 0, self._line
        for step in field_path.steps(path)[:DEEPEST_PLACE]:
            inside = self._inside.get(position)
            if inside is None:
                inside = self._inside[position] = dict(self._values(position, line))
            if step not in inside:
                break
            position, line = inside[step]
        return line

    def _values(self, position: int, line: int) -> Iterator[tuple[str | int, tuple[int, int]]]:
        import json  # noqa: PLC0415 - as above

        text, skip = self._text, json.JSONDecoder().raw_decode
        is_mapping = text[position] == "{"
        if not is_mapping and text[position] != "[":
            return
        counted, at, index = position, _next_letter(text, position + 1), 0
        while text[at] not in "]}":
            step: str | int = index
            if is_mapping:
                step, at = skip(text, at)
                at = _next_letter(text, _next_letter(text, at) + 1)  # after the colon
            line += text.count("\n", counted, at)
            counted = at
            yield step, (at, line)
            at = _next_letter(text, skip(text, at)[1])
            if text[at] == ",":
                at = _next_letter(text, at + 1)
            index += 1


def _repeated_keys(text: str, line: int) -> Iterator[YamlWarning]:
    """Yield a warning for each key of a valid document that its mapping had before."""
    import json  # noqa: PLC0415 - as above

    counted = 0
    frames: list[_Frame] = []
    for match in _tokens().finditer(text):
        sign = match[0]
        if sign in "{[":
            frames.append(_Frame(None if sign == "[" else set()))
        elif sign in "}]":
            frames.pop()
        elif sign == ",":
            frames[-1].index += 1
        elif (keys := frames[-1].keys) is not None and match[1]:
            key = frames[-1].key = json.loads(match[1])
            if key in keys:
                line += text.count("\n", counted, match.start())
                counted = match.start()
                yield repeated_key(line, key, _items(frames))
            keys.add(key)


class _Frame:
    """A mapping with its keys so far, or a sequence, which has none."""

    __slots__ = ("index", "key", "keys")

    def __init__(self, keys: set[str] | None) -> None:
        self.keys = keys
        self.index = 0
        self.key = ""


def _items(frames: list[_Frame]) -> tuple[int, ...]:
    """Return the positions in the items of lists that lead to where the reader is."""
    found: list[int] = []
    around = frames[: 2 * NESTED_LISTS]
    for outer, inner in zip(around[::2], around[1::2], strict=False):
        if outer.key != "items" or inner.keys is not None:
            break
        found.append(inner.index)
    return tuple(found)


@cache
def _tokens() -> re.Pattern[str]:
    # Keys, other texts, and what holds values together; the rest is passed over.
    text = r'"[^"\\]*(?:\\.[^"\\]*)*"'
    return re.compile(rf"({text})[ \t\r\n]*:|{text}|[][{{}},]", re.DOTALL)


def _next_letter(text: str, position: int) -> int:
    match = _blanks().match(text, position)
    return match.end() if match else position


@cache
def _blanks() -> re.Pattern[str]:
    return re.compile(r"[ \t\r\n]*")


def _finite(text: str) -> float:
    number = float(text)
    return _refused(text) if math.isinf(number) else number


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
