"""Somebody who reads the files of pods all the time, as their containers may.

Owns: a thread, and what no reader may ever see: half of an object, a version older than one that
was there before, a container's second life.  Must not know agents.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

from tests.faults.tenants import number_in

PAUSE: Final = 0.03  # seconds; without one, a reader starves those whom it watches
VERSION: Final = "..data"
"""The link to the files of one version: whoever follows it once has all files of that version."""


@final
class FileReader:
    """Reads while the context is open; ``look_after`` says what, and may be called at any time."""

    def __init__(self) -> None:
        self.looks = 0
        self.troubles: list[str] = []
        self._pods: dict[str, tuple[tuple[Path, ...], Path]] = {}
        self._newest: defaultdict[Path, int] = defaultdict(int)
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._read, name="reader of the files of pods")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def look_after(self, name: str, volumes: Iterable[Path], starts: Path) -> None:
        """Read the *volumes* of a pod, and the file in which its container counts its lives."""
        self._pods[name] = (tuple(volumes), starts)

    def let_go(self, name: str) -> None:
        """Read no more of a pod."""
        volumes, _ = self._pods.pop(name)
        for path in tuple(self._newest):
            if any(path.is_relative_to(volume) for volume in volumes):
                self._newest.pop(path, None)

    def _read(self) -> None:
        while not self._over.wait(PAUSE):
            self.looks += 1
            for name, (volumes, starts) in tuple(self._pods.items()):
                for volume in volumes:
                    self._look(name, volume)
                self._count(name, starts)

    def _look(self, name: str, volume: Path) -> None:
        try:
            version = volume / (volume / VERSION).readlink()
            found = {
                path.relative_to(version): number_in(path.read_bytes())
                for path in sorted(version.rglob("*"))
                if path.is_file()
            }
        except FileNotFoundError:
            return  # not written yet, or replaced while this was reading
        for path, number in found.items():
            if number < self._newest[volume / path]:
                before = self._newest[volume / path]
                self._note(f"{name}: {volume.name}/{path} went back from {before} to {number}")
            self._newest[volume / path] = number
        for folder in {path.parent for path in found}:
            numbers = {number for path, number in found.items() if path.parent == folder}
            if len(numbers) > 1:
                self._note(f"{name}: {volume.name}/{folder} is half {numbers}")

    def _count(self, name: str, starts: Path) -> None:
        try:
            lives = len(starts.read_text().splitlines())
        except FileNotFoundError:
            return
        if lives > 1:
            self._note(f"{name} was started {lives} times")

    def _note(self, what: str) -> None:
        if what not in self.troubles:
            self.troubles.append(what)
