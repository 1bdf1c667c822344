"""The sidecar benchmark's results as tables, and what they say about our goals and promises.

Owns: the goals, what is shown and how it is rounded.  Must not know how figures are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from benchmarks import growth
from benchmarks.measuring import table
from benchmarks.mirror_goals import Goal
from benchmarks.mirror_tables import goals_table
from benchmarks.sidecar_contestants import OURS, THEIRS, TITLES

Figures = Mapping[str, Any]

FEW_CALLS: Final = 5  # reloads for however many changes at once
HEARD_WITHIN: Final = 90.0  # seconds after a connection fell silent
NOT_MEASURED: Final = "not measured"


def line(job: str, figure: str, show: Callable[[Any], str]) -> Callable[[Figures, str], str]:
    """How one figure of a job is shown, for one contestant on one server."""

    def shown(server: Figures, name: str) -> str:
        found = server.get(job, {})
        if "failed" in found:
            return f"failed: {found['failed']}"
        if figure not in found.get(name, {}):
            return NOT_MEASURED
        return show(found[name][figure])

    return shown


def started(figure: str, scale: float, digits: int) -> Callable[[Figures, str], str]:
    """How a figure of the start with the most objects is shown."""

    def shown(server: Figures, name: str) -> str:
        spread = _start(server, name).get(figure)
        if spread is None:
            return NOT_MEASURED
        low, high = (f"{_of(spread, key) * scale:.{digits}f}" for key in ("low", "high"))
        median = f"{_of(spread, 'median') * scale:.{digits}f}"
        return median if low == high else f"{median} ({low} to {high})"

    return shown


def by_the_minute(scale: float, digits: int) -> Callable[[Any], str]:
    """The median of the windows."""
    return lambda spread: f"{_of(spread, 'median') * scale:,.{digits}f}"


def seconds_or_never(found: float | None) -> str:
    """Seconds; None is what did not happen."""
    return "never" if found is None else f"{found:.1f}"


def rows(size: Figures) -> dict[str, Callable[[Figures, str], str]]:
    """What is shown, in words, and how."""
    objects, silent = f"{max(size['starts']):,}", f"{size['silent_seconds']:g}"
    found = {
        f"start to ready, {objects} objects, s": started("ready_seconds", 1, 2),
        "CPU until then, s": started("cpu_seconds", 1, 2),
        "memory afterwards, MB": started("resident_bytes", 1e-6, 1),
        "from a write to its file, p50, ms": line("freshness", "p50_ms", "{:.1f}".format),
        "p99, ms": line("freshness", "p99_ms", "{:.1f}".format),
        f"reload calls for {size['burst']} changes at once": line("burst", "calls", str),
        "until all files are right, s": line("burst", "right_seconds", seconds_or_never),
        "until the last call, s": line("burst", "last_call_seconds", seconds_or_never),
        "reads of a changing file that were torn": line("torn", "share", "{:.2%}".format),
        "of so many reads": line("torn", "reads", "{:,}".format),
        "requests a minute, nothing changes": line("idle", "requests", by_the_minute(1, 1)),
        "kB a minute": line("idle", "bytes", by_the_minute(1e-3, 1)),
        "CPU a minute, ms": line("idle", "cpu_ms", by_the_minute(1, 0)),
        f"deletions missed in {size['restarts']} restarts of the server": line(
            "restarts", "missed", str
        ),
        "from its return until a change is seen, p50, s": line(
            "restarts", "seen_p50", "{:.1f}".format
        ),
        "longest of them, s": line("restarts", "seen_most", "{:.1f}".format),
        "ends of the process": line("restarts", "ends", str),
    }
    if size["silent_seconds"]:
        found[f"connections silent for {silent} s: until a change is seen, s"] = line(
            "silent", "seconds", seconds_or_never
        )
    return found


def tables(figures: Figures, reached: Sequence[Goal]) -> list[str]:
    """Everything that was found out."""
    return [goals_table(reached), comparison(figures)]


def comparison(figures: Figures) -> str:
    """Both on every server."""
    servers = figures["servers"]
    out = figures["left_out"]
    head = [f"{TITLES[name]}, {server}" for server in servers for name in (OURS, THEIRS)]
    return table(
        "Side by side" + "".join(f"; {name} left out: {why}" for name, why in out.items()),
        ("figure", *head),
        [
            (words, *(show(server, name) for server in servers.values() for name in (OURS, THEIRS)))
            for words, show in rows(figures["size"]).items()
        ],
    )


# Goals


def goals(figures: Figures) -> list[Goal]:
    """Compare the figures with what we want."""
    return [
        goal
        for name, server in figures["servers"].items()
        for goal in (
            not_more(
                name, server, "p99 from a write to its file, ms", _figure("freshness", "p99_ms")
            ),
            not_more(name, server, "seconds to ready", _started("ready_seconds")),
            not_more(name, server, "bytes of memory", _started("resident_bytes")),
            not_more(name, server, "requests a minute", _median("idle", "requests")),
            not_more(name, server, "bytes a minute", _median("idle", "bytes")),
            few_calls(name, server),
            heard_again(name, server),
        )
    ]


def not_more(
    server: str, found: Figures, what: str, figure: Callable[[Figures, str], float | None]
) -> Goal:
    """No more of something than the original."""
    ours, theirs = figure(found, OURS), figure(found, THEIRS)
    goal = f"no more than {THEIRS}: {what}, {server}"
    if ours is None or theirs is None:
        return Goal(goal, NOT_MEASURED, None)
    return Goal(goal, f"{ours:,.1f} next to {theirs:,.1f}", ours <= theirs)


def few_calls(server: str, found: Figures) -> Goal:
    """Changes that come together are one reload, or a few."""
    goal = f"at most {FEW_CALLS} reloads for changes at once, {server}"
    calls = _figure("burst", "calls")(found, OURS)
    return (
        Goal(goal, NOT_MEASURED, None)
        if calls is None
        else Goal(goal, f"{calls:g}", 0 < calls <= FEW_CALLS)
    )


def heard_again(server: str, found: Figures) -> Goal:
    """A connection that is dead is not waited for."""
    goal = f"a change is seen within {HEARD_WITHIN:g} s of a silence, {server}"
    if OURS not in found.get("silent", {}):
        return Goal(goal, NOT_MEASURED, None)
    seconds = found["silent"][OURS]["seconds"]
    return Goal(goal, seconds_or_never(seconds), seconds is not None and seconds <= HEARD_WITHIN)


def broken_limits(figures: Figures) -> list[str]:
    """What we promise: no torn read, and no deletion missed."""
    return list(_broken(figures))


def _broken(figures: Figures) -> Iterator[str]:
    for name, server in figures["servers"].items():
        share = _figure("torn", "share")(server, OURS)
        if share:
            yield f"{share:.2%} of the reads were torn, {name}"
        missed = _figure("restarts", "missed")(server, OURS)
        if missed:
            yield f"{missed:g} deletions were missed, {name}"
        for job, found in server.items():
            if "failed" in found:
                yield f"{job} failed, {name}: {found['failed']}"


# How costs grow


def growth_rows(figures: Figures) -> list[growth.Row]:
    """The rows of the table of all benchmarks: the start."""
    found = []
    for server, each in figures["servers"].items():
        for figure, job, unit in (
            ("cpu_seconds", "CPU of a sidecar until it is ready", "s"),
            ("resident_bytes", "memory of a sidecar", "bytes"),
        ):
            for name in (OURS, THEIRS):
                points = {
                    int(objects): _of(by_name["figures"][name][figure], "median")
                    for objects, by_name in each["start"].items()
                    if name in by_name["figures"]
                }
                found.append(
                    growth.row(
                        f"{job}, {server}",
                        who=TITLES[name],
                        by="objects",
                        unit=unit,
                        points=points,
                        ours=name == OURS,
                        note="" if points else "left out",
                    )
                )
    return found


# Where figures are


def _figure(job: str, figure: str) -> Callable[[Figures, str], float | None]:
    return lambda server, name: server.get(job, {}).get(name, {}).get(figure)


def _median(job: str, figure: str) -> Callable[[Figures, str], float | None]:
    def found(server: Figures, name: str) -> float | None:
        spread = server.get(job, {}).get(name, {}).get(figure)
        return None if spread is None else _of(spread, "median")

    return found


def _started(figure: str) -> Callable[[Figures, str], float | None]:
    def found(server: Figures, name: str) -> float | None:
        spread = _start(server, name).get(figure)
        return None if spread is None else _of(spread, "median")

    return found


def _start(server: Figures, name: str) -> Figures:
    """The start with the most objects."""
    most = max(server["start"], key=int)
    found: Figures = server["start"][most]["figures"].get(name, {})
    return found


def _of(spread: Any, key: str) -> float:
    """Of a spread as it was measured, or as a result file has it."""
    return float(spread[key] if isinstance(spread, Mapping) else getattr(spread, key))
