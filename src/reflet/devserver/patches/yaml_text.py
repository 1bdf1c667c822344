"""Reads YAML into what JSON can say, as the real server does before it looks at a body.

Plain words mean what they mean in YAML 1.1 to the real server's reader: ``yes``, ``on`` and
``y`` are true, times stay texts, keys become texts.

Owns: that reading, its bounds (depth, repetition by aliases) and its messages.  Must not know
what the text is about.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from reflet.devserver.patches.json_values import DEEPEST, TOO_DEEP
from reflet.errors import DecodeError
from reflet.gotext import printing

_TO_JSON: Final = "error converting YAML to JSON: "
_CONVERSION: Final = f"{_TO_JSON}yaml: "
# The reader in C, when there is one: it is fast, and its messages are the real server's.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# How many values a document may have beyond those that are written out: aliases repeat what is
# elsewhere, and aliases of aliases multiply it.
MOST_REPEATED: Final = 100_000

_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(
        ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True
    ),
    **dict.fromkeys(
        ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False
    ),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_INTEGER: Final = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)", re.ASCII
)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_NUMBERS: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = "<<"
_LARGEST: Final = 2**64
_MOST_DIGITS: Final = 70  # of a number of 64 bits, however it is written


def read_yaml(body: bytes) -> Any:
    """Read the first document of a text; None when there is none.  DecodeError with Go's words."""
    text = body.decode("utf-8", "replace")
    if text.lstrip()[:1] == "{":
        try:
            return json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            pass  # It may still be YAML, and if not, the words are those of YAML.
    try:
        return _Reading().document(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        raise DecodeError(f"{_CONVERSION}{_where(error)}{error.problem}") from None
    except yaml.reader.ReaderError as error:
        raise DecodeError(f"{_CONVERSION}{error.reason}") from None
    except yaml.YAMLError as error:
        raise DecodeError(f"{_CONVERSION}{error}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _where(error: yaml.MarkedYAMLError) -> str:
    """Name the line as the real server's reader does, which knows no first line."""
    for mark in (error.context_mark, error.problem_mark):
        if mark is not None and mark.line:
            # A scanner stops on the line that is wrong, a parser on the one after it.
            return f"line {mark.line + isinstance(error, yaml.scanner.ScannerError)}: "
    return ""


class _Reading:
    """One document, built from the events of the parser.

    Nothing here calls itself, so a hostile depth is noticed and not suffered.
    """

    def __init__(self) -> None:
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._repeated = 0

    def document(self, events: Iterator[Any]) -> Any:
        open_containers: list[_Container] = []
        for event in events:
            match event:
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    if len(open_containers) >= DEEPEST:
                        raise DecodeError(TOO_DEEP)
                    listed = isinstance(event, yaml.SequenceStartEvent)
                    open_containers.append(_Container(event.anchor, listed=listed))
                    continue
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    container = open_containers.pop()
                    value, size, anchor = container.value(), container.size, container.anchor
                    plain = False
                case yaml.ScalarEvent():
                    plain = bool(event.implicit[0])
                    value, size, anchor = _scalar(event), 1, event.anchor
                case yaml.AliasEvent():
                    value, size = self._repeat(event.anchor, open_containers)
                    plain, anchor = False, None
                case yaml.DocumentEndEvent():
                    return None
                case _:
                    continue
            if anchor is not None:
                self._anchors[anchor] = (value, size)
            if not open_containers:
                return value
            open_containers[-1].add(value, size, merges=plain and value == _MERGE)
        return None

    def _repeat(self, anchor: str | None, open_containers: list[_Container]) -> tuple[Any, int]:
        if any(container.anchor == anchor for container in open_containers):
            raise DecodeError(f"{_CONVERSION}anchor '{anchor}' value contains itself")
        if anchor is None or anchor not in self._anchors:
            raise DecodeError(f"{_CONVERSION}unknown anchor '{anchor}' referenced")
        value, size = self._anchors[anchor]
        self._repeated += size
        if self._repeated > MOST_REPEATED:
            raise DecodeError(f"{_CONVERSION}document contains excessive aliasing")
        return value, size


class _Container:
    """A list or a map that is being filled; ``size`` counts what is in it, at all depths."""

    def __init__(self, anchor: str | None, *, listed: bool) -> None:
        self.anchor = anchor
        self.size = 1
        self._listed = listed
        self._items: list[tuple[Any, bool]] = []

    def add(self, value: Any, size: int, *, merges: bool) -> None:
        self.size += size
        self._items.append((value, merges))

    def value(self) -> Any:
        if self._listed:
            return [value for value, _ in self._items]
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for (key, merges), (value, _) in zip(self._items[::2], self._items[1::2], strict=True):
            if merges:
                for source in reversed(value if isinstance(value, list) else [value]):
                    if not isinstance(source, dict):
                        raise DecodeError(
                            f"{_CONVERSION}map merge requires map or sequence of maps as the value"
                        )
                    merged |= source
            else:
                own[_key(key)] = value
        return merged | own


def _key(key: Any) -> str:
    match key:
        case str():
            return key
        case bool() | int() | float():
            return printing.plain(key)
        case _:
            kind = printing.type_name(key)
            raise DecodeError(f"{_TO_JSON}Unsupported map key of type: {kind}")


def _scalar(event: Any) -> Any:
    tag = (event.tag or "").removeprefix(_TAG)
    if tag == "binary":
        try:
            return base64.b64decode("".join(event.value.split()), validate=True).decode(
                "utf-8", "replace"
            )
        except (binascii.Error, ValueError):
            raise DecodeError(f"{_CONVERSION}!!binary value contains invalid base64 data") from None
    if tag == "str" or not (event.implicit[0] or tag):
        return event.value
    value = _plain(event.value)
    return float(value) if tag == "float" and type(value) is int else value


def _plain(text: str) -> Any:
    """Read a word that is not quoted."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_NUMBERS.fullmatch(text):
        raise DecodeError(f"{_TO_JSON}json: unsupported value: {text}")
    if text[0] not in "+-.0123456789":
        return text
    digits = text.replace("_", "")
    if _INTEGER.fullmatch(digits) and len(digits) < _MOST_DIGITS:
        number = _integer(digits)
        if -_LARGEST < number < _LARGEST:
            return number
    if _FLOAT.fullmatch(digits):
        found = float(digits)
        return found if abs(found) != float("inf") else text
    return text


def _integer(digits: str) -> int:
    sign = -1 if digits[0] == "-" else 1
    digits = digits.lstrip("+-")
    if digits[0] == "0" and digits[1:].isdigit():
        return sign * int(digits, 8)
    return sign * int(digits, 0)
