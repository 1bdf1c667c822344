"""Reflet on Windows, imitated: the library, ``env``, ``lint`` and ``why`` work there."""

from __future__ import annotations

import json
from typing import Final

import pytest

import reflet
from reflet.cli.main import COMMANDS, NEED_PROCESSES
from tests.platforms.machines import Machine

BROKEN: Final = """
apiVersion: v1
kind: ConfigMap
metadata: {name: shop, namespace: default}
data: {colour: blue}
---
apiVersion: v1
kind: Pod
metadata: {name: shop, namespace: default}
spec:
  containers:
  - name: web
    image: web
    envFrom: [{configMapRef: {name: shop}}]
    env:
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: shop, key: password, optional: OPTIONAL}}}
"""

HELP_OF_ALL: Final = """
import contextlib, io, json
from reflet.cli.main import COMMANDS, run

codes = {}
for name in COMMANDS:
    with contextlib.redirect_stdout(io.StringIO()):
        codes[name] = run(["reflet", name, "--help"])
print(json.dumps(codes))
"""


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    made = Machine(tmp_path_factory.mktemp("windows"), "imitate_windows()")
    (made.folder / "good.yaml").write_text(BROKEN.replace("OPTIONAL", "true"))
    (made.folder / "bad.yaml").write_text(BROKEN.replace("OPTIONAL", "false"))
    return made


def test_the_imitation_has_no_fcntl(windows: Machine) -> None:
    done = windows.run(windows.wrapped((windows.python, "-c", "import fcntl")))

    assert done.stderr.endswith("ModuleNotFoundError: No module named 'fcntl'\n")


def test_every_public_name_of_the_library_is_imported(windows: Machine) -> None:
    code = (
        "import reflet, sys; print(sys.platform, len([getattr(reflet, x) for x in reflet.__all__]))"
    )
    done = windows.run(windows.wrapped((windows.python, "-c", code)))

    assert (done.stdout, done.stderr) == (f"win32 {len(reflet.__all__)}\n", "")


def test_env_shows_the_environment(windows: Machine) -> None:
    done = windows.run(windows.reflet("env", "-f", "good.yaml", "pod/shop", "-o", "json"))

    assert done.returncode == 0, done.stderr
    assert "blue" in json.dumps(json.loads(done.stdout))


def test_lint_finds_what_would_fail(windows: Machine) -> None:
    done = windows.run(windows.reflet("lint", "bad.yaml"))

    assert done.returncode == 1, done.stderr
    assert "secret" in done.stdout.lower()


def test_why_names_the_reason(windows: Machine) -> None:
    done = windows.run(windows.reflet("why", "-f", "bad.yaml", "pod/shop"))

    assert done.returncode == 1, done.stderr
    assert "shop" in done.stdout


def test_every_other_command_works_or_says_in_one_line_that_it_does_not(windows: Machine) -> None:
    done = windows.run(windows.wrapped((windows.python, "-c", HELP_OF_ALL)))
    codes: dict[str, int] = json.loads(done.stdout)
    refused = NEED_PROCESSES

    assert not refused & {"env", "lint", "why"}
    assert codes == {name: 2 if name in refused else 0 for name in COMMANDS}
    assert done.stderr.splitlines() == [
        f"error: reflet {name} needs Linux or macOS, and this is Windows"
        for name in COMMANDS
        if name in refused
    ]
