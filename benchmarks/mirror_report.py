"""Writes the last full run of the mirror benchmark into docs/performance.md.

Owns: the section "The mirror" of that page, and nothing else in it.  Must not measure.

::

    python -m benchmarks mirror && python -m benchmarks.mirror_report
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any, Final

from benchmarks.measuring import REPOSITORY, RESULTS

RESULT: Final = RESULTS / "mirror.json"
PAGE: Final = REPOSITORY / "docs" / "performance.md"
TITLE: Final = "## The mirror"

INTRODUCTION: Final = """\
What it costs to keep a collection in memory: Reflet's shared informer next to the clients that
Python programs use today, and to client-go. Each runs in a process of its own, the peers as
released on PyPI in environments of their own, all in turns; figures are medians, with the range
in brackets.

The synthetic server sends what was encoded before anybody asked, so that the client is what is
measured: plain HTTP/1.1 for the Python peers, HTTP/2 over TLS for client-go, both for Reflet.
ConfigMaps are 1,024 bytes of JSON each, pods 5,600, `managedFields` included. Reflet's typed
objects keep the fields that a kubelet reads and drop `managedFields`; the others keep every
field. Clients without a cache of their own keep objects in a dict of the benchmark's. The bare
loop reads the socket, takes HTTP's framing off and decodes with Reflet's decoder: nothing that
mirrors can be faster. The one that keeps also puts each object into a dict: the difference is what
it costs that memory is not fresh any more, which no mirror can avoid.

CPU time is the figure to compare: the clock counts what else the machine does. It is not quiet
either: whoever holds much in memory shares the processor's cache with everything that runs.
client-go works in several threads, the others in one.
"""


def section(result: Mapping[str, Any]) -> str:
    """The section, from a result file."""
    machine = result["machine"]
    memory = machine["memory_bytes"] / 2**30
    kernel = machine["kernel"].partition("-")[0]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    facts = (
        f"`{result['command']}` on {result['finished'][:10]}: {machine['cores']} cores of "
        f"{machine['processor']}, {memory:.0f} GiB, Linux {kernel}, load average "
        f"{machine['load_average']:.1f}. Versions: {versions}.\n"
    )
    return "\n".join([TITLE, "", INTRODUCTION, facts, *_spaced(result["figures"]["tables"])])


def _spaced(tables: list[str]) -> list[str]:
    return [f"### {table}\n" for table in tables]


def with_section(page: str, new: str) -> str:
    """The page with its section replaced, or added at the end."""
    found = re.search(rf"^{re.escape(TITLE)}$.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{page.rstrip()}\n\n{new}"
    rest = page[found.end() :]
    return page[: found.start()] + new + (f"\n{rest}" if rest else "")


def main() -> int:
    """Write the section; 1 when there is no result."""
    if not RESULT.is_file():
        print("there is no result: run python -m benchmarks mirror", file=sys.stderr)
        return 1
    page = PAGE.read_text() if PAGE.is_file() else "# Performance\n"
    PAGE.write_text(with_section(page, section(json.loads(RESULT.read_text()))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
