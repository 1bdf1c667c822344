"""The test of the tests: what tests/canaries.py promises is tried on tests that leak."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.canaries import LEAK, canary, finds

REPOSITORY = Path(__file__).parents[2]

SCENES = """
import base64, logging, os, subprocess, sys, secrets
import pytest
from reflet.devserver.server import DevServer
from tests.canaries import canary

SECRET = canary("planted")
logger = logging.getLogger("reflet.somewhere")

def test_prints():
    print("the password is", SECRET)

def test_prints_to_stderr():
    print("error:", SECRET, file=sys.stderr)

def test_logs():
    logger.warning("token %s was refused", SECRET)

def test_logs_a_traceback():
    try:
        raise ValueError(SECRET)
    except ValueError:
        logger.exception("it failed")

def test_logs_it_encoded():
    logger.warning("sent: %s", base64.b64encode(b"user:" + SECRET.encode()).decode())

def test_starts_a_process_with_it():
    subprocess.run(["true", f"--token={SECRET}"], check=True)

def test_spawns_a_process_with_it():
    os.waitpid(os.posix_spawn("/bin/true", ["true", SECRET], {}), 0)

def test_reads_it_from_a_command(capsys):
    print(SECRET)
    assert capsys.readouterr().out

def test_hears_it_from_a_child():
    program = f"print({SECRET[:7]!r} + {SECRET[7:]!r})"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)

def test_fails_with_it():
    raise RuntimeError(f"cannot log in with {SECRET}")

async def test_tells_the_token_of_a_server():
    async with DevServer(tls=False) as server:
        print(server.token)

class TestFixtures:
    @pytest.fixture
    def careless(self):
        yield
        print(SECRET)

    def test_has_a_careless_fixture(self, careless):
        pass

async def test_keeps_it_to_itself():
    async with DevServer(tls=False) as server:
        assert server.token
        logger.warning("the server is at %s, its name is CANARY", server.url)
        subprocess.run(["true"], env={"TOKEN": SECRET}, check=True)
        print("a canary")
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Run the scenes under our own conftest: the name of each to its complaint, "" for none."""
    folder = tmp_path_factory.mktemp("scenes")
    shutil.copy(REPOSITORY / "tests/conftest.py", folder / "conftest.py")
    (folder / "test_scenes.py").write_text(SCENES)
    report = folder / "report.xml"
    with (folder / "output").open("wb") as output:  # not a pipe: these leaks are not ours
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
                *("-c", str(REPOSITORY / "pyproject.toml"), f"--rootdir={folder}"),
                *(f"--basetemp={folder}/tmp", f"--junitxml={report}", str(folder)),
            ],
            stdout=output,
            cwd=REPOSITORY,
            check=False,
            timeout=55,
        )
    complaints: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        found = "".join(problem.get("message", "") + (problem.text or "") for problem in case)
        complaints[case.get("name", "")] = complaints.get(case.get("name", ""), "") + found
    return complaints


@pytest.mark.parametrize(
    "leak",
    [
        "prints",
        "prints_to_stderr",
        "logs",
        "logs_a_traceback",
        "logs_it_encoded",
        "starts_a_process_with_it",
        "spawns_a_process_with_it",
        "reads_it_from_a_command",
        "hears_it_from_a_child",
        "tells_the_token_of_a_server",
        "has_a_careless_fixture",
    ],
)
def test_a_planted_leak_is_caught(outcomes: Mapping[str, str], leak: str) -> None:
    assert LEAK in outcomes[f"test_{leak}"]


def test_a_test_that_fails_with_a_secret_fails(outcomes: Mapping[str, str]) -> None:
    assert "cannot log in" in outcomes["test_fails_with_it"]


def test_a_secret_that_stays_where_it_belongs_is_left_alone(outcomes: Mapping[str, str]) -> None:
    assert outcomes["test_keeps_it_to_itself"] == ""


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy"])
def test_a_canary_is_found_in_base64_wherever_it_begins(before: str, after: str) -> None:
    encoded = base64.b64encode(f"{before}{canary('x')}{after}".encode())

    assert finds(encoded)
    assert finds(base64.urlsafe_b64encode(encoded)) == []  # what is hidden twice is not looked for


def test_a_canary_is_found_in_bytes_and_in_hexadecimal() -> None:
    assert finds(b"\xff" + canary("x").encode())
    assert finds(canary("x").encode().hex())
    assert finds("CANARY- and canary-x and Canary") == []
