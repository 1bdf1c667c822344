"""Texts from files, folders and standard input, and what kustomize and Helm make; errors name them.

A folder is read as a person means it: files that end like manifests, all the way down, but not in
hidden folders nor in those that hold test data and other people's code, as ``include`` and
``exclude`` say.  Whether a text is a manifest at all is told by
``manifest_documents``; what ``-k`` and ``--helm`` name is rendered by ``rendering``.

Upstream: cli-runtime/pkg/resource/builder.go, FilenameParam
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple, final

import msgspec

from reflet.errors import ConfigurationError

SUFFIXES: Final = (".json", ".yaml", ".yml")
STANDARD_INPUT: Final = "-"
STANDARD_INPUT_NAME: Final = "standard input"
ASIDE: Final = frozenset({"testdata", "node_modules", "vendor"})
"""Folders that are told of and not read: inputs of tests, wrong on purpose, and others' code."""
OURS: Final = ".reflet"
"""Files of this name are about manifests, and not among them."""
_URL: Final = ("http://", "https://")


@final
class HelmChart(msgspec.Struct, frozen=True):
    """A chart, as ``helm template`` names it, with the files and settings of its values."""

    chart: str
    values: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


@final
class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Where manifests come from: what ``-f``, ``-k`` and ``--helm`` name.

    ``include`` and ``exclude`` are globs for files in folders: one without a slash is for the name
    of a file or of any folder on the way to it, one with a slash for the path below the folder that
    was named, below ``base``, or from the current folder.
    """

    paths: tuple[str, ...] = ()
    kustomizations: tuple[str, ...] = ()
    charts: tuple[HelmChart, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    recursive: bool = True
    base: str = ""

    @classmethod
    def of(cls, sources: Sources | Iterable[str]) -> Sources:
        """Take paths alone for sources."""
        return sources if isinstance(sources, Sources) else cls(paths=tuple(sources))

    def __bool__(self) -> bool:
        return bool(self.paths or self.kustomizations or self.charts)

    @property
    def reads_standard_input(self) -> bool:
        """Whether a part can be read once only."""
        return STANDARD_INPUT in self.paths

    @property
    def flags(self) -> str:
        """The flags that name the same, for a command that somebody is to type."""
        flags = [f"-f {path}" for path in self.paths]
        flags += [f"-k {folder}" for folder in self.kustomizations]
        for chart in self.charts:
            flags += [f"--helm {chart.chart}", *(f"--values {file}" for file in chart.values)]
            flags += [f"--set {setting}" for setting in chart.settings]
        return " ".join(flags)


class FoundFile(NamedTuple):
    """A file, and the folder in which it was found; none for one that was given by its name.

    ``aside`` is the folder on the way to it for which it is not read.
    """

    path: str
    folder: str = ""
    aside: str = ""


class SourceText(NamedTuple):
    """One text: where it comes from, what it says, and the folder in which it was found.

    Without a folder it was given by name, and so must be a manifest.
    """

    name: str
    content: bytes
    folder: str = ""


def read_text(found: FoundFile) -> SourceText:
    """Read a file, or standard input; raises ConfigurationError for what cannot be read."""
    if found.path == STANDARD_INPUT:
        return SourceText(STANDARD_INPUT_NAME, sys.stdin.buffer.read())
    try:
        return SourceText(found.path, Path(found.path).read_bytes(), found.folder)
    except OSError as error:
        raise ConfigurationError(f"cannot read {found.path}: {error.strerror}") from error


def find_files(sources: Sources) -> list[FoundFile]:
    """Return the files that are meant, each once; standard input is ``-``.

    Raises ConfigurationError for a folder that cannot be listed or has no file that could be a
    manifest, and for an address.
    """
    found: dict[str, FoundFile] = {}
    for path in sources.paths:
        if path == STANDARD_INPUT:
            found[path] = FoundFile(path)
        elif path.startswith(_URL):
            raise ConfigurationError(
                f"{path} is not fetched: curl -fsSL {path} | reflet … -f - reads it"
            )
        elif Path(path).is_dir():
            for file in _in_folder(str(Path(path)), sources):
                found.setdefault(file.path, file)
        else:
            file = FoundFile(str(Path(path)))
            found[file.path] = file
    return [*found.values()]


def _in_folder(top: str, sources: Sources) -> list[FoundFile]:
    files = [
        FoundFile(
            file,
            os.path.dirname(file) or ".",  # noqa: PTH120 - for thousands of files
            "" if sources.include else _aside(file.removeprefix(top)),
        )
        for file in walk(top, recursive=sources.recursive)
        if _is_wanted(file, top, sources)
    ]
    if not files:
        ends = f"ends in {', '.join(SUFFIXES)}"
        wanted = f"matches {', '.join(sources.include)}" if sources.include else ends
        left = ", and is not excluded" if sources.exclude else ""
        raise ConfigurationError(f"{top} has no file that {wanted}{left}")
    return files


def _aside(below: str) -> str:
    if not any(name in below for name in ASIDE):
        return ""
    return next((part for part in Path(below).parts[:-1] if part in ASIDE), "")


def walk(top: str, *, recursive: bool = True) -> Iterator[str]:
    """Yield the files below a folder in the order of their paths; hidden folders are not entered.

    Links to folders are not followed, so that nothing is read twice and no circle is walked.
    Raises ConfigurationError for a folder that cannot be listed.
    """
    try:
        with os.scandir(top) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise ConfigurationError(f"cannot read {top}: {error.strerror}") from error
    for entry in listed:
        below = entry.name if top == "." else os.path.join(top, entry.name)  # noqa: PTH118 - hot
        if entry.is_dir(follow_symlinks=False):
            if recursive and not entry.name.startswith("."):
                yield from walk(below)
        elif entry.is_file():
            yield below


def _is_wanted(file: str, top: str, sources: Sources) -> bool:
    if not sources.include and not file.endswith(SUFFIXES):
        return False
    if os.path.basename(file).startswith(OURS):  # noqa: PTH119 - for thousands of files
        return False
    if not sources.include and not sources.exclude:
        return True
    below = os.path.relpath(file, top)
    paths = {below, file}
    if sources.base:
        paths.add(os.path.relpath(file, sources.base))
    if sources.include and not _any_matches(sources.include, below, paths):
        return False
    return not _any_matches(sources.exclude, below, paths)


def _any_matches(patterns: Iterable[str], below: str, paths: Iterable[str]) -> bool:
    parts = Path(below).parts
    for pattern in patterns:
        plain = pattern.removeprefix("./").rstrip("/")
        if "/" not in plain:
            if any(fnmatchcase(part, plain) for part in parts):
                return True
        elif any(
            fnmatchcase(path, each)
            for path in paths
            # `deploy/*` is for everything below, and `**/` also for nothing at all.
            for each in (plain, f"{plain}/*", plain.removeprefix("**/"))
        ):
            return True
    return False
