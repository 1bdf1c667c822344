"""``make endurance``: the tests again and again while the machine is overloaded; which are flaky?

Five test processes and a busy loop share each core, at the same priority, so a test that measures
the machine instead of the code fails here.  The overload is mostly made of tests: loops would
only take their time, and so tests meet each other as they never do in a normal run.
Each round throws other dice; its ``REFLET_SEED`` throws them again.
Prints a line for every round with what failed in it and how, and at the end every test that failed,
with how often; exit code 1 if one did.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

BUSY: Final = """\
import os
parent = os.getppid()
while os.getppid() == parent:  # whoever kills us leaves nothing busy
    for _ in range(10**6):
        pass
"""
CORES: Final = os.cpu_count() or 1
ALL: Final = ("tests",)
FIRST_SEED: Final = int(os.environ.get("REFLET_SEED") or 0)


@contextmanager
def overload(loops: int) -> Iterator[None]:
    """Keep every core busy with as many programs that do nothing."""
    command = [sys.executable, "-S", "-c", BUSY]
    programs = [subprocess.Popen(command) for _ in range(loops)]  # noqa: S603 - our own words
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def failures(report: Path) -> dict[str, str]:
    """Return what failed and how, from a report in JUnit's form."""
    cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - pytest has just written it
    return {
        f"{case.get('classname')}::{case.get('name')}": "".join(how.itertext())
        for case in cases
        for how in case
        if how.tag in {"failure", "error"}
    }


def run_once(tests: Sequence[str], workers: int, report: Path, *, seed: int) -> tuple[int, str]:
    """Run them all; the exit code, and the last line that pytest prints."""
    report.unlink(missing_ok=True)
    command = [
        *(sys.executable, "-m", "pytest", "-q", "--dist", "worksteal", "-n", str(workers)),
        *("-p", "no:cacheprovider", f"--junitxml={report}", *tests),
    ]
    done = subprocess.run(  # noqa: S603 - what the maintainer asked for
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "REFLET_SEED": str(seed)},
    )
    return done.returncode, (done.stdout.splitlines() or ["pytest said nothing"])[-1]


def main() -> int:
    """Run the rounds and sum up."""
    parser = argparse.ArgumentParser(prog="make endurance")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=5 * CORES)
    parser.add_argument("--loops", type=int, default=CORES)
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    failed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, overload(given.loops):
        report = Path(folder, "report.xml")
        for number in range(1, given.rounds + 1):
            begun = time.monotonic()
            seed = FIRST_SEED + number
            code, last = run_once(given.tests or ALL, given.workers, report, seed=seed)
            how = failures(report) if report.exists() else {}
            failed.update(list(how) or ([f"pytest ended with {code}"] if code else []))
            minutes = (time.monotonic() - begun) / 60
            which = f"round {number} of {given.rounds}, REFLET_SEED={seed}, {minutes:.1f} min"
            sys.stdout.write(f"{which}: {last}\n")
            sys.stdout.writelines(f"\n{name}\n{text}\n" for name, text in how.items())
            sys.stdout.flush()
    for name, times in failed.most_common():
        sys.stdout.write(f"failed {times} of {given.rounds}: {name}\n")
    sys.stdout.write(f"{failed.total()} failures in {given.rounds} rounds\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
