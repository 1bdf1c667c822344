"""Writes the last full runs into docs/performance.md and README.md, and draws docs/images.

Owns: which results go where.  Must not measure.

::

    python -m benchmarks.report             everything there is a result of
    python -m benchmarks.report mirror      one of them
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import front_page, pictures
from benchmarks.growth import Row, collected, growth_table
from benchmarks.measuring import REPOSITORY, RESULTS
from benchmarks.page_sections import GROWTH, SECTIONS, Section
from benchmarks.performance_page import PAGE, facts, with_section


def main() -> int:
    """Write what the command line names, or everything."""
    for line in write(sys.argv[1:] or list(SECTIONS)):
        print(line)
    return 0


def write(benchmarks: Sequence[str]) -> list[str]:
    """Write sections and pictures of these benchmarks; say what was written."""
    written = []
    page = PAGE.read_text() if PAGE.is_file() else "# Performance\n"
    for name in benchmarks:
        result = RESULTS / f"{name}.json"
        if name not in SECTIONS or not result.is_file():
            continue
        text = composed(name, SECTIONS[name], json.loads(result.read_text()))
        if text:
            page = with_section(page, SECTIONS[name].title, text)
            written.append(f"{PAGE.relative_to(REPOSITORY)}: {SECTIONS[name].title.strip('# ')}")
    rows = growth_of_all()
    if rows:
        page = with_section(page, GROWTH.title, composed_growth(rows))
        written.append(f"{PAGE.relative_to(REPOSITORY)}: {GROWTH.title.strip('# ')}")
    PAGE.write_text(page)
    before = front_page.README.read_text()
    after = front_page.with_table(before, front_page.short_table(front_page.loaded()))
    if after != before:
        front_page.README.write_text(after)
        written.append(f"{front_page.README.relative_to(REPOSITORY)}: the short table")
    drawn = [*pictures.draw(benchmarks), *pictures.draw_growth(rows)]
    return written + [str(path.relative_to(REPOSITORY)) for path in drawn]


def growth_of_all(results: Path = RESULTS) -> list[Row]:
    """The rows of the section over all benchmarks; none as long as one of them was never run.

    Else the run of a single one, where there are no results yet, would take the others' away.
    """
    run = all((results / f"{name}.json").is_file() for name in SECTIONS)
    return collected(SECTIONS, results=results) if run else []


def composed(benchmark: str, section: Section, result: Mapping[str, Any]) -> str:
    """A section: its words, where the figures come from, pictures and every table.

    Empty for a result that was written before results had tables.
    """
    tables = result.get("tables") or result["figures"].get("tables")
    if not tables:
        return ""
    shown = [
        f"![{picture.alt}](images/{name}.svg)\n"
        for name, picture in pictures.of_benchmark(benchmark)
    ]
    parts = [section.title, "", section.introduction, facts(result), *shown]
    return "\n".join([*parts, *(f"### {table}\n" for table in tables)])


def composed_growth(rows: Sequence[Row]) -> str:
    """The section over all benchmarks: its words, the picture, one table."""
    [(name, picture)] = pictures.of_benchmark(pictures.GROWTH)
    shown = f"![{picture.alt}](images/{name}.svg)\n"
    return "\n".join((GROWTH.title, "", GROWTH.introduction, shown, f"### {growth_table(rows)}\n"))


if __name__ == "__main__":
    sys.exit(main())
