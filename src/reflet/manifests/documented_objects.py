"""Objects that the documents and scripts beside manifests tell people to create.

A README that says ``kubectl create secret generic db``, or shows the ConfigMap, is where many
repositories keep what they do not want in git.  Read only when something is missed, and told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, final

from reflet.errors import ConfigurationError
from reflet.manifests.files import walk

_DOCUMENTS: Final = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt", ".sh", ".bash", ".mk")
_NAMES: Final = frozenset({"Makefile", "Justfile", "justfile", "Jenkinsfile", "Tiltfile", "README"})
_LARGEST: Final = 1 << 20  # bytes; no document that people read is larger
_KINDS: Final = {
    "secret": "Secret",
    "configmap": "ConfigMap",
    "cm": "ConfigMap",
    "serviceaccount": "ServiceAccount",
    "sa": "ServiceAccount",
    "priorityclass": "PriorityClass",
    "pc": "PriorityClass",
}
# Of bytes: to decode thousands of documents takes longer than to search them.
_NAME: Final = rb"([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)"
_COMMAND: Final = re.compile(
    rb"\bcreate\s+(?:-\S+\s+\S+\s+)*?(secret|configmap|cm|serviceaccount|sa|priorityclass|pc)\s+"
    rb"(?:(?:generic|tls|docker-registry)\s+)?(?:\\\s*)?(?:--?[\w-]+(?:=\S+|\s+\S+)\s+)*"
    rb"[\"'`]?" + _NAME
)
_SHOWN: Final = re.compile(
    rb"\bkind:[ \t]*(ConfigMap|Secret|ServiceAccount|PersistentVolumeClaim|PriorityClass|"
    rb"RuntimeClass)[ \t]*\n|\b(configMap|secret)Generator:"
)
_SHOWN_NAME: Final = re.compile(rb"\bname:[ \t]*[\"']?" + _NAME)
_GENERATED: Final = {b"configMap": "ConfigMap", b"secret": "Secret"}
_NEAR: Final = 400  # letters from a kind to the name of the object
_MOST_NAMED: Final = 3


@final
class DocumentedObjects:
    """What documents below folders create, by kind and name, whatever the namespace."""

    def __init__(self, folders: Iterable[str] = ()) -> None:
        self._folders = tuple(folders)
        self._places: dict[tuple[str, str], str] | None = None
        self._asked: dict[tuple[str, str], str] = {}

    def has(self, kind: str, name: str) -> bool:
        """Tell whether a document creates such an object; ask only for what is missing."""
        if self._places is None:
            self._places = dict(self._read())
        place = self._places.get((kind, name))
        if place is not None:
            self._asked[kind, name] = place
        return place is not None

    def remark(self) -> str:
        """Say which objects were taken to exist, and because of which document."""
        if not self._asked:
            return ""
        told = [f"{kind} {name} ({place})" for (kind, name), place in self._asked.items()]
        more = len(told) - _MOST_NAMED
        named = ", ".join(told[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        count, them = ("1 object", "it") if len(told) == 1 else (f"{len(told)} objects", "them")
        return f"{count} taken to exist because documents say how to create {them}: {named}"

    def _read(self) -> Iterator[tuple[tuple[str, str], str]]:
        for folder in self._folders:
            try:
                files = [file for file in walk(folder) if _is_document(Path(file))]
            except ConfigurationError:
                continue  # said when the manifests were read
            for file in files:
                for found in _created(Path(file)):
                    yield found, file


def _is_document(path: Path) -> bool:
    return path.suffix in _DOCUMENTS or path.name in _NAMES


def _created(path: Path) -> Iterator[tuple[str, str]]:
    try:
        if path.stat().st_size > _LARGEST:
            return
        content = path.read_bytes()
    except OSError:
        return  # a document that cannot be read creates nothing
    if b"create " in content:
        for kind, name in _COMMAND.findall(content):
            yield _KINDS[kind.decode()], name.decode()
    if b"kind:" in content or b"Generator:" in content:
        for shown in _SHOWN.finditer(content):
            named = _SHOWN_NAME.search(content, shown.end(), shown.end() + _NEAR)
            if named is not None:
                kind = shown[1].decode() if shown[1] else _GENERATED[shown[2]]
                yield kind, named[1].decode()
