"""How the development server's costs grow with the watches that it has.

Owns: what counts as the cost.  Must not know how figures are taken or what is promised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.growth import Row, row, rows_of
from benchmarks.measuring import Spread, fitted_exponent

WIRES: Final = ("plain", "TLS")

Figures = Mapping[str, Mapping[str, Spread]]


def exponent(fan_outs: Mapping[int, Figures], wire: str) -> float | None:
    """The power of the number of watches with which the time to reach the last one grows."""
    return fitted_exponent(best_times(fan_outs, wire))


def best_times(fan_outs: Mapping[int, Figures], wire: str) -> dict[int, float]:
    """Milliseconds to the last watch, by the number of watches.

    From the best round of each size: what else the machine does only ever adds to a round.
    """
    return {watches: figures[wire]["last_p50_ms"].low for watches, figures in fan_outs.items()}


def growth(held: Mapping[int, Figures], fan_outs: Mapping[int, Figures]) -> list[Row]:
    """What watches cost by their number."""
    titles = {wire: f"`reflet serve`, {wire}" for wire in WIRES}
    by_size = {str(count): {"figures": each, "left_out": {}} for count, each in held.items()}
    return [
        *(
            each
            for job, unit, cost in (
                ("server CPU to open a watch", "µs", _held_figure("open_cpu_microseconds")),
                (
                    "server memory for watches",
                    "MB",
                    lambda watches, each: each["bytes_per_watch"].median * watches / 1e6,
                ),
                ("from a write to the one watch of it, p50", "ms", _held_figure("event_p50_ms")),
            )
            for each in rows_of(job, by_size, cost, titles=titles, by="watches", unit=unit)
        ),
        *(
            row(
                "from a write to the last of all watches, p50",
                who=titles[wire],
                by="watches",
                unit="ms",
                points=best_times(fan_outs, wire),
            )
            for wire in WIRES
        ),
        *(
            row(
                "server CPU for an event to all watches",
                who=titles[wire],
                by="watches",
                unit="µs",
                points={
                    watches: figures[wire]["cpu_microseconds"].median
                    for watches, figures in fan_outs.items()
                },
            )
            for wire in WIRES
        ),
    ]


def _held_figure(name: str) -> Callable[[int, Mapping[str, Spread]], float]:
    return lambda _watches, each: each[name].median
