"""The pages in docs/performance: where each is, and what it is made of.

Owns: the form of a page, and the goals that pages say were missed.  Must not know any benchmark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import REPOSITORY

FOLDER: Final = REPOSITORY / "docs" / "performance"
MOST_WORDS: Final = 10  # of a heading; what else its table is about stands below it

_MISSED: Final = re.compile(r"^\| +(.+?) +\| +(.+?) +\| +\*\*no\*\* +\|$", re.MULTILINE)


def path_of(benchmark: str) -> Path:
    """The page of a benchmark."""
    return FOLDER / f"{benchmark.replace('_', '-')}.md"


def facts(result: Mapping[str, Any]) -> str:
    """When, on what and with which versions a result was obtained."""
    machine = result["machine"]
    memory = machine["memory_bytes"] / 2**30
    kernel = machine["kernel"].partition("-")[0]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    return (
        f"`{result['command']}` on {result['finished'][:10]}: {machine['cores']} cores of "
        f"{machine['processor']}, {memory:.0f} GiB, Linux {kernel}, load average "
        f"{machine['load_average']:.1f}. Versions: {versions}.\n"
    )


def with_heading(table: str) -> str:
    """A table below a short heading, with the rest of its title as a sentence."""
    title, _, rows = table.partition("\n\n")
    heading, rest = _cut(title, r": | \((?=[^()]*\)$)")
    if len(heading.split()) > MOST_WORDS:
        heading, more = _cut(heading, r", (?!and )")
        rest = ": ".join(filter(None, (more, rest)))
    sentence = [f"{rest[0].upper()}{rest[1:]}.", ""] if rest else []
    return "\n".join([f"## {heading}", "", *sentence, rows, ""])


def _cut(text: str, where: str) -> tuple[str, str]:
    """What is before the first such place, and what is behind it, without its parentheses."""
    found = re.search(where, text)
    if found is None:
        return text, ""
    rest = text[found.end() :]
    return text[: found.start()], rest.removesuffix(")") if found[0] == " (" else rest


def missed_goals(page: str) -> Iterator[tuple[str, str]]:
    """The goals of a page that were not reached, with what was measured instead."""
    yield from _MISSED.findall(page)
