"""The idle benchmark's results as tables, and what they say about our promises.

Owns: the promises, what is shown and how it is rounded.  Must not know how figures are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks import growth
from benchmarks.idle_contestants import AGENT, CANNOT, MANAGERS, TITLES, is_ours
from benchmarks.idle_requests import KINDS
from benchmarks.measuring import Spread, fitted_exponent, table
from benchmarks.mirror_contestants import OURS, OURS_TLS
from benchmarks.mirror_goals import Goal
from benchmarks.mirror_tables import goals_table

Figures = Mapping[str, Any]
BySize = Mapping[str, Mapping[str, Any]]

FLAT: Final = 0.2  # the largest exponent of what does not grow: a ping more or less is noise
FEW: Final = 9.95  # below, a digit behind the point
ABSENT: Final = "-"
FLAT_ONES: Final = (("mirrors", OURS_TLS), ("mirrors", OURS), ("managers", "auto"))
SILENT_ONES: Final = (*FLAT_ONES, ("managers", "watch"))
IN_THE_GROWTH_TABLE: Final = {
    "mirrors": (OURS_TLS, OURS, "official", "go_json"),
    "managers": tuple(MANAGERS),
    "agents": (AGENT,),
}


@dataclass(frozen=True, slots=True)
class Job:
    """The words for one job: *things* is what there is more and more of."""

    title: str
    who: str
    things: str


JOBS: Final[Mapping[str, Job]] = {
    "mirrors": Job("Mirrors of {} ConfigMaps that nobody changes", "client", "objects"),
    "managers": Job(
        "Managers of {} ConfigMaps that nobody changes, each used by 3 pods, "
        "each pod looked at every {:g} s",
        "manager",
        "objects",
    ),
    "agents": Job("Agents with {} pods that nobody touches, 5 ConfigMaps each", "agent", "pods"),
}


# Promises


def goals(figures: Figures) -> list[Goal]:
    """Compare the figures with what we promise."""
    return [
        *(silence_goal(figures[job], job, name) for job, name in SILENT_ONES),
        *(flatness_goal(figures[job], job, name) for job, name in FLAT_ONES),
    ]


def broken(reached: Sequence[Goal]) -> list[str]:
    """The promises that do not hold, in words."""
    return [f"{goal.goal}: {goal.measured}" for goal in reached if goal.reached is False]


def silence_goal(by_size: BySize, job: str, name: str) -> Goal:
    """Who watches asks for nothing else."""
    goal = f"asks for nothing but the next watch: {_plain(TITLES[job][name])}"
    found = _found(by_size, name)
    if not found:
        return Goal(goal, "not measured", None)
    most = max(
        sum(each[f"{kind}_requests"].high for kind in KINDS if kind != "watch")
        for each in found.values()
    )
    return Goal(goal, f"{_number(most)} other requests a minute", most == 0)


def flatness_goal(by_size: BySize, job: str, name: str) -> Goal:
    """Waiting for many objects costs what waiting for a few does."""
    goal = f"no more bytes a minute for more objects: {_plain(TITLES[job][name])}"
    points = _points(by_size, name, "bytes")
    exponent = fitted_exponent(points)
    if exponent is None:
        return Goal(goal, "not measured: too few bytes to tell", None)
    measured = f"{_in_a_row(map(_number, points.values()))}: n to the {_two_digits(exponent)}"
    return Goal(goal, measured, exponent <= FLAT)


# Tables


def tables(figures: Figures, reached: Sequence[Goal]) -> list[str]:
    """Everything that was found out."""
    return [goals_table(reached), *(job_table(job, figures) for job in JOBS)]


def job_table(job: str, figures: Figures) -> str:
    """What everybody at one job did, by the minute."""
    by_size, seconds = figures[job], figures["size"]["seconds"]
    words = JOBS[job]
    columns = (
        "requests",
        "grow as n to the",
        "which",
        "bytes sent",
        "bytes received",
        "bytes grow as n to the",
        "connections",
        "CPU, ms",
        *(("the shim's part of it",) if job == "agents" else ()),
        "watches",
    )
    empty = [""] * (len(columns) - 1)
    return table(
        f"{words.title.format(_in_a_row(f'{int(size):,}' for size in by_size), seconds)}: "
        "by the minute",
        (words.who, *columns),
        [
            *((title, *_row(job, by_size, name)) for name, title in TITLES[job].items()),
            *((title, f"left out: {why}", *empty) for title, why in CANNOT[job].items()),
        ],
    )


def _row(job: str, by_size: BySize, name: str) -> Sequence[str]:
    found = _found(by_size, name)
    reasons = [
        f"left out with {int(size):,}: {standings['left_out'][name]}"
        for size, standings in by_size.items()
        if name in standings["left_out"]
    ]

    def cells(figure: str) -> str:
        return _in_a_row(
            _spread(found[size][figure]) if size in found else ABSENT for size in by_size
        )

    return (
        cells("requests"),
        _exponent(_points(by_size, name, "requests")),
        _kinds(list(found.values())),
        cells("bytes_sent"),
        cells("bytes_received"),
        _exponent(_points(by_size, name, "bytes")),
        cells("connections"),
        cells("cpu_milliseconds"),
        *((cells("shim_cpu_milliseconds"),) if job == "agents" else ()),
        "; ".join([*_watches(list(found.values())), *reasons]),
    )


def _kinds(found: Sequence[Mapping[str, Spread]]) -> str:
    """The kinds of requests that there were."""
    return ", ".join(
        kind for kind in KINDS if any(each[f"{kind}_requests"].high > 0 for each in found)
    )


def _watches(found: Sequence[Mapping[str, Spread]]) -> list[str]:
    """What was asked of the watches, at any size; nothing where there was none."""
    watching = [each for each in found if each["watched"].median]
    if not watching:
        return []
    shortest = min(each["shortest_watch_seconds"].median for each in watching)
    longest = max(each["longest_watch_seconds"].median for each in watching)
    bookmarks = any(each["bookmarks"].median for each in watching)
    lengths = dict.fromkeys((f"{shortest:,.0f}", f"{longest:,.0f}"))
    limit = f"{' to '.join(lengths)} s" if longest else "no limit"
    return [f"{'bookmarks' if bookmarks else 'no bookmarks'}, {limit}"]


# How costs grow


def growth_rows(figures: Figures) -> list[growth.Row]:
    """The rows of the table of all benchmarks."""
    return [
        each
        for job, names in IN_THE_GROWTH_TABLE.items()
        for each in growth.rows_of(
            f"bytes a minute while nothing changes, {job}",
            figures[job],
            lambda _size, found: found["bytes"].median,
            titles={name: TITLES[job][name] for name in names},
            by=JOBS[job].things,
            unit="B",
            ours=is_ours,
        )
    ]


# Words


def _found(by_size: BySize, name: str) -> dict[str, Mapping[str, Spread]]:
    return {
        size: standings["figures"][name]
        for size, standings in by_size.items()
        if name in standings["figures"]
    }


def _points(by_size: BySize, name: str, figure: str) -> dict[int, float]:
    return {int(size): each[figure].median for size, each in _found(by_size, name).items()}


def _exponent(points: Mapping[int, float]) -> str:
    exponent = fitted_exponent(points)
    return "none" if exponent is None else _two_digits(exponent)


def _two_digits(exponent: float) -> str:
    return f"{round(exponent, 2) + 0.0:.2f}"  # or what is nearly zero might have a minus


def _spread(spread: Spread) -> str:
    """The median, and the range when rounding leaves one."""
    median, low, high = map(_number, (spread.median, spread.low, spread.high))
    return median if low == high else f"{median} ({low} to {high})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= FEW or value.is_integer() else f"{value:.1f}"


def _in_a_row(cells: Iterable[str]) -> str:
    return " / ".join(cells)


def _plain(title: str) -> str:
    return title.replace("*", "")
