"""Manifests become objects, and objects become YAML.

What a manifest may look like (YAML or JSON, several documents, lists), where in a file an object
came from, and kubectl's way of printing.  Takes text, reads no files.

Upstream: cli-runtime/pkg/resource/visitor.go; cli-runtime/pkg/printers/yaml.go
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from reflet.api import codec, field_path
from reflet.api.meta import TypedObject
from reflet.api.unstructured import AnyObject
from reflet.api.yaml.nodes import ManifestDialect, YamlNode, documents
from reflet.api.yaml.scalars import CONTROLS, needs_quotes
from reflet.errors import DecodeError

NESTED_LISTS: Final = 10  # levels of lists in lists


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """An object, and the file and line it came from."""

    object: TypedObject | AnyObject
    source: str
    line: int

    @property
    def place(self) -> str:
        """``pods.yaml:12``."""
        return f"{self.source}:{self.line}"


class PlacedValue(msgspec.Struct, frozen=True, gc=False):
    """What should be an object: its plain value, its line, and how to find lines inside."""

    value: dict[str, Any]
    line: int
    line_of: Callable[[str], int]
    warnings: tuple[Any, ...] = ()


class _Found(msgspec.Struct, frozen=True, gc=False):
    """A document, or an item of one: its value, its line, and how to find lines inside."""

    value: Any
    line: int
    line_of: Callable[[str], int]


def read_manifests(text: str | bytes, *, source: str = "<text>") -> tuple[Manifest, ...]:
    """Return the objects of a YAML or JSON text, in order; lists give their items.

    Raises ``DecodeError`` whose message starts with ``source`` and the line.
    """
    return tuple(
        Manifest(object=_decoded(placed, source), source=source, line=placed.line)
        for placed in read_values(text, source=source)
    )


def read_values(text: str | bytes, *, source: str = "<text>") -> Iterator[PlacedValue]:
    """Yield what a YAML or JSON text holds, in order, before it becomes objects.

    Lists give their items.  Raises ``DecodeError`` as ``read_manifests`` does.
    """
    if isinstance(text, bytes):
        text = _as_text(text, source)
    for document in _documents(text.removeprefix("\ufeff"), source):
        if document.value is not None:
            yield from _placed(document, source)


def write_yaml(value: Any) -> str:
    """Return an object, a struct or decoded JSON as YAML, the way kubectl prints it.

    Keys are sorted, and text of several lines is a literal block.  Only what has power over a
    terminal is written otherwise: as escapes in double quotes, the same value for a reader.
    """
    import yaml  # noqa: PLC0415 - a writer that most programs never need

    plain = msgspec.json.decode(codec.encode(value))
    text: str = yaml.dump(
        plain,
        Dumper=_dumper(),
        default_flow_style=False,
        allow_unicode=True,
        sort_keys=True,
        width=2**31 - 1,
    )
    # Those that are left stand in double quotes: the writer takes them for letters.
    return CONTROLS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def write_yaml_documents(values: Iterable[Any]) -> str:
    """Return several objects as the documents of one YAML text."""
    return "---\n".join(write_yaml(value) for value in values)


def _as_text(data: bytes, source: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        # Unchained: the original error carries the whole text, which may be secret.
        raise DecodeError(f"{source}:{line}: not valid UTF-8") from None


def _documents(text: str, source: str) -> list[_Found]:
    not_json: DecodeError | None = None
    if text.lstrip()[:1] == "{":
        try:
            return _json_documents(text, source)
        except DecodeError as error:
            not_json = error
    try:
        return [_found(node) for node in documents(text, ManifestDialect(source))]
    except DecodeError:
        # YAML stumbles over the tabs that JSON may be indented with, not over the mistake.
        if not_json is not None and "\t" in text:
            raise not_json from None
        raise


def _found(node: YamlNode) -> _Found:
    return _Found(node.value, node.line, node.line_of)


def _placed(found: _Found, source: str, level: int = 0) -> Iterator[PlacedValue]:
    value = found.value
    if not isinstance(value, dict):
        raise DecodeError(f"{source}:{found.line}: expected an object with apiVersion and kind")
    items = value.get("items")
    is_list = str(value.get("kind", "")).endswith("List") and isinstance(items, list | None)
    if not is_list or "items" not in value:
        yield PlacedValue(value, found.line, found.line_of)
        return
    if level == NESTED_LISTS:
        raise DecodeError(f"{source}:{found.line}: too many lists inside lists")
    for index, item in enumerate(items or ()):
        yield from _placed(_item(found, index, item, value), source, level + 1)


def _item(found: _Found, index: int, item: Any, listing: dict[str, Any]) -> _Found:
    """Return one item of a list, saying what it is if only its list does."""
    place = f"items[{index}]"
    kind = str(listing["kind"]).removesuffix("List")
    if kind and isinstance(item, dict):
        item = {"apiVersion": listing.get("apiVersion"), "kind": kind} | item
    outer = found.line_of
    return _Found(item, outer(place), lambda path: outer(field_path.joined(place, path)))


def _decoded(found: PlacedValue, source: str) -> TypedObject | AnyObject:
    try:
        return codec.decode_object(codec.encode(found.value))
    except DecodeError as error:
        line = found.line_of(error.path)
        raise DecodeError(f"{source}:{line}: {error}", path=error.path) from error
    except (UnicodeEncodeError, RecursionError):
        raise DecodeError(f"{source}:{found.line}: not valid Unicode text") from None


def _json_documents(text: str, source: str) -> list[_Found]:
    """Return the objects of a JSON text; raise ``DecodeError`` if it is something else."""
    # Not msgspec: this one says where a document ends and shows equal keys.
    import json  # noqa: PLC0415

    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refused)
    found: list[_Found] = []
    position = _next_letter(text, 0)
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise DecodeError(f"{source}:{error.lineno}: malformed JSON: {error.msg}") from None
        except (ValueError, RecursionError):
            raise DecodeError(f"{source}: a key twice, or nested too deeply") from None
        line = text.count("\n", 0, position) + 1
        found.append(_Found(value, line, _json_lines(text[position:end], line, source)))
        position = _next_letter(text, end)
    return found


def _next_letter(text: str, position: int) -> int:
    match = re.compile(r"[ \t\r\n]*").match(text, position)
    return match.end() if match else position


def _json_lines(text: str, first: int, source: str) -> Callable[[str], int]:
    """Return how to find lines in a JSON document: by reading it once more, as YAML."""

    def line_of(path: str) -> int:
        try:
            node = next(documents(text, ManifestDialect(source)))
        except DecodeError:  # JSON that is not quite YAML, with tabs: its first line must do.
            return first
        return first - 1 + node.line_of(path)

    return line_of


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is there twice")
    return members


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


@cache
def _dumper() -> Any:
    import yaml  # noqa: PLC0415 - a writer that most programs never need

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]  # one of two classes, known at run time
        """Writes what needs_quotes says in double quotes, and lines as lines."""

        def ignore_aliases(self, data: Any) -> bool:
            """Write equal values out each time."""
            return bool(data is not Dumper)

    def represent_text(dumper: Any, text: str) -> Any:
        quoted = CONTROLS.search(text) or (needs_quotes(text) and "\n" not in text)
        style = '"' if quoted else "|" if "\n" in text else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent_text)
    return Dumper
