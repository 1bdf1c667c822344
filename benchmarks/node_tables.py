"""The node benchmark's results: tables, limits and how costs grow with the pods.

Owns: what is promised, what is shown and how it is rounded.  Must not know how figures are taken.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.growth import Row, row
from benchmarks.measuring import table

FRESH_LIMIT: Final = 50.0  # milliseconds, p99 at 50 pods
START_LIMIT: Final = 60.0  # seconds for 200 pods
KUBELET: Final = "60000 to 90000"  # milliseconds: its sync period and the jitter on it
PARTS: Final = ("p50", "p99", "worst")
WHO: Final = "Reflet node agent"

Fresh = Mapping[int, Mapping[str, float]]
Started = Mapping[int, Mapping[str, float]]


def broken_limits(
    fresh: Fresh,
    started: Started,
    storm: Mapping[str, Any],
) -> Sequence[str]:
    """Which promises do not hold, in words."""
    broken = []
    at_fifty = fresh.get(50)
    if at_fifty is not None and at_fifty["file_p99_ms"] > FRESH_LIMIT:
        broken.append(
            f"a change takes {at_fifty['file_p99_ms']:.0f} ms to its file at 50 pods (p99), and "
            f"may take {FRESH_LIMIT:.0f}; load {os.getloadavg()[0]:.1f}"
        )
    most = max(started)
    if started[most]["running_s"] > START_LIMIT:
        broken.append(f"{most} pods take {started[most]['running_s']:.0f} s to start")
    broken += [f"after the storm: {each}" for each in storm["wrong"]]
    return broken


def fresh_table(fresh: Fresh) -> str:
    """How long a write takes to a container."""
    return table(
        "From an acknowledged write, milliseconds p50 / p99 / worst "
        f"(limit: {FRESH_LIMIT:.0f} to the file, p99 at 50 pods; the kubelet: {KUBELET})",
        ("pods", "to the file", "to the signal", "to the last file of all pods", "agent, shim"),
        (
            (
                str(count),
                *(
                    " / ".join(f"{each[f'{what}_{part}_ms']:.1f}" for part in PARTS)
                    for what in ("file", "signal", "last_file")
                ),
                f"{each['agent_bytes'] / 1e6:.0f}, {each['shim_bytes'] / 1e6:.0f} MB",
            )
            for count, each in fresh.items()
        ),
    )


def start_table(started: Started) -> str:
    """How long many pods take to start."""
    return table(
        f"Pods with five objects each, started at once (limit: {START_LIMIT:.0f} s for 200)",
        ("pods", "all created", "all running", "agent", "shim", "CPU of the agent"),
        (
            (
                str(count),
                f"{each['created_s']:.1f} s",
                f"{each['running_s']:.1f} s",
                f"{each['agent_bytes'] / 1e6:.0f} MB",
                f"{each['shim_bytes'] / 1e6:.0f} MB",
                f"{each['agent_cpu_s']:.1f} s",
            )
            for count, each in started.items()
        ),
    )


def storm_table(storm: Mapping[str, Any]) -> str:
    """What is left after a storm."""
    killed = ", ".join(f"{number} {what}" for what, number in sorted(storm["killed"].items()))
    return table(
        f"kill -9 at random for {storm['seconds']:.0f} seconds",
        ("killed", "edits", "pods replaced", "all well after", "wrong at the end"),
        (
            (
                killed,
                str(storm["edits"]),
                str(storm["replaced"]),
                f"{storm['calm_after_s']:.1f} s",
                "; ".join(storm["wrong"]) or "nothing",
            ),
        ),
    )


def growth(fresh: Fresh, started: Started) -> list[Row]:
    """Each cost by the number of pods."""
    return [
        row(
            job,
            who=WHO,
            by="pods",
            unit=unit,
            points={count: each[figure] * scale for count, each in found.items()},
        )
        for job, found, figure, scale, unit in (
            ("from a write to the file, p50", fresh, "file_p50_ms", 1.0, "ms"),
            ("from a write to the signal, p50", fresh, "signal_p50_ms", 1.0, "ms"),
            ("from a write to the files of all pods, p50", fresh, "last_file_p50_ms", 1.0, "ms"),
            ("memory of the agent", fresh, "agent_bytes", 1e-6, "MB"),
            ("memory of the shim", fresh, "shim_bytes", 1e-6, "MB"),
            ("time until pods started at once run", started, "running_s", 1.0, "s"),
            ("CPU of the agent to start pods at once", started, "agent_cpu_s", 1.0, "s"),
        )
    ]
