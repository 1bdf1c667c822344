"""What it costs to start: to import the package, to show the help, to read manifests.

Owns: the two limits that we promise, and how they are checked.  Must not know what is imported.

An import has no size that could grow.  A command that reads manifests has: ``reflet env -f`` over
files with more and more documents.

Import time is counted as the interpreter counts it (``-X importtime``), for our own and
third-party modules; the standard library is not ours to answer for, and is shown beside it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from benchmarks import first_request
from benchmarks.growth import Row, row
from benchmarks.measuring import Result, RunFailed, Sample, interleaved, table, versions_of

IMPORT_LIMIT: Final = 60.0  # milliseconds, our own and third-party modules
HELP_LIMIT: Final = 150.0  # milliseconds, from start to end of the process
TIMEOUT: Final = 30.0  # seconds for one process
DOCUMENTS: Final = (1, 10, 100)

HELP: Final = "reflet --help"
IMPORT: Final = "python -c 'import reflet'"
FIRST_OBJECT: Final = "python -c 'import reflet; reflet.connect; reflet.ConfigMap()'"
BARE: Final = "python -c pass"

PROGRAMS: Final = {
    BARE: (sys.executable, "-c", "pass"),
    IMPORT: (sys.executable, "-c", "import reflet"),
    HELP: (str(Path(sys.executable).with_name("reflet")), "--help"),
    FIRST_OBJECT: (sys.executable, "-c", "import reflet; reflet.connect; reflet.ConfigMap()"),
}
IMPORTS: Final = {
    "import reflet": "import reflet",
    "connect and ConfigMap": "import reflet; reflet.connect; reflet.ConfigMap()",
}

FIRST_REQUEST: Final = "first request"
PAUSES: Final = {
    "nothing to do": "idle_ms",
    "connect()": "connect_ms",
    "first request, over TLS": "request_ms",
    "first mirror, until synced": "mirror_ms",
}

IMPORT_LINE: Final = re.compile(r"^import time: +(\d+) \| +\d+ \| +(\S+)$", re.MULTILINE)


def run(*, quick: bool) -> Result:
    """Measure whole processes by the clock, and imports by the interpreter's own count."""
    rounds = 5 if quick else 15
    walls = interleaved(PROGRAMS, rounds, lambda name: process_cost(PROGRAMS[name]))
    imports = interleaved(IMPORTS, rounds, lambda name: import_cost(IMPORTS[name]))
    bare = walls[BARE]["wall_ms"].median
    imported = imports["import reflet"]["not_standard_ms"].median
    helped = walls[HELP]["wall_ms"].median
    # A busy machine breaks a limit that a quiet one keeps: the facts to tell them apart go along.
    around = (
        f"CPU of the help {walls[HELP]['cpu_ms'].median:.0f} ms, "
        f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores"
    )
    broken = [
        f"{what} takes {spent:.0f} ms, and may take {limit:.0f} ({around})"
        for what, spent, limit in (
            ("import reflet", imported, IMPORT_LIMIT),
            (HELP, helped, HELP_LIMIT),
        )
        if spent > limit
    ]
    processes = table(
        f"Whole processes, milliseconds, median of {rounds} (limit for the help: {HELP_LIMIT:.0f})",
        ("process", "median", "low", "high", "above bare Python", "CPU"),
        (
            (
                name,
                *(f"{part:.1f}" for part in (wall.median, wall.low, wall.high)),
                f"{wall.median - bare:.1f}",
                f"{cpu.median:.1f}",
            )
            for name, wall, cpu in (
                (name, figures["wall_ms"], figures["cpu_ms"]) for name, figures in walls.items()
            )
        ),
    )
    modules = table(
        f"Imports, milliseconds (limit for ours and third-party: {IMPORT_LIMIT:.0f})",
        ("program", "ours and third-party", "ours alone", "standard library", "modules"),
        (
            (
                name,
                *(
                    f"{figures[figure].median:.1f}"
                    for figure in ("not_standard_ms", "own_ms", "standard_ms")
                ),
                f"{figures['modules'].median:.0f}",
            )
            for name, figures in imports.items()
        ),
    )
    with first_request.served() as kubeconfig:
        paused = interleaved(
            (FIRST_REQUEST,), rounds, lambda _: first_request.longest_pauses(kubeconfig)
        )[FIRST_REQUEST]
    pauses = table(
        f"Longest pause of a program's event loop, milliseconds, median of {rounds}",
        ("step", "median", "low", "high"),
        (
            (step, *(f"{part:.1f}" for part in (spent.median, spent.low, spent.high)))
            for step, spent in ((step, paused[figure]) for step, figure in PAUSES.items())
        ),
    )
    return Result(
        tables=(processes, modules, pauses),
        figures={
            "processes": walls,
            "imports": imports,
            "pauses": paused,
            "growth": growth(rounds),
        },
        versions=versions_of("reflet", "click", "msgspec", "pyyaml"),
        broken_limits=broken,
    )


def growth(rounds: int) -> list[Row]:
    """What ``reflet env -f`` costs by the documents that it reads."""
    with tempfile.TemporaryDirectory() as folder:
        commands = {}
        for count in DOCUMENTS:
            path = Path(folder) / f"{count}.yaml"
            path.write_text(yaml.safe_dump_all(documents(count)))
            commands[str(count)] = (PROGRAMS[HELP][0], "env", "-f", str(path), "-o", "json")
        found = interleaved(commands, rounds, lambda name: process_cost(commands[name]))
    return [
        row(
            f"{what} of `reflet env -f`, from a cold start",
            who="Reflet",
            by="documents of YAML",
            unit="ms",
            points={int(count): each[figure].median for count, each in found.items()},
        )
        for what, figure in (("time", "wall_ms"), ("CPU", "cpu_ms"))
    ]


def documents(count: int) -> list[Mapping[str, Any]]:
    """A pod and, beside it, ConfigMaps: so many documents, the pod's environment from the last."""
    names = [f"settings-{number}" for number in range(count - 1)]
    sources = [{"configMapRef": {"name": name}} for name in names[-1:]]
    container = {"name": "web", "image": "shop/web", "envFrom": sources}
    maps = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name},
            "data": {f"KEY_{number}": f"value {number} of {name}" for number in range(5)},
        }
        for name in names
    ]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-0"},
        "spec": {"enableServiceLinks": False, "containers": [container]},
    }
    return [pod, *maps]


def process_cost(command: Sequence[str]) -> Sample:
    """Milliseconds from start to end of a process, and the CPU time that it took."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    # Not Popen.wait with a time limit: it looks every 50 ms, and that is what we would measure.
    watchdog = threading.Timer(TIMEOUT, process.kill)
    watchdog.start()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    watchdog.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)  # it has been waited for
    if process.returncode:
        raise RunFailed(f"{' '.join(command)}: exit code {process.returncode}")
    return {"wall_ms": wall * 1000, "cpu_ms": (used.ru_utime + used.ru_stime) * 1000}


def import_cost(program: str) -> Sample:
    """Where import time goes, beyond what any interpreter imports at its start."""
    before = imported_by("pass").keys()
    ours = theirs = standard = 0.0
    modules = {name: spent for name, spent in imported_by(program).items() if name not in before}
    for name, spent in modules.items():
        root = name.partition(".")[0]
        if root == "reflet":
            ours += spent
        elif root in sys.stdlib_module_names:
            standard += spent
        else:
            theirs += spent
    return {
        "not_standard_ms": ours + theirs,
        "own_ms": ours,
        "standard_ms": standard,
        "modules": len(modules),
    }


def imported_by(program: str) -> dict[str, float]:
    """The modules that a program imports, each with its own time in milliseconds."""
    finished = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    return {name: int(spent) / 1000 for spent, name in IMPORT_LINE.findall(finished.stderr)}
