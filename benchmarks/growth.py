"""How costs grow with size: the rows that benchmarks put into their figures, and the table of all.

Owns: what a row is, the turns of contestants at several sizes, the table, and what an exponent
means in words.  Must not know what is measured.

A row is one cost of one contestant at several sizes, as a result file has it::

    {"job": "CPU for a watch event", "who": "Reflet informer, HTTP/2", "ours": true,
     "by": "objects in the cache", "unit": "µs",
     "points": {"1000": 4.1, "10000": 4.2, "100000": 4.9}, "exponent": 0.04, "note": ""}

``note`` says why there is no exponent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import (
    RESULTS,
    Sample,
    Spread,
    Standings,
    fitted_exponent,
    in_turns,
    table,
)

Row = Mapping[str, Any]
Figures = Mapping[str, Spread]

TITLE: Final = "Cost at several sizes, and the power of the size with which it grows"
COLUMNS: Final = ("cost", "of", "sizes", "cost at each size", "exponent", "which means")

# The largest exponent of each meaning, with room for what a busy machine does to figures.
MEANINGS: Final = (
    (-0.15, "less, the larger the size"),
    (0.15, "about the same at every size"),
    (0.85, "grows less than the size"),
    (1.15, "grows about as the size does"),
    (math.inf, "**grows more than the size**"),
)


def row(
    job: str,
    *,
    who: str,
    by: str,
    unit: str = "",
    points: Mapping[int, float],
    ours: bool = True,
    note: str = "",
) -> Row:
    """One cost of one contestant; *by* is what there is more and more of.

    What is counted and not measured has no *unit*.
    """
    exponent = fitted_exponent(points)
    return {
        "job": job,
        "who": who.replace("*", ""),
        "ours": ours,
        "by": by,
        "unit": unit,
        "points": {str(size): cost for size, cost in points.items()},
        "exponent": exponent,
        "note": "" if exponent is not None else note or "nothing that grows",
    }


def rows_of(
    job: str,
    by_size: Mapping[str, Mapping[str, Any]],
    cost: Callable[[int, Figures], float],
    *,
    titles: Mapping[str, str],
    by: str,
    unit: str,
    ours: Callable[[str], bool] = lambda _name: True,
) -> list[Row]:
    """A row for each title, from what came of the job at each size (``Standings.plain``).

    *cost* is given the size and the figures of one contestant at that size.
    """
    rows = []
    for name, title in titles.items():
        points = {
            int(size): cost(int(size), standings["figures"][name])
            for size, standings in by_size.items()
            if name in standings["figures"]
        }
        reasons = [
            f"with {int(size):,}: {standings['left_out'][name]}"
            for size, standings in by_size.items()
            if name in standings["left_out"]
        ]
        note = f"left out {reasons[-1]}" if reasons else ""
        rows.append(
            row(job, who=title, by=by, unit=unit, points=points, ours=ours(name), note=note)
        )
    return rows


def at_sizes(
    names: Sequence[str],
    sizes: Sequence[int],
    rounds: int,
    measure: Callable[[str, int], Sample],
    *,
    announce: Callable[[str, int], None],
) -> dict[str, Standings]:
    """Measure each contestant at each size once a round, everything in turns.

    A slow minute then hits every size; who fails at one size goes on at the others.
    """
    runs = {f"{name} {size}": (name, size) for size in sizes for name in names}
    found = in_turns(
        runs,
        rounds,
        lambda run: measure(*runs[run]),
        announce=lambda run: announce(*runs[run]),
    )
    by_size = {str(size): Standings() for size in sizes}
    for run, (name, size) in runs.items():
        if run in found.figures:
            by_size[str(size)].figures[name] = found.figures[run]
        else:
            by_size[str(size)].left_out[name] = found.left_out[run]
    return by_size


def collected(
    benchmarks: Iterable[str], *, quick: bool = False, results: Path = RESULTS
) -> list[Row]:
    """The rows of the last runs of these benchmarks, as far as there are any."""
    rows: list[Row] = []
    for name in benchmarks:
        path = results / f"{name}{'-quick' if quick else ''}.json"
        if path.is_file():
            rows += json.loads(path.read_text())["figures"].get("growth", ())
    return rows


def growth_table(rows: Iterable[Row]) -> str:
    """One table of all."""
    return table(
        TITLE,
        COLUMNS,
        [
            (
                f"{each['job']}, {each['unit']}" if each["unit"] else each["job"],
                each["who"],
                _sizes(each),
                _in_a_row(map(short, each["points"].values())),
                # Zero has no sign here.
                "" if each["exponent"] is None else f"{round(each['exponent'], 2) + 0.0:.2f}",
                meaning(each["exponent"]) or each["note"],
            )
            for each in rows
        ],
    )


def meaning(exponent: float | None) -> str:
    """What an exponent says; empty for none."""
    if exponent is None:
        return ""
    # As it is shown: 0.104 is shown as 0.10.
    return next(words for most, words in MEANINGS if round(exponent, 2) <= most)


def short(cost: float) -> str:
    """A cost with about three digits, a count with all of its own."""
    if cost >= 100 or cost == int(cost):
        return f"{cost:,.0f}"
    return f"{cost:.{2 - math.floor(math.log10(abs(cost)))}f}"


def _sizes(row: Row) -> str:
    sizes = _in_a_row(f"{int(size):,}" for size in row["points"])
    return f"{sizes} {row['by']}" if sizes else ""


def _in_a_row(cells: Iterable[str]) -> str:
    return " / ".join(cells)
