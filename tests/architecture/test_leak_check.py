"""The test of the tests: what tests/conftest.py promises is tried on tests that break it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

REPOSITORY = Path(__file__).parents[2]

SCENES = """
import asyncio, os, socket, subprocess, sys, threading
import pytest

kept = []

@pytest.fixture(scope="module")
def server():
    listener = socket.create_server(("127.0.0.1", 0))
    yield listener
    listener.close()

@pytest.fixture
def careless():
    kept.append(socket.socketpair())

@pytest.fixture
def careful():
    opened = []
    yield opened
    for connection in opened:
        connection.close()

@pytest.mark.virtual_time
async def test_is_deadlocked():
    await asyncio.Event().wait()

async def test_leaves_a_task():
    kept.append(asyncio.create_task(asyncio.sleep(3600), name="the forgotten task"))

def test_leaves_a_thread():
    ended = threading.Event()
    kept.append(ended)
    threading.Thread(target=ended.wait, name="the forgotten thread", daemon=True).start()

def test_leaves_a_child():
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))

def test_leaves_a_socket():
    kept.append(socket.create_server(("127.0.0.1", 0)))

def test_leaves_a_pipe():
    kept.append(os.pipe())

def test_has_a_careless_fixture(careless):
    pass

@pytest.mark.time_limit(0.2)
def test_takes_for_ever():
    threading.Event().wait()

@pytest.mark.time_limit(0.2)
async def test_waits_for_ever():
    await asyncio.Event().wait()

async def test_fails():
    assert not kept

def test_uses_a_shared_server(server):
    with socket.create_connection(server.getsockname()):
        connection, _ = server.accept()
        connection.close()

def test_has_a_careful_fixture(careful):
    careful.extend(socket.socketpair())

async def test_ends_what_it_started(careful):
    task = asyncio.create_task(asyncio.sleep(3600))
    await asyncio.sleep(0)
    task.cancel()

@pytest.mark.virtual_time
async def test_lives_through_a_day(careful):
    await asyncio.sleep(24 * 3600)
    assert asyncio.get_running_loop().time() == 24 * 3600
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Run the scenes under our own conftest: the name of each to its complaint, "" for none."""
    folder = tmp_path_factory.mktemp("scenes")
    # These leaks are for good: nothing is won by hoping as long as elsewhere.
    conftest, hopes = re.subn(
        r"^GRACE: Final = [\d.]+",
        "GRACE: Final = 0.1",
        (REPOSITORY / "tests/conftest.py").read_text(),
        flags=re.MULTILINE,
    )
    assert hopes == 1
    (folder / "conftest.py").write_text(conftest)
    (folder / "test_scenes.py").write_text(SCENES)
    report = folder / "report.xml"
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-c", str(REPOSITORY / "pyproject.toml"), f"--rootdir={folder}"),
            *(f"--basetemp={folder}/tmp", f"--junitxml={report}", str(folder)),
        ],
        capture_output=True,
        check=False,
        timeout=55,
    )
    # One test can be reported twice: once for its call, once for what was found after it.
    complaints: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        found = "".join(problem.get("message", "") + (problem.text or "") for problem in case)
        complaints[case.get("name", "")] = complaints.get(case.get("name", ""), "") + found
    return complaints


@pytest.mark.parametrize(
    ("test", "complaint"),
    [
        ("test_leaves_a_task", "left tasks behind: the forgotten task"),
        ("test_leaves_a_thread", "left behind: thread 'the forgotten thread'"),
        ("test_leaves_a_child", "left behind: child process"),
        ("test_leaves_a_socket", "left behind: socket"),
        ("test_leaves_a_pipe", "left behind: file descriptor"),
        ("test_has_a_careless_fixture", "left behind: socket"),
        ("test_takes_for_ever", "took longer than 0.2 seconds"),
        ("test_waits_for_ever", "took longer than 0.2 seconds"),
        ("test_is_deadlocked", "Deadlock"),
        ("test_fails", "assert not"),
    ],
)
def test_a_bad_test_is_caught(outcomes: Mapping[str, str], test: str, complaint: str) -> None:
    assert complaint in outcomes[test]


@pytest.mark.parametrize(
    "test",
    [
        "test_uses_a_shared_server",
        "test_has_a_careful_fixture",
        "test_ends_what_it_started",
        "test_lives_through_a_day",
    ],
)
def test_a_good_test_is_left_alone(outcomes: Mapping[str, str], test: str) -> None:
    assert outcomes[test] == ""
