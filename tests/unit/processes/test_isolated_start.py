"""The program that makes the mounts; whole runs with it are integration tests."""

from __future__ import annotations

import ast
import json
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


def start(
    folder: Path, mounts: list[dict[str, object]], command: list[str], directory: str = "/"
) -> subprocess.CompletedProcess[str]:
    (folder / "staging").mkdir(exist_ok=True)
    plan = {
        "mounts": mounts,
        "directory": directory,
        "root": str(folder),
        "staging": str(folder / "staging"),
        "failure": str(folder / "failure"),
    }
    (folder / "plan").write_text(json.dumps(plan))
    return subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), str(folder / "plan"), "--", *command],
        capture_output=True,
        check=False,
        text=True,
        env={"PATH": "/usr/bin:/bin", "ONLY": "this"},
    )


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
