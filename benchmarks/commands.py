"""What commands cost on a large cluster, next to kubectl's nearest.

Owns: which commands stand next to each other, at which sizes, and the tables.  Must not know how a
cluster is filled (``commands_cluster``).

Each command is a process of its own, the two of a pair in turns, their output thrown away; CPU and
the most memory are what the kernel says when the process ends.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from benchmarks import commands_cluster
from benchmarks.growth import TITLE, Row, growth_table, rows_of
from benchmarks.measuring import (
    Result,
    RunFailed,
    Sample,
    Spread,
    Standings,
    in_turns,
    shown,
    table,
    versions_of,
)

TIMEOUT: Final = 300.0  # seconds for one process
REFLET, KUBECTL = "Reflet", "kubectl"
GROWTH_TITLE: Final = "Commands at several sizes, and the power of the size with which they grow"
SAME_LISTS: Final = (
    "pods,deployments,statefulsets,daemonsets,replicasets,replicationcontrollers,jobs,cronjobs,"
    "serviceaccounts,ingresses"
)
STALE_LISTS: Final = "pods,replicasets,jobs,configmaps,secrets"
WHY_LISTS: Final = (
    "pods,deployments,statefulsets,daemonsets,replicasets,replicationcontrollers,jobs,cronjobs,"
    "events,configmaps,secrets,services"
)


@dataclass(frozen=True, slots=True)
class Size:
    """How large the cluster becomes, and how often each command runs."""

    pods: Sequence[int]
    rounds: int


FULL: Final = Size(pods=(1_000, 3_000, 10_000), rounds=3)
QUICK: Final = Size(pods=(100, 300, 1_000), rounds=1)


@dataclass(frozen=True, slots=True)
class Job:
    """A command of ours and kubectl's nearest, and how to tell that a command has enough."""

    reflet: Sequence[str]
    kubectl: Sequence[str]
    reflet_has_enough: Callable[[int, bytes], bool] | None = None
    kubectl_has_enough: Callable[[int, bytes], bool] | None = None


def jobs(folder: Path, pods: int) -> dict[str, Job]:
    """What is compared on a cluster of so many pods."""
    manifests = str(commands_cluster.deployments_file(folder, pods))
    one = ("-n", "shop-0")
    return {
        "get pods -A": Job(("get", "pods", "-A"), ("get", "pods", "-A")),
        "get pods -A -o json": Job(
            ("get", "pods", "-A", "-o", "json"), ("get", "pods", "-A", "-o", "json")
        ),
        "watch pods -A, until synced": Job(
            ("watch", "pods", "-A"),
            ("get", "pods", "-A", "--watch"),
            lambda _, line: line.startswith(b"SYNCED"),
            lambda number, _: number > pods,  # with the headings
        ),
        "used-by secret/shared -A": Job(
            ("used-by", f"secret/{commands_cluster.SHARED}", "-A"),
            ("get", SAME_LISTS, "-A", "-o", "json"),
        ),
        "why -A": Job(("why", "-A"), ("get", WHY_LISTS, "-A", "-o", "json")),
        "stale -A": Job(("stale", "-A"), ("get", STALE_LISTS, "-A", "-o", "json")),
        "unused -A": Job(
            ("unused", "-A"), ("get", f"{SAME_LISTS},configmaps,secrets", "-A", "-o", "json")
        ),
        "lint --against cluster": Job(
            ("lint", "-f", manifests, "--against", "cluster"),
            ("get", "configmaps,secrets", "-A", "-o", "json"),
        ),
        "ui -A, until the page is there": Job(
            ("ui", "-A"),
            ("get", "pods,configmaps,secrets", "-A", "-o", "json"),
            lambda _, line: line.startswith(b"the page is at"),
        ),
        "env deploy/web-0": Job(
            ("env", "deploy/web-0", *one),
            ("set", "env", "deploy/web-0", "--list", "--resolve", *one),
        ),
    }


WITHOUT_LISTS: Final = {"env deploy/web-0"}  # what it costs is the start, which start_up measures

NEAREST: Final = {
    "watch pods -A, until synced": "`get pods -A --watch`",
    "used-by secret/shared -A": "the same ten lists, `-o json`",
    "why -A": "the same twelve lists, `-o json`",
    "stale -A": "the same five lists, `-o json`",
    "unused -A": "the same twelve lists, `-o json`",
    "lint --against cluster": "`get configmaps,secrets -A -o json`",
    "ui -A, until the page is there": "`get pods,configmaps,secrets -A -o json`",
    "env deploy/web-0": "`set env deploy/web-0 --list --resolve`",
}


def run(*, quick: bool) -> Result:
    """Fill a server step by step, and measure at each step."""
    size = QUICK if quick else FULL
    found: dict[str, dict[str, Standings]] = {}
    with tempfile.TemporaryDirectory(prefix="reflet-commands-") as name:
        folder = Path(name)
        with commands_cluster.server(folder) as cluster:
            server = cluster.name
            filling = commands_cluster.Filling(cluster.kubeconfig)
            for pods in size.pods:
                _announce(f"filling {server} up to {pods:,} pods")
                filling.up_to(pods)
                for job, standings in measured(folder, cluster, pods, size.rounds).items():
                    found.setdefault(job, {})[str(pods)] = standings
    plain = {
        job: {pods: standings.plain() for pods, standings in by_size.items()}
        for job, by_size in found.items()
    }
    rows = growth(plain)
    largest = str(size.pods[-1])
    return Result(
        tables=(_table(server, plain, largest), growth_table(rows).replace(TITLE, GROWTH_TITLE)),
        # Not under "growth": these rows are many, and have a table of their own.
        figures={"server": server, "jobs": plain, "by_size": rows},
        versions={**versions_of("reflet", "click", "msgspec"), "kubectl": _kubectl_version()},
        missed_goals=missed_goals(plain, largest),
    )


def measured(
    folder: Path, cluster: commands_cluster.Server, pods: int, rounds: int
) -> dict[str, Standings]:
    """Every job, by each of the two, in turns."""
    programs = {REFLET: str(Path(sys.executable).with_name("reflet"))}
    if kubectl := shutil.which("kubectl"):
        programs[KUBECTL] = kubectl
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig), "HOME": str(folder)}
    found = {}
    for title, job in jobs(folder, pods).items():
        commands = {REFLET: (job.reflet, job.reflet_has_enough)}
        commands[KUBECTL] = (job.kubectl, job.kubectl_has_enough)

        def measure(name: str, commands: Mapping[str, tuple[Any, Any]] = commands) -> Sample:
            arguments, has_enough = commands[name]
            before = cluster.reads() if cluster.reads else 0
            cost = process_cost([programs[name], *arguments], environment, has_enough)
            return {**cost, "reads": cluster.reads() - before} if cluster.reads else cost

        def announce(name: str, title: str = title) -> None:
            _announce(f"{pods:,} pods: {title}, {name}")

        standings = in_turns(programs, rounds, measure, announce=announce)
        if KUBECTL not in programs:
            standings.left_out[KUBECTL] = "kubectl is not installed"
        found[title] = standings
    return found


# The kernel counts the memory of whoever starts a process as the process's own: so it is started by
# one that has next to none, and that tells its id, and at its end what it took.
LAUNCHER: Final = """
import os, sys
report = int(sys.argv[1])
process = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
os.write(report, f"{process}\\n".encode())
_, status, used = os.wait4(process, 0)
code = os.waitstatus_to_exitcode(status)
os.write(report, f"{code} {used.ru_utime + used.ru_stime} {used.ru_maxrss}\\n".encode())
"""


def process_cost(
    command: Sequence[str],
    environment: Mapping[str, str],
    has_enough: Callable[[int, bytes], bool] | None,
) -> Sample:
    """Run a process to its end, or until it has printed enough; what it took of the machine."""
    reading, writing = os.pipe()
    begun = time.perf_counter()
    with (
        os.fdopen(reading) as report,
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, str(writing), *command],
            stdout=subprocess.PIPE if has_enough else subprocess.DEVNULL,
            stderr=complaints,
            env=environment,
            pass_fds=(writing,),
        ) as launcher,
    ):
        os.close(writing)
        process = int(report.readline())
        watchdog = threading.Timer(TIMEOUT, os.kill, (process, signal.SIGKILL))
        watchdog.start()
        try:
            if has_enough:
                assert launcher.stdout is not None
                _read_until(launcher.stdout, has_enough)
                os.kill(process, signal.SIGTERM)
            code, cpu, peak = report.readline().split()
        finally:
            watchdog.cancel()
        wall = time.perf_counter() - begun
        # Findings are no failure, nor is an end that we asked for.
        if int(code) not in {0, 1} and not has_enough:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace")[-2000:]
            raise RunFailed(f"{' '.join(command)}: exit code {code}\n{said}")
    return {"wall_s": wall, "cpu_s": float(cpu), "peak_mb": int(peak) / 1000}


def _read_until(output: IO[bytes], has_enough: Callable[[int, bytes], bool]) -> None:
    for number, line in enumerate(output, 1):
        if has_enough(number, line):
            return
    raise RunFailed("the command ended before it had printed everything")


# What the figures say


def _table(server: str, found: Mapping[str, Mapping[str, Any]], pods: str) -> str:
    lines = []
    for job, by_size in found.items():
        for name in (REFLET, KUBECTL):
            figures = by_size[pods]["figures"].get(name)
            what = f"`{job}`" if name == REFLET else NEAREST.get(job, "the same")
            if figures is None:
                lines.append((name, what, by_size[pods]["left_out"][name], "", "", ""))
                continue
            lines.append((name, what, *_cells(figures)))
    return table(
        f"Commands on {server} with {int(pods):,} pods",
        ("program", "command", "CPU, s", "most memory, MB", "by the clock, s", "requests"),
        lines,
    )


def _cells(figures: Mapping[str, Spread]) -> tuple[str, str, str, str]:
    return (
        shown(figures["cpu_s"], 2),
        shown(figures["peak_mb"], 0),
        shown(figures["wall_s"], 2),
        shown(figures["reads"], 0) if "reads" in figures else "",
    )


def growth(found: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """What commands cost by the pods of the cluster."""
    return [
        each
        for job, by_size in found.items()
        for what, figure, unit in (("CPU", "cpu_s", "s"), ("most memory", "peak_mb", "MB"))
        for each in rows_of(
            f"{what} of `{job}`",
            by_size,
            lambda _, figures, figure=figure: figures[figure].median,  # type: ignore[misc]
            titles={REFLET: REFLET, KUBECTL: KUBECTL},
            by="pods",
            unit=unit,
            ours=lambda name: name == REFLET,
        )
    ]


def missed_goals(found: Mapping[str, Mapping[str, Any]], pods: str) -> list[str]:
    """Commands that need more than kubectl does for the same lists, in words."""
    missed = []
    for job, by_size in found.items():
        figures = by_size[pods]["figures"]
        if job in WITHOUT_LISTS or not {REFLET, KUBECTL} <= figures.keys():
            continue
        for what, figure, unit in (("CPU", "cpu_s", "s"), ("memory", "peak_mb", "MB")):
            ours, theirs = (figures[name][figure].median for name in (REFLET, KUBECTL))
            if ours > theirs:
                missed.append(
                    f"reflet {job} with {int(pods):,} pods: {ours:.2f} {unit} of {what}, "
                    f"kubectl {theirs:.2f}"
                )
    return missed


def _kubectl_version() -> str:
    if shutil.which("kubectl") is None:
        return "none"
    asked = ("kubectl", "version", "--client")
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0].rpartition(" ")[2]


def _announce(what: str) -> None:
    print(f"commands: {what}", file=sys.stderr, flush=True)
