"""From an object to the files that it wants: where each goes, and what it holds.

Pure.  Names and folders are those of kiwigrid/k8s-sidecar: a file is called after its key, a
trailing ``.url`` is cut off and means a download, and an annotation names another folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import join, normpath
from typing import Final, TypeAlias

from reflet.api.core.config import ConfigMap, Secret
from reflet.sidecar.selected_objects import SidecarKind
from reflet.sidecar.sidecar_settings import SidecarSettings

URL_SUFFIX: Final = ".url"
OWN_PREFIX: Final = ".reflet-"
"""Names that begin so are the sidecar's own: its ledger, and files that are being written."""

SidecarObject: TypeAlias = ConfigMap | Secret


@dataclass(frozen=True, slots=True)
class Download:
    """What is behind an address; *as_text* brings it to UTF-8, *is_secret* keeps it out of logs."""

    url: str = field(repr=False)
    as_text: bool
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class LastGood:
    """What is there already, or an empty file: of a download that has not succeeded."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is there or is not: of an object that an earlier life knew, and this one not yet."""


LAST_GOOD: Final = LastGood()
REMEMBERED: Final = Remembered()
Content: TypeAlias = str | bytes | LastGood | Remembered
"""What a file holds: text as it is in the object, or bytes."""


@dataclass(frozen=True, slots=True)
class ObjectTargets:
    """The files of one object by path, the downloads among them apart, and keys that have none.

    *refused* says of such keys why.
    """

    contents: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)
    downloads: Mapping[str, Download] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def targets_of(found: SidecarObject, kind: SidecarKind, settings: SidecarSettings) -> ObjectTargets:
    """The files that an object wants; of two keys with one path, the later one counts."""
    contents: dict[str, str | bytes] = {}
    downloads: dict[str, Download] = {}
    refused: dict[str, str] = {}
    folder = folder_of(found, settings)
    for key, value in _entries(found):
        name = key.removesuffix(URL_SUFFIX)
        if why := _why_no_name(name):
            refused[key] = why
            continue
        if settings.unique_filenames:
            meta = found.metadata
            name = f"namespace_{meta.namespace}.{kind}_{meta.name}.{name}"
        path = _clean(join(folder, name))
        if why := _why_no_path(path, settings):
            refused[key] = why
            continue
        contents.pop(path, None)
        downloads.pop(path, None)
        if not key.endswith(URL_SUFFIX):
            contents[path] = value
        elif (url := _address(value)) is None:
            refused[key] = "it holds no address in UTF-8"
        else:
            downloads[path] = Download(url, isinstance(value, str), kind == "secret")
    return ObjectTargets(contents, downloads, refused)


def folder_of(found: SidecarObject, settings: SidecarSettings) -> str:
    """The folder of an object's files: FOLDER, or what its annotation says, ``..`` and all."""
    return join(settings.folder, found.metadata.annotations.get(settings.folder_annotation, ""))


def is_allowed(path: str, settings: SidecarSettings) -> bool:
    """Whether a file may be there; without ALLOWED_FOLDERS it may be anywhere."""
    if settings.allowed_folders is None:
        return True
    return any(
        path.startswith(f"{_clean(each).rstrip('/')}/")
        for each in (settings.folder, *settings.allowed_folders)
    )


def _entries(found: SidecarObject) -> Iterator[tuple[str, str | bytes]]:
    """Keys as the original takes them: of two with one path, the later one is written last."""
    for key in sorted(found.data):
        yield key, found.data[key]
    if isinstance(found, ConfigMap):
        for key in sorted(found.binary_data):
            yield key, found.binary_data[key]


def _why_no_name(name: str) -> str:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        return "it is no name for a file"
    return "names that begin so are the sidecar's own" if name.startswith(OWN_PREFIX) else ""


def _why_no_path(path: str, settings: SidecarSettings) -> str:
    if "\0" in path or not _is_text(path):
        return f"{path!a} is no path: look at the annotation"
    if not is_allowed(path, settings):
        return f"{path} is not below FOLDER or one of ALLOWED_FOLDERS"
    return ""


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _address(value: str | bytes) -> str | None:
    if isinstance(value, str):
        return value.strip()
    try:
        return value.decode().strip()
    except UnicodeDecodeError:
        return None


def _clean(path: str) -> str:
    # A path may begin with two slashes, and then POSIX lets it be another one.
    return "/" + normpath(path).lstrip("/") if path.startswith("/") else path
