"""Runs the benchmarks, prints their tables and writes their results.

Owns: which benchmarks there are, and the command line.  Must not know how anything is measured.

A full run goes into docs/performance as well, tables and pictures, and fails when a promise of ours
does not hold.  A quick one is only a look: it reports that too, and does not fail.  A goal that is
not reached is reported, and is no failure.

::

    python -m benchmarks                    all of them
    python -m benchmarks wire --quick       one of them, small: a look, not a measurement
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks import growth, report, summary_page
from benchmarks.measuring import Result, write_result

BENCHMARKS: Final = (
    "commands",
    "controllers",
    "devserver",
    "faults",
    "fleet",
    "idle",
    "managers",
    "mirror",
    "node",
    "pleg",
    "recovery",
    "resolution",
    "sidecar",
    "start_up",
    "wire",
)


def main() -> int:
    """Run what the command line names; 1 when a full run breaks a limit that we promise."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Reflet.")
    parser.add_argument("name", nargs="*", help=f"which ones, of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="small and few: under ten minutes")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.name if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}: choose from {', '.join(BENCHMARKS)}")
    results: list[Result] = []
    names = chosen.name or BENCHMARKS
    for name in names:
        began = time.monotonic()
        result: Result = importlib.import_module(f"benchmarks.{name}").run(quick=chosen.quick)
        for table in result.tables:
            print(f"\n{table}")
        path = write_result(name, result, quick=chosen.quick)
        print(f"\n{name}: {path}, after {time.monotonic() - began:.0f} s", flush=True)
        results.append(result)
    print(f"\n{growth.growth_table(growth.collected(names, quick=chosen.quick))}")
    print(f"\n{summary_page.short_table(summary_page.loaded(quick=chosen.quick))}\n")
    if not chosen.quick:
        for line in report.write(names):
            print(f"written: {line}")
    for line in shortcomings(results):
        print(line, file=sys.stderr)
    return exit_code(results, quick=chosen.quick)


def shortcomings(results: Sequence[Result]) -> Iterator[str]:
    """What is not as we want it and what is not as we promise it, in words."""
    for result in results:
        yield from (f"goal not reached: {goal}" for goal in result.missed_goals)
    for result in results:
        yield from (f"over the limit: {limit}" for limit in result.broken_limits)


def exit_code(results: Sequence[Result], *, quick: bool) -> int:
    """1 for a broken promise, in a run that measures."""
    return int(not quick and any(result.broken_limits for result in results))


if __name__ == "__main__":
    sys.exit(main())
