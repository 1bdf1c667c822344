"""How we measure: contestants in processes of their own, in turns, and medians of the rounds.

Owns: child processes and their time limits, the order of runs, summaries, what a process costs
(CPU, memory, sockets), facts about the machine, tables and result files.  Must not know what is
measured.

Rounds are interleaved because the machine is never quiet: a slow minute then hits every
contestant, and ratios stay true when times do not.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import resource
import selectors
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

REPOSITORY: Final = Path(__file__).parents[1]
RESULTS: Final = Path(__file__).parent / "results"
FEWEST_SIZES: Final = 3  # through two points goes every power

Sample = Mapping[str, float]
"""What one run of one contestant gave: name of the figure, and the figure."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over several runs."""

    median: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a benchmark found out.

    ``figures`` is for the file, ``tables`` for people.  ``broken_limits`` says in words which
    promises of ours do not hold, and ``missed_goals`` what we want to reach and have not.
    """

    tables: Sequence[str]
    figures: Mapping[str, Any]
    versions: Mapping[str, str] = field(default_factory=dict)
    broken_limits: Sequence[str] = ()
    missed_goals: Sequence[str] = ()


class RunFailed(Exception):
    """A contestant did not finish; the message ends with what it wrote to standard error."""


@dataclass(slots=True)
class Standings:
    """What came of one job: figures of those who did it, and why others did not."""

    figures: dict[str, dict[str, Spread]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As a result file has it."""
        return {"figures": self.figures, "left_out": self.left_out}


class Child:
    """A module of ours running in its own interpreter, spoken to in lines of JSON.

    Gets *task* as the first line of its standard input.  Killed, if it still runs, at the end of
    the ``with`` block.
    """

    def __init__(
        self, module: str, task: Mapping[str, Any], *, environment: Mapping[str, str] | None = None
    ) -> None:
        self._module = module
        # A pipe that nobody reads would stop the child.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            cwd=REPOSITORY,
            env={**os.environ, **(environment or {})},
        )
        self._pending = b""
        self.say(task)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._complaints.close()

    def say(self, message: Mapping[str, Any]) -> None:
        """Send one line; a child that is gone is noticed by ``hear``."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def hear(self, patience: float) -> dict[str, Any]:
        """Return the child's next line; RunFailed when it ends or is silent for too long."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + patience
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    why = f"no answer within {patience:g} s"
                    raise RunFailed(f"{self._module}: {why}\n{self._last_words()}")
                chunk = os.read(self._process.stdout.fileno(), 1 << 20)
                if not chunk:
                    raise RunFailed(f"{self._module}: ended early\n{self._last_words()}")
                self._pending += chunk
        line, self._pending = self._pending.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def finish(self, patience: float) -> None:
        """Let the child end by itself, if it does so in time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)

    def _last_words(self) -> str:
        self._complaints.seek(0)
        return self._complaints.read().decode(errors="replace")[-2000:]


def run_child(
    module: str,
    task: Mapping[str, Any],
    *,
    patience: float,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a child that has one thing to say."""
    with Child(module, task, environment=environment) as child:
        said = child.hear(patience)
        child.finish(patience)
        return said


def first_line() -> dict[str, Any]:
    """As a child: the task."""
    task: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    return task


def answer(message: Mapping[str, Any]) -> None:
    """As a child: say one line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def interleaved(
    contestants: Iterable[str], rounds: int, measure: Callable[[str], Sample]
) -> dict[str, dict[str, Spread]]:
    """Measure each contestant once a round, and sum every figure up over the rounds.

    Every second round goes backwards, so that nobody always comes after the same neighbour.
    """
    order = list(contestants)
    samples: dict[str, list[Sample]] = {name: [] for name in order}
    for number in range(rounds):
        for name in reversed(order) if number % 2 else order:
            samples[name].append(measure(name))
    return {
        name: {figure: summary([run[figure] for run in runs]) for figure in runs[0]}
        for name, runs in samples.items()
    }


def in_turns(
    contestants: Iterable[str],
    rounds: int,
    measure: Callable[[str], Sample],
    *,
    announce: Callable[[str], None],
) -> Standings:
    """Do as ``interleaved`` does; a contestant that fails once is out, and the others go on.

    *announce* is called before each run.
    """
    order = list(contestants)
    samples: dict[str, list[Sample]] = {name: [] for name in order}
    left_out: dict[str, str] = {}
    for number in range(rounds):
        for name in reversed(order) if number % 2 else order:
            if name in left_out:
                continue
            announce(name)
            try:
                samples[name].append(measure(name))
            except RunFailed as error:
                left_out[name] = last_line(error)
    figures = {
        name: {figure: summary([run[figure] for run in runs]) for figure in runs[0]}
        for name, runs in samples.items()
        if name not in left_out
    }
    return Standings(figures, left_out)


def last_line(error: RunFailed) -> str:
    """Why a contestant failed, as short as it can be said."""
    return str(error).strip().splitlines()[-1].removeprefix("RuntimeError: ")


def summary(values: Sequence[float]) -> Spread:
    """The median and the range."""
    return Spread(statistics.median(values), min(values), max(values), len(values))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which *share* of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def fitted_exponent(points: Mapping[float, float] | Mapping[int, float]) -> float | None:
    """The power of the size with which a cost grows: least squares of logarithm over logarithm.

    0 is a cost that does not depend on the size, 1 one in proportion to it.  None below three
    sizes, and where a size or a cost is not above zero: it has no logarithm.
    """
    if len(points) < FEWEST_SIZES or min(*points.keys(), *points.values()) <= 0:
        return None
    x = [math.log(size) for size in points]
    y = [math.log(cost) for cost in points.values()]
    middle_x, middle_y = statistics.fmean(x), statistics.fmean(y)
    rise = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return rise / sum((a - middle_x) ** 2 for a in x)


# What this process costs.


def cpu_seconds() -> float:
    """CPU time of this process, in user and kernel mode."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def open_sockets() -> int:
    """How many sockets this process has."""
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            count += str(descriptor.readlink()).startswith("socket:")
        except FileNotFoundError:  # the one that lists the folder
            continue
    return count


# Facts, tables, files.


def machine_facts() -> dict[str, Any]:
    """What the numbers depend on, and nothing that names the machine."""
    facts = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in facts if "model name" in line), "")
    return {
        "processor": model or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "load_average": os.getloadavg()[0],
    }


def versions_of(*distributions: str) -> dict[str, str]:
    """The versions of the interpreter, its TLS library and the packages named."""
    return {
        "python": platform.python_version(),
        "openssl": ssl.OPENSSL_VERSION,
        **{name: metadata.version(name) for name in distributions},
    }


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out a table in Markdown, readable as it is."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    laid_out = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    ]
    laid_out.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join([title, "", *laid_out])


def shown(spread: Spread, digits: int, *, scale: float = 1.0) -> str:
    """The median, and the range when there is one."""
    median, low, high = (
        f"{value * scale:.{digits}f}" for value in (spread.median, spread.low, spread.high)
    )
    return median if low == high else f"{median} ({low} to {high})"


def write_result(name: str, result: Result, *, quick: bool) -> Path:
    """Write the file of a benchmark; a quick run has its own, so it never replaces a real one."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}{'-quick' if quick else ''}.json"
    content = {
        "benchmark": name,
        "command": f"python -m benchmarks {name}{' --quick' if quick else ''}",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine_facts(),
        "versions": dict(result.versions),
        "broken_limits": list(result.broken_limits),
        "missed_goals": list(result.missed_goals),
        "tables": list(result.tables),
        "figures": result.figures,
    }
    path.write_text(json.dumps(content, indent=2, default=_plain) + "\n")
    return path.relative_to(REPOSITORY)


def _plain(value: object) -> object:
    if isinstance(value, Spread):
        return {
            "median": value.median,
            "low": value.low,
            "high": value.high,
            "runs": value.runs,
        }
    raise TypeError(f"{value!r} has no place in a result file")
