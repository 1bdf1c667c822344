"""A root is nobody else's, and nothing of it stays."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.processes.process_table import ProcessIdentity
from reflet.supervisor.private_root import private_root
from reflet.volumes import mounts
from reflet.volumes.mounts import NoMemoryFolder
from reflet.volumes.tear_down import Kept


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="reflet-test-") as place:
        monkeypatch.setattr(mounts, "memory_candidates", lambda environment, user: (Path(place),))
        yield Path(place)


def ended_process() -> ProcessIdentity:
    process = subprocess.Popen(["/bin/true"])
    identity = ProcessIdentity.of(process.pid)
    process.wait()
    assert identity is not None
    return identity


def left_behind(path: Path, owner: ProcessIdentity) -> None:
    (path / ".reflet/volumes").mkdir(parents=True)
    (path / ".reflet/volumes/password").write_text("hunter2")
    (path / ".reflet/owner").write_text(str(owner))


def test_it_is_private_in_memory_and_gone_at_the_end(memory: Path) -> None:
    left: list[Kept] = []

    with private_root(None, left) as root:
        assert root.path.parent == memory
        assert [path.stat().st_mode & 0o777 for path in (root.path, root.own)] == [0o700, 0o700]
        (root.path / "etc/app").mkdir(parents=True)
        (root.own / "secret").write_text("hunter2")
        (root.path / "link").symlink_to("/etc")

    assert list(memory.iterdir()) == []
    assert left == []
    assert Path("/etc/passwd").exists()


def test_it_is_gone_whatever_happens(memory: Path) -> None:
    with pytest.raises(RuntimeError), private_root(None, []):
        raise RuntimeError

    assert list(memory.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(memory: Path) -> None:
    stale = memory / f"reflet-{os.geteuid()}-run-1-1"
    left_behind(stale, ended_process())

    with private_root(None, []):
        assert not stale.exists()


def test_what_another_run_uses_is_left_alone(memory: Path) -> None:
    used = memory / f"reflet-{os.geteuid()}-run-1-1"
    own = ProcessIdentity.of(os.getppid())
    assert own is not None
    left_behind(used, own)
    unclaimed = memory / f"reflet-{os.geteuid()}-run-2-2"
    unclaimed.mkdir()

    with private_root(None, []):
        assert (used / ".reflet/volumes/password").exists()
        assert unclaimed.exists()


def test_without_memory_it_is_on_disk_and_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "reflet.supervisor.private_root.memory_backed_root", lambda name: NoMemoryFolder("no place")
    )
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with private_root(None, []) as root:
        assert (root.path.parent, root.on_disk) == (tmp_path, "no place")
        assert root.path.stat().st_mode & 0o777 == 0o700

    assert list(tmp_path.iterdir()) == []


def test_a_given_folder_is_made_and_removed(tmp_path: Path) -> None:
    with private_root(tmp_path / "new", []) as root:
        assert root.path == tmp_path / "new"

    assert not (tmp_path / "new").exists()


def test_a_given_folder_that_was_there_is_emptied_and_stays(tmp_path: Path) -> None:
    with private_root(tmp_path, []) as root:
        (root.path / "file").write_text("x")

    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_anything_in_it_is_refused_and_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")

    with (
        pytest.raises(ConfigurationError, match="is not empty, and everything in it would be"),
        private_root(tmp_path, []),
    ):
        pass

    assert (tmp_path / "mine").read_text() == "x"


def test_a_given_folder_that_a_killed_run_left_is_used_again(tmp_path: Path) -> None:
    left_behind(tmp_path / "root", ended_process())

    with private_root(tmp_path / "root", []) as root:
        assert not (root.own / "volumes").exists()


def test_a_given_folder_that_a_run_uses_is_refused(tmp_path: Path) -> None:
    with (
        private_root(tmp_path / "root", []),
        pytest.raises(ConfigurationError, match=f"is in use by process {os.getpid()}"),
        private_root(tmp_path / "root", []),
    ):
        pass


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with (
        pytest.raises(ConfigurationError, match=r"--root .*file: not a directory"),
        private_root(tmp_path / "file", []),
    ):
        pass
