"""The recovery benchmark's results as tables, and what they say about our goals.

Owns: the goals, what is shown and how it is rounded.  Must not know how figures are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from benchmarks import growth
from benchmarks.measuring import fitted_exponent, table
from benchmarks.mirror_goals import Goal
from benchmarks.mirror_tables import goals_table
from benchmarks.recovery_contestants import AUTO, CONTESTANTS, SCENES, WATCH
from benchmarks.recovery_work import MIRRORS

Figures = Mapping[str, Any]
ByOutage = Mapping[str, Figures]

WITHIN: Final = {50: 1.0, 500: 2.0, 2_000: 5.0}
"""Seconds from the server's being ready until the last of so many streams is to be live."""
ONE_STREAM: Final = 1.0  # seconds, for who has one however many objects there are
PART_OF_CLIENT_GO: Final = 15
FLAT: Final = 0.2  # the largest exponent of what does not grow: an attempt more or less is chance
MANY_STREAMS: Final = (WATCH, MIRRORS)
ABSENT: Final = "-"
COLUMNS: Final = (
    "away until ready, s",
    "attempts to connect while away",
    "afterwards",
    "live, p50, s",
    "p99, s",
    "last, s",
    "requests",
    "in the busiest second",
    "CPU, s",
)


# Goals


def goals(figures: Figures) -> list[Goal]:
    """Compare the figures with what we want."""
    outages, scenes = figures["outages"], figures["scenes"]
    return [
        *(attempts_goal(outages, name) for name in MANY_STREAMS),
        *(
            last_goal(outages, name, objects, seconds)
            for name in MANY_STREAMS
            for objects, seconds in WITHIN.items()
        ),
        last_goal(outages, AUTO, _most(outages), ONE_STREAM),
        *(part_goal(outages, name) for name in MANY_STREAMS),
        *(cpu_goal(outages, name) for name in MANY_STREAMS),
        *(scene_goal(scenes, scene, figures["size"]["scene_objects"]) for scene in SCENES),
    ]


def attempts_goal(outages: Figures, name: str) -> Goal:
    """One look-out is enough for everybody."""
    goal = f"no more attempts to connect for more streams: {_plain(name)}"
    told, exponents = [], []
    for seconds in _lengths(outages[name]):
        points = {
            int(objects): each[seconds]["attempts_away"]
            for objects, each in outages[name].items()
            if _is_there(each, seconds)
        }
        told.append(f"{seconds} s: {_in_a_row(f'{count:,}' for count in points.values())}")
        exponents.append(fitted_exponent(points))
    known = [each for each in exponents if each is not None]
    if len(known) < len(exponents) or not known:
        return Goal(goal, "; ".join(["not measured: too few sizes", *told]), None)
    steepest = max(known)
    measured = f"{'; '.join(told)}: n to the {steepest:.2f} at most"
    return Goal(goal, measured, steepest <= FLAT)


def last_goal(outages: Figures, name: str, objects: int, within: float) -> Goal:
    """Everybody is back soon, however long the outage was."""
    goal = f"the last of {objects:,} objects is live within {within:g} s: {_plain(name)}"
    by_outage = outages[name].get(str(objects), {})
    return _within(goal, by_outage, within)


def part_goal(outages: Figures, name: str) -> Goal:
    """After a long outage, a small part of the time that client-go needs."""
    objects, peer = str(_most(outages)), CONTESTANTS[name].peer
    lengths = _lengths(outages[name])
    seconds = lengths[-1] if lengths else "0"
    goal = (
        f"after {seconds} s, the last of {int(objects):,} in a {PART_OF_CLIENT_GO}th of the time: "
        f"{_plain(name)}"
    )
    pair = [outages[each].get(objects, {}) for each in (name, peer)]
    if not all(_is_there(each, seconds) for each in pair):
        return Goal(goal, "not measured", None)
    mine, its = (each[seconds]["last_seconds"] for each in pair)
    shown = _last(pair[1][seconds], int(objects))
    measured = f"{mine:.1f} s next to {shown} s of {_plain(peer)}"
    return Goal(goal, measured, mine <= its / PART_OF_CLIENT_GO)


def cpu_goal(outages: Figures, name: str) -> Goal:
    """Coming back costs no more than others pay."""
    objects, peer = str(_most(outages)), CONTESTANTS[name].peer
    goal = f"no more CPU for {int(objects):,} than {_plain(peer)}: {_plain(name)}"
    mine, its = (outages[each].get(objects, {}) for each in (name, peer))
    both = [each for each in _lengths(outages[name]) if _is_there(mine, each)]
    both = [each for each in both if _is_there(its, each)]
    if not both:
        return Goal(goal, "not measured", None)
    pairs = [(mine[each]["cpu_seconds"], its[each]["cpu_seconds"]) for each in both]
    told = [
        f"{seconds} s: {ours:.2f} s next to {theirs:.2f} s"
        for seconds, (ours, theirs) in zip(both, pairs, strict=True)
    ]
    return Goal(goal, "; ".join(told), all(ours <= theirs for ours, theirs in pairs))


def scene_goal(scenes: Figures, scene: str, objects: int) -> Goal:
    """Whatever stands between us and the server, and however it comes back."""
    within = WITHIN[objects]
    goal = f"the last of {objects:,} objects is live within {within:g} s: {SCENES[scene]}"
    found = {
        _plain(name): each for name, each in scenes[scene].items() if not CONTESTANTS[name].in_go
    }
    return _within(goal, found, within, unit="")


def _within(goal: str, found: Mapping[str, Figures], within: float, *, unit: str = " s") -> Goal:
    there = {key: each for key, each in found.items() if "left_out" not in each}
    if len(there) < len(found) or not there:
        return Goal(goal, "not measured", None)
    told = [f"{key}{unit}: {each['last_seconds']:.1f} s" for key, each in there.items()]
    slowest = max(each["last_seconds"] for each in there.values())
    return Goal(goal, "; ".join(told), slowest <= within)


# Tables


def tables(figures: Figures, reached: Sequence[Goal]) -> list[str]:
    """Everything that was found out."""
    return [
        goals_table(reached),
        outages_table(figures["outages"]),
        scenes_table(figures["scenes"], figures["size"]),
    ]


def outages_table(outages: Figures) -> str:
    """What everybody did about every outage."""
    lengths = _lengths(*outages.values())
    return table(
        f"Outages of {_in_a_row(lengths)} s, and every object changed meanwhile: until it is live",
        ("client", "objects", *COLUMNS),
        [
            (
                CONTESTANTS[name].title,
                f"{int(objects):,}",
                *_row([each.get(seconds, {}) for seconds in lengths], int(objects)),
            )
            for name, by_objects in outages.items()
            for objects, each in by_objects.items()
        ],
    )


def scenes_table(scenes: Figures, size: Figures) -> str:
    """The same in other circumstances."""
    objects = size["scene_objects"]
    return table(
        f"Other circumstances: {size['scene_seconds']:g} s away, {objects:,} objects each",
        ("circumstances", "client", *COLUMNS),
        [
            (SCENES[scene], CONTESTANTS[name].title, *_row([each], objects))
            for scene, by_name in scenes.items()
            for name, each in by_name.items()
        ],
    )


def _row(found: Sequence[Figures], objects: int) -> Sequence[str]:
    def counts(figure: str) -> str:
        return _in_a_row(f"{each[figure]:,}" if figure in each else ABSENT for each in found)

    def seconds(figure: str, *, digits: int = 1) -> str:
        return _in_a_row(
            f"{each[figure]:.{digits}f}" if figure in each else ABSENT for each in found
        )

    reasons = list(dict.fromkeys(each["left_out"] for each in found if "left_out" in each))
    return (
        seconds("away_seconds"),
        counts("attempts_away"),
        counts("attempts_after"),
        _in_a_row(_waited(each, "p50_seconds", objects) for each in found),
        _in_a_row(_waited(each, "p99_seconds", objects) for each in found),
        _in_a_row(_last(each, objects) for each in found),
        counts("requests"),
        counts("busiest_second"),
        "; ".join([seconds("cpu_seconds", digits=2), *(f"left out: {why}" for why in reasons)]),
    )


# How costs grow


def growth_rows(figures: Figures) -> list[growth.Row]:
    """The rows of the table of all benchmarks, of the longest outage."""
    outages = figures["outages"]
    lengths = _lengths(*outages.values())
    if not lengths:
        return []
    seconds = lengths[-1]
    rows = []
    for figure, job, unit in (
        ("attempts_away", f"attempts to connect while the server is away for {seconds} s", ""),
        ("cpu_seconds", f"CPU until all are live after {seconds} s away", "s"),
    ):
        for name, contestant in CONTESTANTS.items():
            there = {
                objects: each[seconds]
                for objects, each in outages[name].items()
                if _is_there(each, seconds)
            }
            rows.append(
                growth.row(
                    job,
                    who=contestant.title,
                    by="objects",
                    unit=unit,
                    points={int(objects): each[figure] for objects, each in there.items()},
                    ours=not contestant.in_go,
                    note="" if there else "left out",
                )
            )
    return rows


# Words


def _lengths(*contestants: Mapping[str, ByOutage]) -> list[str]:
    """The seconds of all outages that these went through."""
    found = {
        seconds
        for by_objects in contestants
        for by_outage in by_objects.values()
        for seconds in by_outage
    }
    return sorted(found, key=float)


def _most(outages: Figures) -> int:
    return max(int(objects) for by_objects in outages.values() for objects in by_objects)


def _is_there(by_outage: ByOutage, seconds: str) -> bool:
    return "left_out" not in by_outage.get(seconds, {"left_out": "not there"})


def _last(found: Figures, objects: int) -> str:
    """The last one, and how many there were when not everybody came back in time."""
    shown = _waited(found, "last_seconds", objects)
    lost = found and "live" in found and found["live"] < objects
    return f"{shown} ({found['live']:,} live)" if lost else shown


def _waited(found: Figures, figure: str, objects: int) -> str:
    """Seconds; what was given up took longer than we waited."""
    if figure not in found:
        return ABSENT
    given_up = found["live"] < objects and found[figure] >= found["last_seconds"]
    return f"{'>' if given_up else ''}{found[figure]:.1f}"


def _in_a_row(cells: Iterable[str]) -> str:
    return " / ".join(cells)


def _plain(name: str) -> str:
    return CONTESTANTS[name].title.replace("*", "")
