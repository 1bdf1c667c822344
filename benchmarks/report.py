"""Writes the last full runs into the pages of docs/performance, and draws docs/images.

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

from benchmarks import pictures, summary_page
from benchmarks.growth import Row, collected, growth_table
from benchmarks.measuring import REPOSITORY, RESULTS
from benchmarks.page_sections import GROWTH, SECTIONS, Section
from benchmarks.performance_page import facts, path_of, with_heading


def main() -> int:
    """Write what the command line names, or everything."""
    for line in write(sys.argv[1:] or list(SECTIONS)):
        print(line)
    return 0


def write(benchmarks: Sequence[str]) -> list[str]:
    """Write pages and pictures of these benchmarks; name what was written."""
    pages: dict[Path, str] = {}
    for name in benchmarks:
        result = RESULTS / f"{name}.json"
        if name in SECTIONS and result.is_file():
            text = composed(name, SECTIONS[name], json.loads(result.read_text()))
            pages |= {path_of(name): text} if text else {}
    rows = growth_of_all()
    if rows:
        pages[path_of(pictures.GROWTH)] = composed_growth(rows)
    for path, text in pages.items():
        path.write_text(text)
    before = summary_page.PAGE.read_text()
    after = summary_page.filled(before, summary_page.loaded())
    if after != before:
        summary_page.PAGE.write_text(after)
        pages[summary_page.PAGE] = after
    drawn = [*pages, *pictures.draw(benchmarks), *pictures.draw_growth(rows)]
    return [str(path.relative_to(REPOSITORY)) for path in drawn]


def growth_of_all(results: Path = RESULTS) -> list[Row]:
    """The rows of the page over all benchmarks; none as long as one of them was never run.

    Else the run of a single one, where there are no results yet, would take the others' away.
    """
    run = all((results / f"{name}.json").is_file() for name in SECTIONS)
    return collected(SECTIONS, results=results) if run else []


def composed(benchmark: str, section: Section, result: Mapping[str, Any]) -> str:
    """A page: its words, pictures, every table, and where the figures come from.

    Empty for a result that was written before results had tables.
    """
    tables = result.get("tables") or result["figures"].get("tables")
    if not tables:
        return ""
    return _page(benchmark, section, facts(result), tables)


def composed_growth(rows: Sequence[Row]) -> str:
    """The page over all benchmarks: its words, the picture, one table."""
    return _page(pictures.GROWTH, GROWTH, "", [growth_table(rows)])


def _page(benchmark: str, section: Section, origin: str, tables: Sequence[str]) -> str:
    shown = [
        f"![{picture.alt}](../images/{name}.svg)\n"
        for name, picture in pictures.of_benchmark(benchmark)
    ]
    parts = [f"# {section.title}", "", section.introduction, *([origin] if origin else []), *shown]
    return "\n".join([*parts, *map(with_heading, tables)]).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
