"""The pictures of the sidecar benchmark.

Owns: which of its figures are shown.  Must not measure, nor know how bars are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.bar_chart import Bar, bar_chart
from benchmarks.sidecar_contestants import OURS, THEIRS, TITLES

Figures = Mapping[str, Any]


def torn_reads(figures: Figures) -> str:
    """What a reader sees of a file that changes."""
    return bar_chart(
        "Reads of a file that changes ten times a second, and saw half of it",
        "percent of all reads, fewer is better",
        [*_bars(figures, "torn", lambda found: 100.0 * found["share"])],
        digits=1,
    )


def missed_deletions(figures: Figures) -> str:
    """What is left of objects that were deleted while the server was away."""
    times = figures["size"]["restarts"]
    return bar_chart(
        f"Files of deleted objects that stayed, after {times} restarts of the API server",
        "one object deleted in each, fewer is better",
        [*_bars(figures, "restarts", lambda found: found["missed"])],
        digits=0,
    )


def _bars(figures: Figures, job: str, value: Callable[[Figures], float]) -> Iterator[Bar]:
    for server, found in figures["servers"].items():
        for name in (OURS, THEIRS):
            each = found.get(job, {}).get(name)
            if each is not None:
                label = f"{TITLES[name].replace('*', '')}, {server}"
                kind = "ours" if name == OURS else "peer"
                yield Bar(label=label, value=value(each), kind=kind)
