"""The picture of the PLEG benchmark.

Owns: which of its figures are shown.  Must not measure, nor know how bars are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.bar_chart import Bar, bar_chart


def pleg_deaths(figures: Mapping[str, Any]) -> str:
    """How long a death stays unknown, by agent."""
    found = {**figures["caches"], **figures["nodes"]}
    bars = [
        Bar(
            label=f"{who}, {part}",
            value=each[f"death_{part}_ms"],
            kind="peer" if who.startswith("kubelet") else "ours",
        )
        for who, each in found.items()
        for part in ("p50", "p99")
    ]
    return bar_chart(
        f"From the death of one of {figures['pods']} containers until it is known",
        "milliseconds, fewer is better; nodes: to a client of the API server",
        bars,
        digits=0,
    )
