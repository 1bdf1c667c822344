"""Manifests that somebody edits while the process runs.

Owns: noticing that a file is another, and reading them all again.  Must not know how files become
a configuration.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from reflet.errors import RefletError
from reflet.runtime.clock import Clock, SystemClock
from reflet.supervisor.container_configuration import ContainerConfiguration

INTERVAL: Final = 1.0
"""Seconds between two looks."""
STANDARD_INPUT: Final = "-"

Fingerprint = frozenset[tuple[str, int, int, int]]


class ConfigurationFiles:
    """A source of configurations that *read* makes of the files at *paths*.

    The first reading's errors are the caller's.  Later, files that cannot be read or are no
    manifests are told of, and what was read last stays: most often somebody is not done with
    editing.  Standard input is read once.
    """

    def __init__(
        self,
        paths: Sequence[str],
        read: Callable[[], ContainerConfiguration],
        *,
        say: Callable[[str], None],
        clock: Clock | None = None,
    ) -> None:
        self._paths = tuple(paths)
        self._read = read
        self._say = say
        self._clock = SystemClock() if clock is None else clock

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give what the files say, and again whenever they were edited."""
        seen = fingerprint(self._paths)
        yield await asyncio.to_thread(self._read)
        if STANDARD_INPUT in self._paths:
            return
        while True:
            await self._clock.sleep(INTERVAL)
            now = await asyncio.to_thread(fingerprint, self._paths)
            if now == seen:
                continue
            seen = now
            try:
                configuration = await asyncio.to_thread(self._read)
            except RefletError as error:
                self._say(f"warning: {error}; the process keeps what it has")
                continue
            yield configuration


def fingerprint(paths: Sequence[str]) -> Fingerprint:
    """What tells files that were edited from those that were not."""
    return frozenset(mark for path in paths for mark in _marks(Path(path)))


def _marks(path: Path) -> Iterator[tuple[str, int, int, int]]:
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        try:
            found = os.stat(file)  # noqa: PTH116 - the result is what counts
        except FileNotFoundError:
            continue  # an editor replaces it just now
        yield (str(file), found.st_mtime_ns, found.st_size, found.st_ino)
