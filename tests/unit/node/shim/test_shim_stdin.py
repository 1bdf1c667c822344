"""Containers with an input: who writes it, who ends it, and what a shim that is gone leaves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.container_streams import STDIN
from reflet.node.shim.protocol import CloseStdin, Done, ShimRefused
from reflet.node.shim.shim import Shim
from tests.unit.node.shim.shim_scenes import CONTAINER, ended, keeping, order, until

pytestmark = pytest.mark.usefixtures("heir")

READS = "while read line; do echo got $line; printf 'next? '; done; echo end"


async def started(shim: Shim, root: Path, script: str = READS, **settings: Any) -> ContainerRecord:
    return await shim.start(order(root, ["sh", "-c", script], stdin=True, **settings))


def write(record: ContainerRecord, text: bytes) -> None:
    """Write as whoever is attached does."""
    descriptor = os.open(record.pipe(STDIN), os.O_WRONLY | os.O_NONBLOCK)
    os.write(descriptor, text)
    os.close(descriptor)


def said(record: ContainerRecord) -> str:
    """What it wrote, as it came."""
    lines = (line.split(" ", 3) for line in record.log.read_text().splitlines())
    return "".join(text + ("" if flag == "P" else "\n") for _, _, flag, text in lines)


async def test_a_container_reads_what_is_written_by_whoever_comes(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        record = await started(shim, tmp_path)
        write(record, b"one\n")
        await until(lambda: said(record).endswith("next? "))
        write(record, b"two\n")
        await until(lambda: said(record).count("next? ") == 2)
        ends = await shim.answer(CloseStdin(CONTAINER))
        await shim.end(CONTAINER, 5)

    assert said(record) == "got one\nnext? got two\nnext? "
    assert ends == Done(False)
    assert not record.pipe(STDIN).exists()


async def test_one_that_reads_once_sees_the_end_when_that_is_said(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        record = await started(shim, tmp_path, stdin_once=True)
        write(record, b"one\n")
        await until(lambda: "got one" in said(record))
        answers = [await shim.answer(CloseStdin(CONTAINER)) for _ in range(2)]
        there = record.pipe(STDIN).exists()
        await ended(shim)

    assert said(record) == "got one\nnext? end\n"
    assert (answers, there) == ([Done(True), Done(False)], False)


async def test_one_without_an_input_reads_nothing(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sh", "-c", READS]))
        record = await ended(shim)
        with pytest.raises(ShimRefused):
            await shim.answer(CloseStdin("other"))

    assert said(record) == "end\n"


async def test_the_input_outlives_the_shim(tmp_path: Path) -> None:
    async with keeping(tmp_path) as first:
        record = await started(first, tmp_path)
    async with keeping(tmp_path) as second:
        write(record, b"one\n")
        await until(lambda: said(record).endswith("next? "))
        await second.end(CONTAINER, 5)

    assert said(record) == "got one\nnext? "


async def test_what_is_read_once_ends_with_the_shim_that_held_it(tmp_path: Path) -> None:
    async with keeping(tmp_path) as first:
        record = await started(first, tmp_path, f"{READS}; sleep 60", stdin_once=True)
    async with keeping(tmp_path) as second:
        await until(lambda: said(record) == "end\n")
        there = record.pipe(STDIN).exists()
        await second.end(CONTAINER, 0)

    assert not there


async def test_a_container_can_open_its_input_again(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        record = await started(shim, tmp_path, "head -n 1 < /dev/stdin", user=os.geteuid())
        write(record, b"one\n")
        await ended(shim)

    assert said(record) == "one\n"
