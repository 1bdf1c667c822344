"""Logs on disk, and what is shown of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reflet.node.server.log_reading import AT_ONCE, LogChoice, read_log

LINES = "".join(
    f"2026-01-02T03:04:0{second}.000000000Z stdout F line {second}\n" for second in range(5)
)


def written(folder: Path, text: str = LINES) -> Path:
    path = folder / "0.log"
    path.write_text(text)
    return path


async def shown(path: Path, **choice: Any) -> str:
    return b"".join([piece async for piece in read_log(path, LogChoice(**choice))]).decode()


def line(text: str) -> str:
    return f"2026-01-02T03:04:09.000000000Z stdout F {text}\n"


def add(path: Path, text: str) -> None:
    with path.open("a") as log:
        log.write(text)


async def followed(path: Path, *deeds: Callable[[], object], **choice: Any) -> str:
    """What is shown to whoever follows while these things happen, one between two looks."""
    left = list(deeds)

    async def is_running() -> bool:
        if left:
            left.pop(0)()
        return bool(left)

    pieces = read_log(path, LogChoice(follow=True, **choice), is_running=is_running)
    return b"".join([piece async for piece in pieces]).decode()


def long_log(folder: Path, name: str = "0.log", pieces: int = 5) -> Path:
    path = folder / name
    numbers = itertools.count()
    with path.open("w") as log:
        while log.tell() < pieces * AT_ONCE:
            log.write(line(f"{next(numbers)} and some words"))
    return path
