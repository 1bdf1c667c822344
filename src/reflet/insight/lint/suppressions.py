"""Findings that somebody decided to live with, and decisions that are no longer needed.

An annotation speaks for an object, a comment for a line, an entry of ``.reflet.yaml`` for whatever
its patterns match.  Baselines have a module of their own.
"""

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Literal, final

from reflet.api.frozen import EMPTY, Frozen
from reflet.insight.lint.ignore_comments import EVERY_RULE, IGNORE, Comments
from reflet.insight.lint.rules import RULES, Finding, Rule, rules_named
from reflet.insight.lint.subjects import Subject

Manner = Literal["annotation", "assumption", "baseline", "comment", "configuration"]
"""How a finding is kept from being told."""


class Suppression(Frozen, frozen=True, kw_only=True):
    """Findings to leave out: those of all the rules, objects and files that are named.

    ``object`` is a pattern for ``Deployment shop/web``, ``path`` one for the file's name below the
    project's folder.  What is empty matches everything.
    """

    rules: tuple[str, ...] = ()
    object: str = ""
    path: str = ""
    reason: str = ""
    place: str = ""


class Suppressed(Frozen, frozen=True, kw_only=True):
    """A finding that is left out, in which manner, and what says so."""

    finding: Finding
    manner: Manner
    reason: str


class Unused(Frozen, frozen=True, kw_only=True):
    """Something that suppresses nothing, in words."""

    manner: Manner
    text: str


class Sifted(Frozen, frozen=True, kw_only=True):
    """The findings that are left, those left out, and what has nothing to leave out."""

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    unused: tuple[Unused, ...] = ()


@final
class Suppressions:
    """Everything that leaves findings out, and how often each of it did."""

    def __init__(
        self,
        subjects: Iterable[Subject] = (),
        *,
        comments: Comments = EMPTY,
        entries: Iterable[Suppression] = (),
        name_of: Callable[[str], str] = str,
    ) -> None:
        """*name_of* gives a file the name that the patterns of *entries* are for."""
        self._name_of = name_of
        self._entries = tuple(entries)
        self._comments = comments
        self._annotations: dict[tuple[str, str], frozenset[str]] = {}
        self._places: dict[tuple[str, str], str] = {}
        for subject in subjects:
            for value in subject.annotation(IGNORE):
                key = (subject.file, str(subject))
                names = frozenset(each.strip() for each in value.split(",") if each.strip())
                self._annotations[key] = self._annotations.get(key, frozenset()) | names
                line = subject.line_of("metadata.annotations")
                self._places[key] = f"{subject.file}:{line}"

    def sift(self, findings: Iterable[Finding], *, chosen: Iterable[Rule] = RULES) -> Sifted:
        """Leave out what is suppressed.

        Of rules that were not *chosen* nobody can say whether suppressing them is of use.
        """
        left: list[Finding] = []
        out: list[Suppressed] = []
        used: set[tuple[object, str]] = set()
        for finding in findings:
            hits = list(self._matching(finding))
            used.update((source, name) for _, source, name in hits)
            if hits:
                out.append(hits[0][0])
            else:
                left.append(finding)
        unused = self._unused(used, frozenset(chosen))
        return Sifted(findings=tuple(left), suppressed=tuple(out), unused=tuple(unused))

    def _matching(self, finding: Finding) -> Iterator[tuple[Suppressed, object, str]]:
        """Yield what suppresses a finding, with the source of it and the rule that it names."""
        line = (finding.file, finding.line)
        for name in self._comments.get(finding.file, EMPTY).get(finding.line, ()):
            if finding.rule in rules_named(name):
                reason = f"comment on {finding.file}:{finding.line}"
                yield Suppressed(finding=finding, manner="comment", reason=reason), line, name
        key = (finding.file, finding.subject)
        for name in self._annotations.get(key, ()):
            if finding.rule in rules_named(name):
                reason = f"annotation of {finding.subject}"
                yield Suppressed(finding=finding, manner="annotation", reason=reason), key, name
        for entry in self._entries:
            name = self._named_by(entry, finding)
            if name is not None:
                reason = entry.reason or entry.place
                yield (
                    Suppressed(finding=finding, manner="configuration", reason=reason),
                    entry,
                    name,
                )

    def _named_by(self, entry: Suppression, finding: Finding) -> str | None:
        if entry.object and not fnmatchcase(finding.subject, entry.object):
            return None
        if entry.path and not fnmatchcase(self._name_of(finding.file), entry.path):
            return None
        names = entry.rules or EVERY_RULE
        return next((name for name in names if finding.rule in rules_named(name)), None)

    def _unused(self, used: set[tuple[object, str]], chosen: frozenset[Rule]) -> Iterator[Unused]:
        for manner, source, name, words in self._every():
            if (source, name) in used:
                continue
            rules = rules_named(name)
            if not rules:
                yield Unused(manner=manner, text=f"{words}: there is no rule {name!r}")
            elif {rule for rule in rules if rule.usual or len(rules) == 1} <= chosen:
                yield Unused(manner=manner, text=words)

    def _every(self) -> Iterator[tuple[Manner, object, str, str]]:
        """Yield each source of suppression with each rule that it names, and words for both."""
        for file, lines in self._comments.items():
            for line, names in lines.items():
                for name in sorted(names):
                    yield "comment", (file, line), name, f"comment for {name} on {file}:{line}"
        for key, names in self._annotations.items():
            for name in sorted(names):
                words = f"annotation for {name} of {key[1]} ({self._places[key]})"
                yield "annotation", key, name, words
        for entry in self._entries:
            for name in entry.rules or sorted(EVERY_RULE):
                yield "configuration", entry, name, f"entry for {name} at {entry.place}"
