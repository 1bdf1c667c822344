"""``.reflet.yaml``: what holds for every run in a repository.

Found in the current folder or above it, up to the root of the repository.  A mistake in it is one
line with file and line.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, final

import msgspec

from reflet.api.frozen import Frozen
from reflet.api.yaml.dialects import ManifestDialect
from reflet.api.yaml.documents import YamlDocument, documents
from reflet.errors import ConfigurationError, DecodeError
from reflet.insight.lint.assumptions import Assumption
from reflet.insight.lint.rules import rules_named
from reflet.insight.lint.suppressions import Suppression
from reflet.insight.reference_table import Tables, row_from
from reflet.manifests.files import Sources

NAME: Final = ".reflet.yaml"

# What may be written where; items of lists have [].
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("exclude", "include", "lint", "makers", "references"),
    "lint": ("assume", "baseline", "ignore", "select", "strict", "suppress"),
    "lint.suppress[]": ("object", "path", "reason", "rule", "rules"),
}
_FIELD: Final = re.compile(r" - at `\$\.?(.*)`$")
_INDEX: Final = re.compile(r"\[\d+\]")


class LintSettings(Frozen, frozen=True, kw_only=True):
    """The section ``lint``.  ``baseline`` is a path that the current folder understands."""

    assume: tuple[str, ...] = ()
    baseline: str = ""
    ignore: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    strict: bool = False
    suppress: tuple[Suppression, ...] = ()


class ProjectFile(Frozen, frozen=True, kw_only=True):
    """What the file says; all of it empty when there is none.

    ``source`` is the file, empty when there is none.  ``exclude`` and ``include`` are patterns for
    names below its folder; rows of ``makers`` and ``references`` are as they were written.
    """

    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    lint: LintSettings = LintSettings()
    makers: tuple[Mapping[str, Any], ...] = ()
    references: tuple[Mapping[str, Any], ...] = ()
    source: str = ""

    def sources(self, files: Sources, paths: Iterable[str] = ()) -> Sources:
        """Return *files*, and *paths* as well, with what the project says of files in folders."""
        return msgspec.structs.replace(
            files,
            paths=(*files.paths, *paths),
            include=(*files.include, *self.include),
            exclude=(*files.exclude, *self.exclude),
            base=str(Path(self.source).parent) if self.source else "",
        )

    def tables(self) -> Tables:
        """Return the rows of ``makers`` and ``references``, which were read without a mistake."""
        return Tables(
            references=tuple(map(row_from, self.references)),
            makers=tuple(map(row_from, self.makers)),
        )


def find_project_file(start: Path) -> Path | None:
    """Return the nearest file, from a folder upwards to a repository's root, home or the top."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - never fails, unlike Path.home()
    for folder in (start, *start.parents):
        file = folder / NAME
        if file.is_file():
            return file
        if (folder / ".git").exists() or folder == home:
            break
    return None


def read_project_file(file: Path) -> ProjectFile:
    """Read a file.  Raises ConfigurationError for one that cannot be read or is wrong."""
    source = os.path.relpath(file)
    try:
        found = list(documents(file.read_text(encoding="utf-8-sig"), ManifestDialect(source)))
    except OSError as error:
        raise ConfigurationError(f"cannot read {source}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigurationError(f"{source}: not valid UTF-8") from None
    except DecodeError as error:
        raise ConfigurationError(str(error)) from error
    nodes = [node for node in found if node.value is not None]
    if not nodes:
        return ProjectFile(source=source)
    if len(nodes) > 1:
        raise ConfigurationError(f"{source}:{nodes[1].line}: only one document is read")
    return _project_file(nodes[0], source, file.parent)


def _project_file(node: YamlDocument, source: str, folder: Path) -> ProjectFile:
    def mistake(path: str, words: str) -> ConfigurationError:
        return ConfigurationError(f"{source}:{node.line_of(path)}: {words}")

    _check_keys(node.value, "", mistake)
    value = dict(node.value)
    if isinstance(value.get("lint"), dict):
        value["lint"] = dict(value["lint"])
        suppress = value["lint"].get("suppress")
        if isinstance(suppress, list):
            value["lint"]["suppress"] = [
                _entry(each, f"{source}:{node.line_of(f'lint.suppress[{index}]')}")
                for index, each in enumerate(suppress)
            ]
    # An empty section is written by people who comment out what is in it.
    value = {key: item for key, item in value.items() if item is not None}
    try:
        project = msgspec.convert({**value, "source": source}, ProjectFile)
    except msgspec.ValidationError as error:
        words = str(error)
        at = _FIELD.search(words)
        path = at[1] if at else ""
        plain = _FIELD.sub("", words).replace("`", "").lower()
        raise mistake(path, f"{path}: {plain}" if path else plain) from None
    _check_values(project.lint, mistake)
    for section in ("makers", "references"):
        for index, row in enumerate(getattr(project, section)):
            try:
                row_from(row)
            except ConfigurationError as error:
                path = f"{section}[{index}]"
                raise mistake(path, f"{path}: {error}") from None
    if project.lint.baseline:
        # Below the folder of the file, wherever the command is run.
        baseline = os.path.relpath(folder / project.lint.baseline)
        lint = msgspec.structs.replace(project.lint, baseline=baseline)
        project = msgspec.structs.replace(project, lint=lint)
    return project


def _check_keys(value: Any, path: str, mistake: Callable[[str, str], ConfigurationError]) -> None:
    known = KEYS.get(_INDEX.sub("[]", path))
    if isinstance(value, list):
        for index, item in enumerate(value):
            _check_keys(item, f"{path}[{index}]", mistake)
    if known is None or value is None:
        return
    if not isinstance(value, dict):
        raise mistake(path, f"{path or 'the file'}: expected keys, one of {', '.join(known)}")
    for key, item in value.items():
        inside = f"{path}.{key}" if path else key
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there is {', '.join(known)}"
            raise mistake(inside, f"{path or 'the file'} has no key {key!r}: {hint}")
        _check_keys(item, inside, mistake)


def _entry(entry: Any, place: str) -> Any:
    """Return one entry of ``suppress`` with its place, and ``rule`` as one of ``rules``."""
    if not isinstance(entry, dict):
        return entry
    entry = {"place": place, **entry}
    if "rule" in entry:
        rules = entry.get("rules")
        entry["rules"] = [entry.pop("rule"), *(rules if isinstance(rules, list) else ())]
    return entry


def _check_values(lint: LintSettings, mistake: Callable[[str, str], ConfigurationError]) -> None:
    for path, name in _rule_names(lint):
        if not rules_named(name):
            raise mistake(path, f"there is no rule {name!r}: reflet lint --rules lists them")
    for index, text in enumerate(lint.assume):
        try:
            Assumption.parse(text)
        except ConfigurationError as error:
            raise mistake(f"lint.assume[{index}]", str(error)) from None
    for index, entry in enumerate(lint.suppress):
        if not (entry.rules or entry.object or entry.path):
            raise mistake(
                f"lint.suppress[{index}]", "an entry of suppress needs rules, object or path"
            )


def _rule_names(lint: LintSettings) -> Iterator[tuple[str, str]]:
    for section, names in (("select", lint.select), ("ignore", lint.ignore)):
        yield from ((f"lint.{section}[{index}]", name) for index, name in enumerate(names))
    for index, entry in enumerate(lint.suppress):
        yield from ((f"lint.suppress[{index}]", name) for name in entry.rules)


@final
class ProjectNames:
    """What files are called below the project's folder, wherever the command is run.

    That is the folder of the project's file, else the repository's root, else *start*.
    """

    def __init__(self, project: ProjectFile, start: Path) -> None:
        folders = (start, *start.parents)
        self._root = (
            Path(project.source).resolve().parent
            if project.source
            else next((each for each in folders if (each / ".git").exists()), start)
        )
        self._names: dict[str, str] = {}

    def name_of(self, file: str) -> str:
        """Return the name of a file; standard input keeps its own."""
        if file not in self._names:
            path = Path(file)
            below = os.path.relpath(path.resolve(), self._root) if path.exists() else file
            self._names[file] = Path(below).as_posix()
        return self._names[file]

    def has(self, name: str) -> bool:
        """Say whether there is a file of that name."""
        return (self._root / name).exists()
