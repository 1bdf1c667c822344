"""Runs the benchmarks, prints their tables and writes their results.

Owns: which benchmarks there are, and the command line.  Must not know how anything is measured.

A full run goes into docs/performance.md as well, tables and pictures; a quick one is only a look.

::

    python -m benchmarks                    all of them
    python -m benchmarks wire --quick       one of them, small: a look, not a measurement
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from typing import Final

from benchmarks import front_page, report
from benchmarks.measuring import Result, write_result

BENCHMARKS: Final = (
    "devserver",
    "faults",
    "managers",
    "mirror",
    "node",
    "resolution",
    "start_up",
    "wire",
)


def main() -> int:
    """Run what the command line names; 1 when a limit that we promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Reflet.")
    parser.add_argument("name", nargs="*", help=f"which ones, of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="small and few: under ten minutes")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.name if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}: choose from {', '.join(BENCHMARKS)}")
    broken: list[str] = []
    names = chosen.name or BENCHMARKS
    for name in names:
        began = time.monotonic()
        result: Result = importlib.import_module(f"benchmarks.{name}").run(quick=chosen.quick)
        for table in result.tables:
            print(f"\n{table}")
        path = write_result(name, result, quick=chosen.quick)
        print(f"\n{name}: {path}, after {time.monotonic() - began:.0f} s", flush=True)
        broken += result.broken_limits
    print(f"\n{front_page.short_table(front_page.loaded(quick=chosen.quick))}\n")
    if not chosen.quick:
        for line in report.write(names):
            print(f"written: {line}")
    for limit in broken:
        print(f"over the limit: {limit}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
