from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.node.root_lock import LOCK, locked_root, memory_name


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_root_is_made_and_is_private(tmp_path: Path) -> None:
    root = tmp_path / "new" / "root"

    with locked_root(root):
        assert (mode_of(root), mode_of(root / LOCK)) == (0o700, 0o600)


def test_a_root_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    (tmp_path / "kept").touch()

    with locked_root(tmp_path):
        assert (mode_of(tmp_path), (tmp_path / "kept").exists()) == (0o750, True)


def test_a_root_has_one_agent_at_a_time(tmp_path: Path) -> None:
    with (
        locked_root(tmp_path),
        pytest.raises(ConfigurationError) as refused,
        locked_root(tmp_path),
    ):
        pytest.fail("two agents have it")

    assert str(refused.value) == (
        f"--root {tmp_path} is in use by another agent: stop that one, or take another folder"
    )


def test_a_root_by_another_name_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "link").symlink_to("root")

    with (
        locked_root(tmp_path / "root"),
        pytest.raises(ConfigurationError, match="in use by another agent"),
        locked_root(tmp_path / "link"),
    ):
        pytest.fail("two agents have it")


def test_two_roots_have_two_agents(tmp_path: Path) -> None:
    with locked_root(tmp_path / "one"), locked_root(tmp_path / "two"):
        assert {path.name for path in tmp_path.iterdir()} == {"one", "two"}


def test_a_root_is_free_again_however_its_agent_ended(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked_root(tmp_path):
        raise ZeroDivisionError

    with locked_root(tmp_path):
        assert (tmp_path / LOCK).exists()


def test_whoever_was_refused_does_not_free_the_root(tmp_path: Path) -> None:
    with locked_root(tmp_path):
        for _ in range(2):
            with (
                pytest.raises(ConfigurationError, match="in use"),
                locked_root(tmp_path),
            ):
                pytest.fail("two agents have it")


def test_children_do_not_keep_the_root(tmp_path: Path) -> None:
    with locked_root(tmp_path):
        numbers = [
            int(each.name)
            for each in Path("/proc/self/fd").iterdir()
            if each.is_symlink() and each.readlink() == tmp_path / LOCK
        ]
        inherited = [os.get_inheritable(number) for number in numbers]

    assert inherited == [False]


def test_a_root_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with (
        pytest.raises(ConfigurationError) as refused,
        locked_root(tmp_path / "file" / "root"),
    ):
        pytest.fail("it cannot be used")

    assert str(refused.value) == (
        f"--root {tmp_path / 'file' / 'root'} cannot be used: not a directory"
    )


def test_each_root_has_a_name_in_memory_that_tells_nothing(tmp_path: Path) -> None:
    one, two = memory_name(tmp_path / "one"), memory_name(tmp_path / "two")

    assert one != two
    assert one == memory_name(tmp_path / "one")
    assert one.isalnum()


def test_a_root_has_the_same_name_from_wherever_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert memory_name(Path("root")) == memory_name(tmp_path / "root")
