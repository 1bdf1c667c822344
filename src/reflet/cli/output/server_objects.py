"""Objects as a server has them, printed for programs: one, or a list of any length.

A list is kept as the JSON of its objects, and each becomes text when it is written: ten thousand
pods never stand in memory as dicts.  What kubectl hides is hidden, and what is secret is masked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from reflet.api.unstructured import AnyObject
from reflet.api.yaml.text import write_yaml
from reflet.cli.output.masking import masked

ENOUGH_TEXT: Final = 256 * 1024
"""Characters that are written at once."""

# JSON has escapes for C0, and leaves alone what moves a cursor or turns text around nevertheless.
_POWERFUL: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_NEXT_LINE: Final = re.compile(r"\n(?=[^\n])")

_ENCODER: Final = msgspec.json.Encoder(order="deterministic")

_IN_JSON: Final = " " * 8
_JSON_HEAD: Final = '{\n    "apiVersion": "v1",\n    "items": ['
_JSON_TAIL: Final = (
    '],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n'
)
_YAML_TAIL: Final = 'kind: List\nmetadata:\n  resourceVersion: ""\n'


def shown(item: AnyObject, *, reveal: bool, managed_fields: bool) -> dict[str, Any]:
    """What a program may see of an object, as a dict of its own."""
    document = item.to_dict()
    if not managed_fields:
        metadata = document.get("metadata")
        if isinstance(metadata, dict):
            metadata.pop("managedFields", None)
    return document if reveal else masked(document)


def packed(document: dict[str, Any]) -> bytes:
    """The document's JSON in as few bytes as it takes, its keys in order as kubectl prints them."""
    return _ENCODER.encode(document)


def json_text(document: bytes) -> str:
    """Indented JSON, as kubectl indents it, without power over a terminal or a last newline."""
    text = msgspec.json.format(document, indent=4).decode()
    return text if text.isascii() else _POWERFUL.sub(_escaped, text)


def json_line(document: bytes) -> str:
    """JSON in one line, without power over a terminal."""
    text = document.decode()
    return text if text.isascii() else _POWERFUL.sub(_escaped, text)


def yaml_text(document: bytes) -> str:
    """YAML, as kubectl prints it, without the end of its last line."""
    return write_yaml(msgspec.json.decode(document)).removesuffix("\n")


def write_json_list(documents: Iterable[bytes], write: Callable[[str], object]) -> None:
    """Write a List of packed documents."""
    _write_in_parts(_json_list(documents), write)


def write_yaml_list(documents: Iterable[bytes], write: Callable[[str], object]) -> None:
    """Write a List of packed documents."""
    _write_in_parts(_yaml_list(documents), write)


def _json_list(documents: Iterable[bytes]) -> Iterator[str]:
    between = _JSON_HEAD
    end = _JSON_HEAD
    for document in documents:
        yield f"{between}\n{_IN_JSON}"
        yield json_text(document).replace("\n", f"\n{_IN_JSON}")
        between, end = ",", "\n    "
    yield end + _JSON_TAIL


def _yaml_list(documents: Iterable[bytes]) -> Iterator[str]:
    yield "apiVersion: v1\nitems:"
    empty = True
    for document in documents:
        yield "\n- " + _NEXT_LINE.sub("\n  ", yaml_text(document))
        empty = False
    yield (" []\n" if empty else "\n") + _YAML_TAIL


def _write_in_parts(texts: Iterable[str], write: Callable[[str], object]) -> None:
    parts: list[str] = []
    size = 0
    for text in texts:
        parts.append(text)
        size += len(text)
        if size > ENOUGH_TEXT:
            write("".join(parts))
            parts.clear()
            size = 0
    write("".join(parts))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
