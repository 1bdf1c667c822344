"""The managers benchmark's results as tables, and what they say about our goals.

Owns: the goals, what is shown and how it is rounded.  Must not know how figures are taken.

Memory and reads are this process's own.  The time to the first sync is the server's as well, so
both sides are compared by the clock, in turns; CPU time stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.measuring import Spread, shown, table
from benchmarks.mirror_goals import Goal
from benchmarks.mirror_tables import goals_table

WATCH: Final = "watch"
AUTO: Final = "auto"
KUBELET: Final = "kubelet"
WATCH_SECRETS: Final = "watch_secrets"
KUBELET_SECRETS: Final = "kubelet_secrets"


@dataclass(frozen=True, slots=True)
class Contestant:
    """A manager: of what, and by which strategy, or the kubelet's."""

    title: str
    kind: str
    strategy: str


CONTESTANTS: Final[Mapping[str, Contestant]] = {
    WATCH: Contestant("**Reflet**, `watch`, ConfigMaps", "ConfigMap", WATCH),
    AUTO: Contestant("**Reflet**, `auto`, ConfigMaps", "ConfigMap", AUTO),
    KUBELET: Contestant("kubelet (Go), ConfigMaps", "ConfigMap", KUBELET),
    WATCH_SECRETS: Contestant("**Reflet**, `watch`, Secrets", "Secret", WATCH),
    KUBELET_SECRETS: Contestant("kubelet (Go), Secrets", "Secret", KUBELET),
}
PAIRS: Final = (("ConfigMaps", WATCH, KUBELET), ("Secrets", WATCH_SECRETS, KUBELET_SECRETS))
FOLLOWERS: Final = (WATCH, AUTO)

TIMES_THE_KUBELETS_SYNC: Final = 2.0
READS_A_SECOND: Final = 1e6


def goals(figures: Mapping[str, Any]) -> list[Goal]:
    """Compare the figures with what we want."""
    held = figures["held"]["figures"]
    return [
        *(memory_goal(held, *pair) for pair in PAIRS),
        *(sync_goal(held, *pair) for pair in PAIRS),
        reads_goal(held),
    ]


def memory_goal(held: Mapping[str, Any], kind: str, ours: str, theirs: str) -> Goal:
    """An object costs no more to watch."""
    goal = f"no more memory for a watched object than the kubelet's manager ({kind})"
    if not {ours, theirs} <= held.keys():
        return Goal(goal, "not measured", None)
    mine, its = (held[name]["bytes_per_object"].median for name in (ours, theirs))
    return Goal(goal, f"{mine / 1000:.1f} KB next to {its / 1000:.1f} KB", mine <= its)


def sync_goal(held: Mapping[str, Any], kind: str, ours: str, theirs: str) -> Goal:
    """Everything is there soon."""
    times = TIMES_THE_KUBELETS_SYNC
    goal = f"all synced in no more than {times:g} times its time ({kind})"
    if not {ours, theirs} <= held.keys():
        return Goal(goal, "not measured", None)
    mine, its = (held[name]["sync_seconds"].median for name in (ours, theirs))
    cpu = held[ours]["sync_cpu_seconds"].median / held[theirs]["sync_cpu_seconds"].median
    measured = f"{mine / its:.2f} times ({mine:.2f} s next to {its:.2f} s; CPU {cpu:.2f} times)"
    return Goal(goal, measured, mine <= times * its)


def reads_goal(held: Mapping[str, Any]) -> Goal:
    """Reading is a look into memory."""
    goal = f"at least {READS_A_SECOND / 1e6:g} million reads a second from one thread"
    if WATCH not in held:
        return Goal(goal, "not measured", None)
    rate = held[WATCH]["reads_per_second"].median
    by_cpu = held[WATCH]["reads_per_cpu_second"].median
    measured = f"{rate / 1e6:.1f} million ({by_cpu / 1e6:.1f} a CPU second)"
    return Goal(goal, measured, rate >= READS_A_SECOND)


def tables(figures: Mapping[str, Any], reached: Sequence[Goal]) -> list[str]:
    """Everything that was found out."""
    size, held = figures["size"], figures["held"]
    return [
        goals_table(reached),
        held_table(size["objects"], held),
        work_table(size["objects"], held),
        *([followed_table(size, figures["followed"])] if figures["followed"] else []),
    ]


def held_table(objects: int, held: Mapping[str, Any]) -> str:
    """What watching costs."""
    columns = ("connections", "all synced, s", "CPU, s", "KB per object", "peak, MiB")
    rows = [
        (
            CONTESTANTS[name].title,
            shown(each["sockets"], 0),
            shown(each["sync_seconds"], 2),
            shown(each["sync_cpu_seconds"], 2),
            shown(each["bytes_per_object"], 1, scale=1 / 1000),
            f"{each['peak_bytes'].median / 2**20:.0f}",
        )
        for name, each in held["figures"].items()
    ]
    title = f"{objects:,} objects of 1 KiB, watched on a real kube-apiserver (HTTP/2, TLS)"
    return table(title, ("manager", *columns), [*rows, *left_out(held, len(columns))])


def work_table(objects: int, held: Mapping[str, Any]) -> str:
    """What happens in memory."""
    columns = (
        "reads/s, M",
        "per CPU second, M",
        "`await get`/s, M",
        "pods/s, k",
        "per CPU second, k",
    )
    rows = [
        (
            CONTESTANTS[name].title,
            shown(each["reads_per_second"], 2, scale=1e-6),
            f"{each['reads_per_cpu_second'].median * 1e-6:.2f}",
            _optional(each, "awaited_reads_per_second", 2, 1e-6),
            shown(each["registrations_per_second"], 0, scale=1e-3),
            f"{each['registrations_per_cpu_second'].median * 1e-3:.0f}",
        )
        for name, each in held["figures"].items()
    ]
    title = (
        f"Reads of the {objects:,} synced objects from one thread, and pods with 10 references "
        "registered and unregistered"
    )
    return table(title, ("manager", *columns), [*rows, *left_out(held, len(columns))])


def followed_table(size: Mapping[str, Any], followed: Mapping[str, Any]) -> str:
    """How fresh reads are."""
    rows = [
        (
            server,
            f"`{strategy}`",
            f"{int(objects):,}",
            shown(each["streams"], 0),
            *(
                shown(each[f"{since}_p{share}_ms"], 2)
                for since in ("acknowledged", "sent")
                for share in (50, 99)
            ),
        )
        for server, by_objects in followed.items()
        for objects, by_strategy in by_objects.items()
        for strategy, each in by_strategy.items()
    ]
    title = (
        f"Freshness: milliseconds from a write to a changed read, {size['writes']} writes at "
        f"{size['writes_per_second']:g} a second"
    )
    columns = ("since the answer: p50", "p99", "since sending: p50", "p99")
    return table(title, ("server", "strategy", "objects", "streams", *columns), rows)


def left_out(held: Mapping[str, Any], columns: int) -> list[Sequence[str]]:
    """The rows of those who took no part."""
    empty = [""] * (columns - 1)
    return [
        (CONTESTANTS[name].title, f"left out: {why}", *empty)
        for name, why in held["left_out"].items()
    ]


def _optional(each: Mapping[str, Spread], name: str, digits: int, scale: float) -> str:
    return shown(each[name], digits, scale=scale) if name in each else ""
