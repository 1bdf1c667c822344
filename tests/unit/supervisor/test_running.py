"""A run takes everything down again, in order, whatever happens.

Every run is in a process of its own, because in the end it kills all children that it has.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HEAD = """
import asyncio, json, os, signal, sys
from contextlib import asynccontextmanager
from pathlib import Path
from reflet.errors import RefletError
from reflet.supervisor.run_options import RunOptions
from reflet.supervisor.running import run_process
from tests.unit.supervisor.scenes import pod, resolved

class OnePod:
    async def configurations(self):
        yield resolved(pod())

@asynccontextmanager
async def opened():
    yield OnePod()

@asynccontextmanager
async def broken():
    raise RefletError("cannot be opened")
    yield

folder, said = Path(sys.argv[1]), []

def run(opening, script):
    options = RunOptions(command=("sh", "-c", script), local=os.environ, root=folder / "root")
    try:
        return asyncio.run(run_process(opening, options, say=said.append))
    except RefletError as error:
        return str(error)
"""


def told_by(folder: Path, scene: str) -> Any:
    finished = subprocess.run(
        [sys.executable, "-c", HEAD + scene, str(folder)],
        capture_output=True,
        check=False,
        timeout=50,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_the_code_is_the_result_and_the_files_are_gone(tmp_path: Path) -> None:
    told = told_by(
        tmp_path,
        """
code = run(opened(), "test -d $REFLET_ROOT/.reflet && exit 6")
print(json.dumps([code, said, [path.name for path in folder.iterdir()]]))
""",
    )

    assert told == [6, [], []]


def test_a_source_that_cannot_be_opened_leaves_nothing(tmp_path: Path) -> None:
    told = told_by(
        tmp_path,
        """
before = signal.getsignal(signal.SIGTERM)
words = run(broken(), "true")
same = signal.getsignal(signal.SIGTERM) == before
print(json.dumps([words, same, [path.name for path in folder.iterdir()]]))
""",
    )

    assert told == ["cannot be opened", True, []]


def test_what_left_the_process_group_is_ended_as_well(tmp_path: Path) -> None:
    told = told_by(
        tmp_path,
        """
code = run(opened(), f"(setsid sleep 300 & echo $! > {folder}/pid)")
pid = int((folder / "pid").read_text())
print(json.dumps([code, Path(f"/proc/{pid}").exists()]))
""",
    )

    assert told == [0, False]


def test_a_file_that_cannot_be_removed_is_told(tmp_path: Path) -> None:
    told = told_by(
        tmp_path,
        """
from reflet.supervisor import private_root
from reflet.volumes.tear_down import Kept
private_root.remove_tree = lambda folder, name: (Kept(name, "permission denied"),)
run(opened(), "true")
print(json.dumps(said))
""",
    )

    assert told == ["warning: a file is left over: .reflet: permission denied"]


def test_a_signal_while_the_files_are_made_ends_the_run_and_leaves_nothing(tmp_path: Path) -> None:
    told = told_by(
        tmp_path,
        """
from reflet.supervisor import private_root
claim = private_root._claim
def interrupted(path):
    claim(path)
    os.kill(os.getpid(), signal.SIGTERM)
private_root._claim = interrupted
code = run(opened(), "echo started > ../../started")
print(json.dumps([code, [path.name for path in folder.iterdir()]]))
""",
    )

    assert told == [143, []]


def test_a_signal_while_the_files_are_removed_leaves_none_of_them(tmp_path: Path) -> None:
    told = told_by(
        tmp_path,
        """
from reflet.supervisor import private_root
remove_tree = private_root.remove_tree
def interrupted(folder, name):
    os.kill(os.getpid(), signal.SIGTERM)
    return remove_tree(folder, name)
private_root.remove_tree = interrupted
code = run(opened(), "exit 6")
print(json.dumps([code, [path.name for path in folder.iterdir()]]))
""",
    )

    assert told == [6, []]
