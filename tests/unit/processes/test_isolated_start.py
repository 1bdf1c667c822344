"""The program that makes the mounts; whole runs with it are integration tests."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reflet.processes import isolated_start

SCRIPT = Path(isolated_start.__file__)
ALLOWED = (
    subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0
)
needs_mounts = pytest.mark.skipif(not ALLOWED, reason="this system allows no mount namespace here")


ENVIRONMENT = {"PATH": "/usr/bin:/bin", "ONLY": "this"}


def start(
    folder: Path, mounts: list[dict[str, object]], command: list[str], directory: str = "/"
) -> subprocess.CompletedProcess[str]:
    (folder / "staging").mkdir(exist_ok=True)
    isolation: dict[str, object] = {
        "mounts": mounts,
        "directory": directory,
        "root": str(folder),
        "staging": str(folder / "staging"),
    }
    return subprocess.run(
        with_plan(folder, command, isolation=isolation),
        capture_output=True,
        check=False,
        text=True,
        env=ENVIRONMENT,
    )


def with_plan(
    folder: Path,
    command: list[str],
    *,
    isolation: dict[str, object] | None = None,
    parent: str = str(os.getpid()),
) -> list[str]:
    plan = ""
    if isolation is not None:
        (folder / "plan").write_text(json.dumps(isolation))
        plan = str(folder / "plan")
    start = [sys.executable, "-I", "-S", str(SCRIPT), parent, str(folder / "failure"), plan]
    return [*start, "--", *command]


def test_a_command_that_is_not_isolated_starts_where_it_is(tmp_path: Path) -> None:
    command = with_plan(tmp_path, ["sh", "-c", "echo $ONLY; pwd -P"])

    finished = subprocess.run(
        command, capture_output=True, check=True, text=True, cwd=tmp_path, env=ENVIRONMENT
    )

    assert finished.stdout.split() == ["this", str(tmp_path.resolve())]


def test_a_variable_of_the_loader_has_its_name_again(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "REFLET_SHELTERED_LD_BIND_NOW": "1"}
    command = with_plan(tmp_path, ["env"])

    finished = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)

    assert "LD_BIND_NOW=1" in finished.stdout.splitlines()


def test_variables_of_our_own_loader_end_with_us(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": "/archive", "_PYI_ARCHIVE_FILE": "/archive/x"}
    command = with_plan(tmp_path, ["env"])

    finished = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)

    assert "archive" not in finished.stdout


def test_a_command_whose_parent_died_meanwhile_is_not_started(tmp_path: Path) -> None:
    command = with_plan(tmp_path, ["touch", str(tmp_path / "started")], parent=str(os.getppid()))

    finished = subprocess.run(command, check=False, env=ENVIRONMENT)

    assert finished.returncode == -signal.SIGKILL
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    "isolated", [False, pytest.param(True, marks=needs_mounts)], ids=["plain", "isolated"]
)
def test_the_command_is_killed_with_its_parent(tmp_path: Path, isolated: bool) -> None:
    (tmp_path / "staging").mkdir()
    isolation: dict[str, object] = {
        "mounts": [],
        "directory": "/",
        "root": str(tmp_path),
        "staging": str(tmp_path / "staging"),
    }
    command = with_plan(
        tmp_path,
        ["sh", "-c", "echo up; exec sleep 300"],
        isolation=isolation if isolated else None,
        parent="PARENT",
    )
    script = (
        "import os, subprocess\n"
        f"command = [str(os.getpid()) if word == 'PARENT' else word for word in {command!r}]\n"
        "subprocess.run(command)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=ENVIRONMENT
    ) as parent:
        assert parent.stdout is not None
        up = parent.stdout.readline()
        parent.kill()
        # The command has the other end of the pipe: it ends when the command does.
        rest = parent.stdout.read()

    assert (up, rest) == (b"up\n", b"")


def test_it_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(SCRIPT.read_text())
    imported = {
        name.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    } | {
        (node.module or "").partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }

    assert imported <= sys.stdlib_module_names


@needs_mounts
def test_a_missing_path_is_there_for_the_command_alone(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "file").write_text("hello")
    mounts: list[dict[str, object]] = [
        {"source": str(source), "path": "/reflet-test/deep/er", "read_only": True},
        {"source": str(source / "file"), "path": "/etc/reflet-test.conf", "read_only": True},
    ]
    script = "cat /reflet-test/deep/er/file /etc/reflet-test.conf; head -c4 /etc/passwd; env"

    finished = start(tmp_path, mounts, ["sh", "-c", script])

    assert finished.stderr == ""
    assert finished.stdout.startswith("hellohelloroot")
    assert "ONLY=this" in finished.stdout
    assert not Path("/reflet-test").exists()
    assert not Path("/etc/reflet-test.conf").exists()


@needs_mounts
def test_the_machine_looks_the_same_around_it(tmp_path: Path) -> None:
    mounts: list[dict[str, object]] = [
        {"source": str(tmp_path), "path": "/reflet-test", "read_only": False}
    ]

    finished = start(tmp_path, mounts, ["ls", "-A", "/"])

    assert set(finished.stdout.split()) == {path.name for path in Path("/").iterdir()} | {
        "reflet-test"
    }


@needs_mounts
@pytest.mark.parametrize(
    ("command", "directory", "code", "message"),
    [
        (["no-such-command"], "/", 127, "the command is not found: no such file or directory"),
        (["/"], "/", 126, "the command cannot be run: permission denied"),
        (["true"], "/no/such", 125, "/no/such: No such file or directory"),
    ],
)
def test_what_goes_wrong_is_written_down(
    tmp_path: Path, command: list[str], directory: str, code: int, message: str
) -> None:
    finished = start(tmp_path, [], command, directory)

    assert finished.returncode == code
    assert json.loads((tmp_path / "failure").read_text()) == {"code": code, "message": message}
