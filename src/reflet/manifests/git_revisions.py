"""Files as they are in a revision of their git repository, for whoever reads them like any others.

The user's own git is asked, by commands that only read: nothing is checked out, and neither the
index nor the working tree is touched.  What is asked for is written below a private folder, which
goes away with the context.
"""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import structs

from reflet.errors import ConfigurationError
from reflet.manifests.files import SUFFIXES, HelmChart, Sources

LARGEST: Final = 10 << 20  # bytes of a file; what is larger is no manifest and no input of one
_LINK, _MODULE = "120000", "160000"


class Revisions(NamedTuple):
    """Two revisions that are compared; no second one is the working tree."""

    before: str
    after: str = ""

    @classmethod
    def parse(cls, text: str) -> Revisions:
        """Read ``REV`` or ``REV..REV``, as git does; raises ConfigurationError."""
        before, dots, after = text.partition("..")
        if after.startswith("."):
            raise ConfigurationError(f"{text!r}: two dots lie between revisions, not three")
        if not before or (dots and not after):
            raise ConfigurationError(f"{text!r} is no revision, and no two with .. between them")
        return cls(before, after)


class _Blob(NamedTuple):
    mode: str
    id: str
    size: int
    path: str


@contextmanager
def sources_at(sources: Sources, revision: str) -> Iterator[tuple[Sources, str]]:
    """Give the same sources as they are in a revision, and the folder that they lie below.

    What the revision does not have is left out.  Raises ConfigurationError for what is in no
    repository, for standard input, and for a revision that git does not know.
    """
    names = [*sources.paths, *sources.kustomizations, *(chart.chart for chart in sources.charts)]
    if sources.reads_standard_input:
        raise ConfigurationError("standard input has no revisions: name files or folders")
    if not names:
        raise ConfigurationError("name the files that have revisions, with -f, -k or --helm")
    root = _root_of(names[0])
    commit = _commit(root, revision)
    inside = {name: _inside(root, name) for name in (*names, *_values(sources))}
    # What kustomizations and charts are made from may lie anywhere.
    rendered = bool(sources.kustomizations or sources.charts)
    paths = [inside[name] for name in sources.paths]
    blobs = _listed(root, commit, () if rendered or os.curdir in paths else paths)
    wanted = [
        blob
        for blob in blobs
        if blob.mode != _MODULE
        and blob.size <= LARGEST
        and (rendered or blob.path in inside.values() or blob.path.endswith(SUFFIXES))
    ]
    with tempfile.TemporaryDirectory(prefix="reflet-revision-") as name:
        folder = Path(name)
        _write(root, wanted, folder)
        yield _below(sources, folder, inside), name


def _values(sources: Sources) -> Iterator[str]:
    return (file for chart in sources.charts for file in chart.values)


def _root_of(name: str) -> Path:
    # What a revision has need not be there any more: a folder above it still is.
    path = Path(name).absolute()
    folder = next(each for each in (path, *path.parents) if each.is_dir())
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}: {error}") from None


def _commit(root: Path, revision: str) -> str:
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    try:
        return _git(root, *asked).decode().strip()
    except ConfigurationError:
        raise ConfigurationError(f"{root}: git knows no revision {revision!r}") from None


def _inside(root: Path, name: str) -> str:
    path = os.path.relpath(os.path.realpath(name), os.path.realpath(root))
    if Path(path).parts[:1] == (os.pardir,):
        raise ConfigurationError(f"{name} is not in the repository {root}")
    return path


def _listed(root: Path, commit: str, paths: Sequence[str]) -> list[_Blob]:
    # Paths and not patterns: --literal-pathspecs.
    listing = _git(
        root,
        "--literal-pathspecs",
        "ls-tree",
        "-r",
        "-l",
        "-z",
        "--full-tree",
        commit,
        "--",
        *paths,
    )
    found = []
    for entry in listing.decode(errors="surrogateescape").split("\0"):
        if entry:
            facts, _, path = entry.partition("\t")
            mode, _, identity, size = facts.split()
            found.append(_Blob(mode, identity, int(size) if size.isdecimal() else 0, path))
    return found


def _write(root: Path, blobs: Sequence[_Blob], folder: Path) -> None:
    asked = "".join(f"{blob.id}\n" for blob in blobs).encode()
    answer = memoryview(_git(root, "cat-file", "--batch", given=asked))
    for blob in blobs:
        head, _, _ = bytes(answer[:200]).partition(b"\n")
        start = len(head) + 1
        content = bytes(answer[start : start + blob.size])
        answer = answer[start + blob.size + 1 :]
        path = folder / blob.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if blob.mode != _LINK:
            path.write_bytes(content)
            path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        elif _stays_below(folder, path, content):
            path.symlink_to(os.fsdecode(content))


def _stays_below(folder: Path, path: Path, target: bytes) -> bool:
    """Whether a link leads to a file of the same revision: others are not part of it."""
    reached = os.path.normpath(path.parent / os.fsdecode(target))
    return Path(reached).is_relative_to(folder)


def _below(sources: Sources, folder: Path, inside: dict[str, str]) -> Sources:
    def there(names: Sequence[str]) -> tuple[str, ...]:
        paths = [folder / inside[name] for name in names]
        return tuple(str(path) for path in paths if path.exists())

    charts = tuple(
        HelmChart(there([chart.chart])[0], there(chart.values), chart.settings)
        for chart in sources.charts
        if there([chart.chart])
    )
    return structs.replace(
        sources,
        paths=there(sources.paths),
        kustomizations=there(sources.kustomizations),
        charts=charts,
    )


def _git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    try:
        finished = subprocess.run(  # noqa: S603 - the user's own program, and no shell
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever is on PATH
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )
    except FileNotFoundError:
        raise ConfigurationError("git is not on PATH, and revisions are read by it") from None
    if finished.returncode:
        words = " ".join(finished.stderr.decode(errors="replace").split())
        raise ConfigurationError(words.removeprefix("fatal: ") or "git has failed")
    return finished.stdout
