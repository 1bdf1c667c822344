"""The line that a finding is about, with carets below the words that matter.

Nothing of a Secret is shown: no line of one, and no line that holds a value of one.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, final

from reflet.api.core.config import Secret
from reflet.cli.output.output import clipped, columns, visible
from reflet.cli.output.palette import Meaning, paint
from reflet.insight.lint.rules import PLAIN_SECRET, Finding
from reflet.insight.lint.subjects import Subject

SHORTEST_SECRET: Final = 4  # letters of a value that is looked for in lines of other objects
LONGEST_IN_A_PIPE: Final = 160  # columns; a manifest in one line says nothing
MARGIN: Final = "    "
# ``apps/v1`` is one word, but an object that is called ``shop/web`` stands there as ``web``.
_WORDS: Final = (re.compile(r"[\w./-]+"), re.compile(r"[\w.-]+"))
_STEP: Final = re.compile(r"[\w-]+")


@final
class Excerpts:
    """Lines of the texts that were read, by name."""

    def __init__(
        self,
        texts: Mapping[str, bytes] | None = None,
        subjects: Iterable[Subject] = (),
        findings: Iterable[Finding] = (),
    ) -> None:
        secrets = [each for each in subjects if each.kind == "Secret"]
        self._texts = texts or {}
        self._lines: dict[str, list[str]] = {}
        self._values = {
            text
            for each in secrets
            if isinstance(each.object, Secret)
            for value in each.object.data.values()
            for text in _forms(value)
            if len(text) >= SHORTEST_SECRET
        }
        self._hidden = {(each.file, each.line) for each in secrets} | {
            (each.file, each.line) for each in findings if each.rule is PLAIN_SECRET
        }

    def lines(self, finding: Finding, meaning: Meaning) -> Iterator[str]:
        """Yield the line of a finding, and below it the carets; nothing if it may not be seen."""
        line = visible(self._line(finding).replace("\t", " "))
        if not line.strip():
            return
        number = str(finding.line)
        begin, end = span(line, finding)
        edge = paint(f"{MARGIN}{' ' * len(number)} | ", "dim")
        room = columns() if sys.stdout.isatty() else LONGEST_IN_A_PIPE
        shown = clipped(line, room - len(MARGIN + number) - 3)
        yield paint(f"{MARGIN}{number} | ", "dim") + shown
        if end <= len(shown):
            yield edge + " " * begin + paint("^" * (end - begin), meaning)

    def _line(self, finding: Finding) -> str:
        if finding.subject.startswith("Secret ") or (finding.file, finding.line) in self._hidden:
            return ""
        if finding.file not in self._lines:
            content = self._texts.get(finding.file, b"").decode(errors="replace")
            self._lines[finding.file] = content.removeprefix("\ufeff").split("\n")
        lines = self._lines[finding.file]
        line = lines[finding.line - 1].rstrip() if 0 < finding.line <= len(lines) else ""
        return "" if any(value in line for value in self._values) else line


def span(line: str, finding: Finding) -> tuple[int, int]:
    """Return where the words that matter begin and end in a line.

    These are the last word of the line that the message names and that is no field's name; else
    the field; else everything.
    """
    for word in _WORDS:
        said = set(word.findall(finding.message))
        for found in reversed(list(word.finditer(line))):
            is_field = line[found.end() : found.end() + 1] == ":"
            if found.group() in said and not is_field:
                return found.span()
    for field in reversed(_STEP.findall(finding.path)):
        place = re.search(rf"\b{re.escape(field)}\b", line)
        if place is not None:
            return place.span()
    return len(line) - len(line.lstrip(" -")), len(line)


def _forms(value: bytes) -> Iterator[str]:
    """Yield how the value of a Secret may stand in a line: as it is, line by line, and encoded."""
    yield from value.decode(errors="replace").splitlines()
    yield base64.b64encode(value).decode()
