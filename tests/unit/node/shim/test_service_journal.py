from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SHIM = """
import logging, sys
from pathlib import Path
from reflet.node.shim.service import JournalHandler
journal = JournalHandler(Path(sys.argv[1]), largest=1000)
logging.basicConfig(handlers=[journal], format="%(message)s")
for number in range(100):
    logging.warning("line %d", number)
    print("printed", number, flush=True)
raise SystemExit("the end")
"""


def said(folder: Path, stderr: Path) -> None:
    """Run a process whose output is a file, and that has a lot to say."""
    with stderr.open("ab") as stream:
        subprocess.run(
            [sys.executable, "-c", SHIM, str(folder / "shim.log")],
            stdout=stream,
            stderr=stream,
            check=False,
        )


def test_a_journal_is_turned_over_and_the_one_before_is_kept(tmp_path: Path) -> None:
    said(tmp_path, tmp_path / "shim.log")

    files = sorted(tmp_path.iterdir())
    assert [each.name for each in files] == ["shim.log", "shim.log.1"]
    assert all(each.stat().st_size < 1100 for each in files)
    assert (tmp_path / "shim.log").stat().st_mode & 0o777 == 0o600


def test_the_end_of_what_was_said_is_whole_whoever_said_it(tmp_path: Path) -> None:
    said(tmp_path, tmp_path / "shim.log")

    lines = [
        line
        for name in ("shim.log.1", "shim.log")
        for line in (tmp_path / name).read_text().splitlines()
    ]
    every = [text for number in range(100) for text in (f"line {number}", f"printed {number}")]
    every.append("the end")
    assert lines == every[-len(lines) :]
    assert len(lines) > 50


def test_what_is_no_journal_is_not_turned_over(tmp_path: Path) -> None:
    (tmp_path / "shim.log").touch()
    said(tmp_path, tmp_path / "terminal")

    assert sorted(os.listdir(tmp_path)) == ["shim.log", "terminal"]  # noqa: PTH208 - names only
    assert (tmp_path / "terminal").read_text().endswith("printed 99\nthe end\n")
