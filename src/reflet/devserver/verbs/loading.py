"""What is there at the start: the namespaces, the service ``kubernetes``, and objects from files.

Objects of files are applied as an administrator would, so loading the same file twice is harmless;
namespaces and definitions come first.  Errors name the file and the line.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from reflet.api.yaml.dialects import ManifestDialect
from reflet.api.yaml.documents import YamlDocument, documents
from reflet.api.yaml.json_text import json_documents
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.patches.patch_bodies import checked_depth
from reflet.devserver.request.request_options import WriteOptions
from reflet.devserver.storage.stored import Key
from reflet.devserver.verbs.patching import apply_document
from reflet.devserver.verbs.state import NAMESPACES, SERVICES, State
from reflet.devserver.verbs.writing import SERVER, Writing, at_once
from reflet.errors import ApiError, ConfigurationError, DecodeError

MANAGER: Final = "reflet-serve"
SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
STANDARD_INPUT: Final = "-"

_FIRST: Final = {"Namespace": 0, "CustomResourceDefinition": 1, "ServiceAccount": 2}
_LATER: Final = 3
Document = dict[str, Any]
FIRST_NAMESPACES: Final = ("kube-system", "kube-public", "kube-node-lease", "default")
KUBERNETES: Final = "kubernetes"
CREATED: Final = 201
_APPLYING: Final = WriteOptions(manager=MANAGER, validation="Strict", force=True)


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """One object, and where it begins: a text, or how to find out.

    One that is ``optional`` may be refused: it is told of then, and the others are loaded.
    """

    where: str | Callable[[], str]
    document: Mapping[str, Any]
    optional: bool = False

    @property
    def place(self) -> str:
        """Where it begins, as errors name it."""
        return self.where if isinstance(self.where, str) else self.where()

    @property
    def rank(self) -> int:
        """Sort key: what others need comes first."""
        return _FIRST.get(str(self.document.get("kind")), _LATER)


Source = str | Path | Mapping[str, Any] | LoadedDocument
"""What can be loaded: a file, a folder or ``-``, an object, or one that knows its place."""


def read_manifests(sources: Iterable[Source]) -> list[LoadedDocument]:
    """Read files, folders and ``-``; raise ConfigurationError with the file and line."""
    found: list[LoadedDocument] = []
    for number, source in enumerate(sources):
        if isinstance(source, LoadedDocument):
            found.append(source)
        elif isinstance(source, Mapping):
            found.append(LoadedDocument(place := f"load[{number}]", _plain(source, place)))
        elif source == STANDARD_INPUT:
            found += _documents("standard input", sys.stdin.buffer.read())
        else:
            for path in _files(Path(source)):
                try:
                    content = path.read_bytes()
                except OSError as error:
                    raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error
                found += _documents(str(path), content)
    return sorted(found, key=lambda manifest: manifest.rank)


def _plain(document: Mapping[str, Any], place: str) -> Document:
    """Give an object of the caller's as JSON has it, and the server's own."""
    try:
        return msgspec.json.decode(msgspec.json.encode(document), type=Document)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{place}: not an object that JSON can say: {error}") from error


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise ConfigurationError(f"cannot read {path}: No such file or directory")
    if not path.is_dir():
        yield path
        return
    files = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
    if not files:
        raise ConfigurationError(f"{path} has no file that ends in {', '.join(sorted(SUFFIXES))}")
    yield from files


def _documents(name: str, content: bytes) -> Iterator[LoadedDocument]:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{name}:{line}: not valid UTF-8") from error
    try:
        for found in _read(name, text.removeprefix("\ufeff")):
            if found.value is not None:
                yield from _objects(name, found)
    except DecodeError as error:
        raise ConfigurationError(str(error)) from error


def _read(name: str, text: str) -> Iterable[YamlDocument]:
    if text.lstrip()[:1] == "{":
        try:
            found = json_documents(text, name)
        except DecodeError:
            found = []
        if found and not any(each.warnings for each in found):
            return found
    # What is wrong with JSON, too, is told by the reader of YAML.
    return documents(text, ManifestDialect(name))


def _objects(name: str, found: YamlDocument) -> Iterator[LoadedDocument]:
    # Not by recursion: Python 3.14 reads lists of lists that are deeper than its own calls may be.
    waiting: list[tuple[Any, str]] = [(found.value, "")]
    while waiting:
        document, path = waiting.pop()
        where = partial(_place, name, found, path)
        if not isinstance(document, dict):
            raise ConfigurationError(f"{where()}: not an object with apiVersion, kind and metadata")
        items = document.get("items")
        if str(document.get("kind", "")).endswith("List") and items and isinstance(items, list):
            waiting += [
                (item, f"{path}.items[{index}]") for index, item in reversed([*enumerate(items)])
            ]
            continue
        yield LoadedDocument(where, document)


def _place(name: str, found: YamlDocument, path: str) -> str:
    return f"{name}:{found.line_of(path)}"


def load(state: State, manifests: Iterable[LoadedDocument]) -> list[str]:
    """Put objects into the server; give a line about each.

    Raises ConfigurationError, with file and line, for one that the server refuses and that is not
    optional.
    """
    with _without_collections():
        return [_outcome(state, manifest) for manifest in manifests]


@contextmanager
def _without_collections() -> Iterator[None]:
    """Put off the collector, which would look through thousands of objects that all stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _outcome(state: State, manifest: LoadedDocument) -> str:
    try:
        return _load(state, manifest)
    except (ApiError, ConfigurationError, UnicodeEncodeError) as error:
        words = str(error) if isinstance(error, ConfigurationError) else ""
        if isinstance(error, UnicodeEncodeError):
            words = f"{manifest.place}: not valid Unicode text"
        # Of several fields, the server's words are several lines.
        words = words or f"{manifest.place}: {' '.join(str(error).split())}"
        if not manifest.optional:
            raise ConfigurationError(words) from error
        return f"left out: {words}"


def _load(state: State, manifest: LoadedDocument) -> str:
    document = dict(manifest.document)
    kind = _kind(state, manifest)
    metadata = document.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name, namespace = metadata.get("name"), metadata.get("namespace") or "default"
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"{manifest.place}: the {kind.kind} has no metadata.name")
    if kind.kind == "Secret" and not kind.group:
        _check_values(manifest)
    writing = Writing(state, kind, namespace if kind.namespaced else "", _APPLYING, name)
    before = state.storage.revision
    answer = at_once(apply_document(writing, checked_depth(document)))
    if answer.code == CREATED:
        outcome = "created"
    else:
        outcome = "unchanged" if state.storage.revision == before else "configured"
    where = f" in {namespace}" if kind.namespaced else ""
    return f"{kind.qualified_resource}/{name}{where} {outcome}"


def _check_values(manifest: LoadedDocument) -> None:
    """Refuse a Secret of the wrong shape here: the server's own words would quote its values."""
    for field in ("data", "stringData"):
        values = manifest.document.get(field) or {}
        if not isinstance(values, dict):
            raise ConfigurationError(f"{manifest.place}: {field} of the Secret is no mapping")
        for key, value in values.items():
            if not isinstance(value, str | None):
                raise ConfigurationError(
                    f"{manifest.place}: {field}[{key!r}] of the Secret is no text"
                )


def _kind(state: State, manifest: LoadedDocument) -> ServedKind:
    version, name = manifest.document.get("apiVersion"), manifest.document.get("kind")
    if not isinstance(version, str) or not isinstance(name, str):
        raise ConfigurationError(f"{manifest.place}: apiVersion or kind is missing")
    kind = state.kinds.by_kind(version, name)
    if kind is None or not kind.is_stored:
        raise ConfigurationError(f"{manifest.place}: no kind {name!r} in version {version!r}")
    return kind


def plant(state: State, port: int) -> None:
    """Make what is missing; what is there already stays as it is."""
    for name in FIRST_NAMESPACES:
        if state.storage.get(Key(NAMESPACES, "", name)) is None:
            _create(state, "v1", NAMESPACES, "", {"metadata": {"name": name}})
    _kubernetes_service(state, port)


def _kubernetes_service(state: State, port: int) -> None:
    if state.storage.get(Key(SERVICES, "default", KUBERNETES)) is not None:
        return
    service: Document = {
        "metadata": {
            "name": KUBERNETES,
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "type": "ClusterIP",
            "clusterIP": state.addresses.kubernetes_address,
            "ipFamilyPolicy": "SingleStack",
            "sessionAffinity": "None",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
        },
    }
    _create(state, "v1", SERVICES, "default", service)


def _create(state: State, version: str, plural: str, namespace: str, document: Document) -> None:
    kind = state.kinds.by_resource("", version, plural)
    if kind is None:
        raise LookupError(f"{plural} are not served")
    writing = Writing(state, kind, namespace, WriteOptions(manager=SERVER))
    at_once(writing.create(writing.checked(document)))
