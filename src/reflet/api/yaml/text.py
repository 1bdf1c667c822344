"""Manifests become objects, and objects become YAML.

What a manifest may look like (YAML or JSON, several documents, lists), where in a file an object
came from, and kubectl's way of printing.  Takes text, reads no files.

Upstream: cli-runtime/pkg/resource/visitor.go; cli-runtime/pkg/printers/yaml.go
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from reflet.api import codec, field_path
from reflet.api.meta import TypedObject
from reflet.api.unstructured import AnyObject
from reflet.api.yaml.dialects import ManifestDialect, YamlWarning
from reflet.api.yaml.documents import NESTED_LISTS, YamlDocument, documents
from reflet.api.yaml.json_text import json_documents
from reflet.api.yaml.scalars import CONTROLS, needs_quotes
from reflet.errors import DecodeError


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
    """What should be an object: its plain value, its line, and how to find lines inside.

    ``warnings`` are about what Kubernetes reads although its author hardly meant it.
    """

    value: dict[str, Any]
    line: int
    line_of: Callable[[str], int]
    warnings: tuple[YamlWarning, ...] = ()


def read_manifests(text: str | bytes, *, source: str = "<text>") -> tuple[Manifest, ...]:
    r"""Return the objects of a YAML or JSON text, in order; lists give their items.

    What kubectl accepts is accepted: of a key that is there twice the last one counts, and
    ``\'`` in double quotes is ``'``.  Raises ``DecodeError`` whose message starts with ``source``
    and the line.
    """
    return tuple(
        Manifest(object=_decoded(placed, source), source=source, line=placed.line)
        for placed in read_values(text, source=source)
    )


def read_values(
    text: str | bytes, *, source: str = "<text>", only_mappings: bool = False
) -> Iterator[PlacedValue]:
    """Yield what a YAML or JSON text holds, in order, before it becomes objects.

    Lists give their items.  Raises ``DecodeError`` as ``read_manifests`` does, but not with
    *only_mappings* for documents that are none; what that accepts in silence is among the warnings
    here.
    """
    if isinstance(text, bytes):
        text = _as_text(text, source)
    for document in _documents(text.removeprefix("\ufeff"), source):
        if document.value is None or (only_mappings and not isinstance(document.value, dict)):
            continue
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


def _documents(text: str, source: str) -> list[YamlDocument]:
    not_json: DecodeError | None = None
    if text.lstrip()[:1] == "{":
        try:
            return json_documents(text, source)
        except DecodeError as error:
            not_json = error
    try:
        return list(documents(text, ManifestDialect(source, repeated_keys=True)))
    except DecodeError:
        # YAML stumbles over the tabs that JSON may be indented with, not over the mistake.
        if not_json is not None and "\t" in text:
            raise not_json from None
        raise


def _placed(found: YamlDocument, source: str, level: int = 0) -> Iterator[PlacedValue]:
    value = found.value
    if not isinstance(value, dict):
        raise DecodeError(f"{source}:{found.line}: expected an object with apiVersion and kind")
    items = value.get("items")
    is_list = str(value.get("kind", "")).endswith("List") and isinstance(items, list | None)
    if not is_list or "items" not in value:
        yield PlacedValue(*found)
        return
    if level == NESTED_LISTS:
        raise DecodeError(f"{source}:{found.line}: too many lists inside lists")
    warnings = _by_item(found.warnings, level)
    for index, item in enumerate(items or ()):
        inner = _item(found, index, item, tuple(warnings.get(index, ())))
        yield from _placed(inner, source, level + 1)


def _by_item(warnings: tuple[YamlWarning, ...], level: int) -> dict[int, list[YamlWarning]]:
    """Sort the warnings by the item they are about; those about the list go with the first."""
    sorted_out: dict[int, list[YamlWarning]] = {}
    for warning in warnings:
        index = warning.items[level] if level < len(warning.items) else 0
        sorted_out.setdefault(index, []).append(warning)
    return sorted_out


def _item(
    found: YamlDocument, index: int, item: Any, warnings: tuple[YamlWarning, ...]
) -> YamlDocument:
    """Return one item of a list, saying what it is if only its list does."""
    place, listing = f"items[{index}]", found.value
    kind = str(listing["kind"]).removesuffix("List")
    if kind and isinstance(item, dict):
        item = {"apiVersion": listing.get("apiVersion"), "kind": kind} | item
    outer = found.line_of

    def line_of(path: str) -> int:
        return outer(field_path.joined(place, path))

    return YamlDocument(item, outer(place), line_of, warnings)


def _decoded(found: PlacedValue, source: str) -> TypedObject | AnyObject:
    try:
        return codec.decode_object(codec.encode(found.value))
    except DecodeError as error:
        line = found.line_of(error.path)
        raise DecodeError(f"{source}:{line}: {error}", path=error.path) from error
    except (UnicodeEncodeError, RecursionError):
        raise DecodeError(f"{source}:{found.line}: not valid Unicode text") from None


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
