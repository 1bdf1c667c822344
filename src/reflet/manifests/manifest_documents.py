"""Which documents of the texts are manifests, and what is said of those that are not.

Whatever is given by name must be manifests, as for kubectl.  In a folder, what is none is left out
and counted: values and charts, compose files, workflows, kustomizations and their patches, raw
Helm templates, what tests of kuttl and Chainsaw assert.  A file that is meant to be a manifest and
cannot be read is told of, and the others go on.
"""

from __future__ import annotations

import enum
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from reflet.api.yaml.text import PlacedValue, read_values
from reflet.apirules.schema.known_kinds import KindStanding, judged
from reflet.errors import DecodeError
from reflet.manifests.files import FoundFile, Sources, SourceText, find_files, read_text
from reflet.manifests.kustomizations import Kustomization, changed_files, read_kustomization
from reflet.manifests.rendering import KUSTOMIZATIONS, RENDERED, rendered_texts

_MOST_NAMED: Final = 3  # files that the summary names
# Cheap to look for in the bytes of a thousand files: no object is without them.
_NEEDED: Final = (b"kind", b"apiVersion")
_TEMPLATED: Final = b"{{"
_NAME: Final = re.compile(rb"^\s*name:\s*[\"']?([a-z0-9][a-z0-9.-]*)[\"']?\s*$", re.MULTILINE)
_JSON_KEYS: Final = (b'"apiVersion"', b'"kind"')
_MEANT_AS_MANIFEST: Final = re.compile(
    rb"^[\"']?apiVersion[\"']?\s*:.*^[\"']?kind[\"']?\s*:"
    rb"|^[\"']?kind[\"']?\s*:.*^[\"']?apiVersion[\"']?\s*:",
    re.MULTILINE | re.DOTALL,
)
_PLACEHOLDER: Final = re.compile(
    r"\{\{.*\}\}|\$\{.+\}|\$\(.+\)|^\$[A-Za-z_]|\$[A-Z][A-Z0-9_]+|<[A-Za-z][^<>]*>|%[A-Z_]+%"
    # Helm calls a release that nobody has named RELEASE-NAME; lower case may well be meant.
    r"|__[A-Z][A-Z0-9_]*__|\bRELEASE-NAME\b"
)
# Parts of objects that a test waits for.  kuttl knows them by their names: 01-assert.yaml.
_ASSERTION: Final = re.compile(r"\d+-(?:assert|errors)(?:-[^.]+)?\.ya?ml")
_ASSERTION_OF_CHAINSAW: Final = re.compile(r"(?:.+-)?(?:assert|errors?)(?:-.+)?\.ya?ml")
_CHAINSAW: Final = ("chainsaw-test.yaml", "chainsaw-test.yml")


@final
class Because(enum.Enum):
    """Why a file of a folder is not read as manifests."""

    NO_MANIFEST = enum.auto()
    HELM_TEMPLATE = enum.auto()
    KUSTOMIZE = enum.auto()
    PATCH = enum.auto()
    TEMPLATE = enum.auto()
    ASIDE = enum.auto()
    ASSERTION = enum.auto()


class Skipped(NamedTuple):
    """A file that was left out; ``owner`` is the chart or kustomization that it belongs to."""

    file: str
    because: Because
    owner: str = ""


class ManifestDocument(NamedTuple):
    """A document that claims to be an object, and the text that it stands in.

    ``is_changed``: a kustomization of the folders changes it before anybody applies it.
    """

    source: str
    placed: PlacedValue
    folder: str = ""
    is_changed: bool = False

    @property
    def place(self) -> str:
        """``deploy/web.yaml:12``."""
        return f"{self.source}:{self.placed.line}"

    @property
    def is_rendered(self) -> bool:
        """Whether kustomize or Helm made it."""
        return self.source.endswith(RENDERED)


class UnreadableText(NamedTuple):
    """A file of a folder that is meant to hold manifests and cannot be read, and where it fails."""

    file: str
    line: int
    message: str


@final
class DocumentReader:
    """Reads sources once; what it leaves out is known when ``documents`` has come to its end.

    ``made`` are kinds and names of objects that kustomizations and templates of the folders make.
    ``on_text`` is told the name and the text of everything that is read.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        namespace: str = "",
        on_text: Callable[[SourceText], None] | None = None,
    ) -> None:
        self._sources = sources
        self._namespace = namespace
        self._on_text = on_text
        self._chart_folders: dict[str, str] = {}
        self._patches: dict[str, str] = {}
        self._changed: frozenset[str] = frozenset()
        self.skipped: list[Skipped] = []
        self.unreadable: list[UnreadableText] = []
        self.made: set[tuple[str, str]] = set()
        self.texts = 0

    def documents(self) -> Iterator[ManifestDocument]:
        """Yield what claims to be an object, in the order of the sources.

        Raises ConfigurationError for what cannot be read, and DecodeError, with file and line, for
        what was given by name and is no manifest.
        """
        files = find_files(self._sources)
        self._read_kustomizations(files)
        for file in files:
            if not self._is_set_aside(file):
                yield from self._of_text(read_text(file))
        for text in rendered_texts(self._sources, namespace=self._namespace):
            yield from self._of_text(text)

    def skip(self, document: ManifestDocument, because: Because) -> None:
        """Leave out a document that turned out to be none."""
        self.skipped.append(Skipped(document.source, because))

    def _read_kustomizations(self, files: list[FoundFile]) -> None:
        found: dict[str, Kustomization] = {}
        for file in files:
            if file.folder and os.path.basename(file.path) in KUSTOMIZATIONS:  # noqa: PTH119
                kustomization = read_kustomization(read_text(file))
                found[os.path.normpath(file.folder)] = kustomization
                self._patches |= dict.fromkeys((*kustomization.patches, file.path), file.folder)
                self.made |= kustomization.made
        self._changed = changed_files(found)

    def _is_set_aside(self, file: FoundFile) -> bool:
        if not file.folder:
            return False
        if file.aside:
            self.skipped.append(Skipped(file.path, Because.ASIDE, file.aside))
            return True
        owner = self._patches.get(os.path.normpath(file.path))
        if owner is not None:
            self.skipped.append(Skipped(file.path, Because.KUSTOMIZE, owner))
            return True
        chart = self._chart_of(file.folder)
        if chart:
            self.skipped.append(Skipped(file.path, Because.HELM_TEMPLATE, chart))
            return True
        if _is_assertion(Path(file.path)):
            self.skipped.append(Skipped(file.path, Because.ASSERTION))
            return True
        return False

    def _chart_of(self, folder: str) -> str:
        """Return the chart whose templates are in a folder; empty for any other folder."""
        known = self._chart_folders.get(folder)
        if known is None:
            path = Path(folder)
            owners = [each.parent for each in (path, *path.parents) if each.name == "templates"]
            charts = [str(each) for each in owners if (each / "Chart.yaml").is_file()]
            known = self._chart_folders[folder] = charts[-1] if charts else ""
        return known

    def _of_text(self, text: SourceText) -> Iterator[ManifestDocument]:
        self.texts += 1
        if self._on_text is not None:
            self._on_text(text)
        if not text.folder:
            for placed in read_values(text.content, source=text.name):
                _check_claims(placed, text.name)
                yield ManifestDocument(text.name, placed)
            return
        if not all(word in text.content for word in _NEEDED):
            self.skipped.append(Skipped(text.name, Because.NO_MANIFEST))
            return
        try:
            found = [*read_values(text.content, source=text.name, only_mappings=True)]
        except DecodeError as error:
            self._take_unreadable(text, error)
            return
        manifests = [placed for placed in found if _is_manifest(placed.value)]
        if not manifests:
            self.skipped.append(Skipped(text.name, _reason(found)))
        changed = os.path.normpath(text.name) in self._changed
        yield from (
            ManifestDocument(text.name, placed, text.folder, changed) for placed in manifests
        )

    def _take_unreadable(self, text: SourceText, error: DecodeError) -> None:
        if _TEMPLATED in text.content:
            self.skipped.append(Skipped(text.name, Because.TEMPLATE))
            names = {each.decode(errors="replace") for each in _NAME.findall(text.content)}
            self.made |= {(kind, name) for name in names for kind in ("ConfigMap", "Secret")}
        elif _is_meant_as_manifest(text.content):
            place, _, message = str(error).removeprefix(f"{text.name}:").partition(": ")
            line = int(place) if place.isdigit() else 1
            self.unreadable.append(UnreadableText(text.name, line, message or str(error)))
        else:
            self.skipped.append(Skipped(text.name, Because.NO_MANIFEST))


def _is_assertion(path: Path) -> bool:
    if _ASSERTION.fullmatch(path.name):
        return True
    if not _ASSERTION_OF_CHAINSAW.fullmatch(path.name):
        return False
    return any((path.parent / name).is_file() for name in _CHAINSAW)


def _is_meant_as_manifest(content: bytes) -> bool:
    if content.lstrip().startswith(b"{"):
        return all(key in content for key in _JSON_KEYS)
    return _MEANT_AS_MANIFEST.search(content) is not None


def _check_claims(placed: PlacedValue, source: str) -> None:
    for field in ("apiVersion", "kind"):
        value = placed.value.get(field)
        if not isinstance(value, str) or not value:
            raise DecodeError(f"{source}:{placed.line}: {field} is missing", path=field)


def _is_manifest(value: Mapping[str, Any]) -> bool:
    version, kind = value.get("apiVersion"), value.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str) or not version or not kind:
        return False
    return judged(version, kind).standing is not KindStanding.CONFIGURATION


def _reason(found: list[PlacedValue]) -> Because:
    kustomize = any("kustomize.config" in str(each.value.get("apiVersion")) for each in found)
    return Because.KUSTOMIZE if kustomize else Because.NO_MANIFEST


def is_placeholder(value: object) -> bool:
    """Tell whether a value is to be replaced before anybody applies it: ``${NAME}``."""
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None


# Why, one and many of them, and what to do, with the chart or kustomization.
_SUMMARY: Final = (
    (Because.HELM_TEMPLATE, "1 Helm template", "{} Helm templates", "render it: --helm {}"),
    (
        Because.KUSTOMIZE,
        "1 part of a kustomization",
        "{} parts of kustomizations",
        "as kustomize means it: -k {}",
    ),
    (Because.PATCH, "1 patch", "{} patches", ""),
    (Because.TEMPLATE, "1 other template", "{} other templates", ""),
    (Because.ASIDE, "1 set aside", "{} set aside", "in {}; --include reads them"),
    (Because.ASSERTION, "1 assertion of a test", "{} assertions of tests", ""),
    (Because.NO_MANIFEST, "1 that is no manifest", "{} that are no manifests", ""),
)


def skipped_summary(skipped: Sequence[Skipped]) -> str:
    """Say in one line what was left out, why, and what to do; empty when that is nothing."""
    files = list({each.file: each for each in skipped}.values())
    parts = []
    for because, one, many, advice in _SUMMARY:
        those = [each for each in files if each.because is because]
        if those:
            counts = Counter(each.owner for each in those if each.owner)
            owners = [owner for owner, _ in counts.most_common()]
            to_do = advice.format(_named(owners, 1)) if advice and owners else ""
            told = to_do or _named([each.file for each in those], _MOST_NAMED)
            parts.append(f"{one if len(those) == 1 else many.format(len(those))} ({told})")
    if not parts:
        return ""
    return f"skipped {len(files)} file{'' if len(files) == 1 else 's'}: {'; '.join(parts)}"


def _named(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {more} more" if more > 0 else shown
