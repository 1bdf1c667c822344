"""The page docs/performance.md: sections that results are written into.

Owns: finding and replacing one section, and the words for where figures come from.  Must not
know any benchmark.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from benchmarks.measuring import REPOSITORY, RESULTS

PAGE: Final = REPOSITORY / "docs" / "performance.md"


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


def section(title: str, introduction: str, result: Mapping[str, Any]) -> str:
    """A section: its words, where the figures come from, and every table."""
    tables = [f"### {table}\n" for table in result["figures"]["tables"]]
    return "\n".join([title, "", introduction, facts(result), *tables])


def with_section(page: str, title: str, new: str) -> str:
    """The page with the section of a title replaced, or added at the end."""
    found = re.search(rf"^{re.escape(title)}$.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{page.rstrip()}\n\n{new}"
    rest = page[found.end() :]
    return page[: found.start()] + new + (f"\n{rest}" if rest else "")


def write(benchmark: str, title: str, compose: Callable[[Mapping[str, Any]], str]) -> int:
    """Write the last full run of a benchmark into its section; 1 when there is no result."""
    path = RESULTS / f"{benchmark}.json"
    if not path.is_file():
        print(f"there is no result: run python -m benchmarks {benchmark}", file=sys.stderr)
        return 1
    page = PAGE.read_text() if PAGE.is_file() else "# Performance\n"
    PAGE.write_text(with_section(page, title, compose(json.loads(path.read_text()))))
    return 0
