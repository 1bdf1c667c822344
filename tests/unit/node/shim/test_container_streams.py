"""The pipes of a container: made, handed over, ended, removed, and none lost on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.container_streams import ContainerInput, ContainerStreams


def record(folder: Path, **settings: Any) -> ContainerRecord:
    return ContainerRecord(
        id="c1", uid="u1", name="main", attempt=0, folder=str(folder), **settings
    )


def open_descriptors() -> set[Path]:
    return set(Path("/proc/self/fd").iterdir())


async def test_a_container_without_an_input_reads_nothing(tmp_path: Path) -> None:
    streams = ContainerStreams(record(tmp_path))
    stdin, *outputs = streams.open_for_container()
    try:
        assert os.read(stdin, 1) == b""
    finally:
        for each in (stdin, *outputs):
            os.close(each)
        streams.finish()


async def test_everything_is_removed_but_the_log(tmp_path: Path) -> None:
    before = open_descriptors()
    streams = ContainerStreams(record(tmp_path, stdin=True, stdin_once=True))
    ends = streams.open_for_container()
    there = {path.name for path in tmp_path.iterdir()}
    for each in ends:
        os.close(each)
    streams.finish()

    assert there == {"0.log", "0.stdin", "0.stdout", "0.stderr"}
    assert [path.name for path in tmp_path.iterdir()] == ["0.log"]
    assert open_descriptors() == before


async def test_what_cannot_be_opened_leaves_nothing_open(tmp_path: Path) -> None:
    streams = ContainerStreams(record(tmp_path))
    before = open_descriptors()
    (tmp_path / "0.stderr").unlink()
    with pytest.raises(FileNotFoundError):
        streams.open_for_container()
    after = open_descriptors()
    streams.close()

    assert after == before


def test_an_end_of_another_owner_that_cannot_be_given_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    before = open_descriptors()
    with pytest.raises(PermissionError):
        ContainerInput(tmp_path / "pipe", once=True).open_for_container(1, 1)

    assert open_descriptors() == before


def test_an_input_is_its_users_alone(tmp_path: Path) -> None:
    os.close(ContainerInput(tmp_path / "pipe", once=False).open_for_container())

    assert (tmp_path / "pipe").stat().st_mode & 0o777 == 0o600
