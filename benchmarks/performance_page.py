"""The page docs/performance.md: sections that results are written into.

Owns: finding and replacing one section, and the words for where figures come from.  Must not
know any benchmark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from benchmarks.measuring import REPOSITORY

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


def with_section(page: str, title: str, new: str) -> str:
    """The page with the section of a title replaced, or added at the end."""
    found = re.search(rf"^{re.escape(title)}$.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{page.rstrip()}\n\n{new}"
    rest = page[found.end() :]
    return page[: found.start()] + new + (f"\n{rest}" if rest else "")
