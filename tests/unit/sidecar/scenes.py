"""Settings and files for scenes of the sidecar."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from reflet.runtime.clock import SystemClock
from reflet.sidecar.file_owners import Owner, OwnerTable
from reflet.sidecar.files.publishing import Publisher
from reflet.sidecar.sidecar_settings import SidecarSettings, read_settings
from reflet.sidecar.targets import REMEMBERED
from reflet.transport.http.retry_series import RetryPolicy
from reflet.transport.http.web_client import WebAnswer, WebClient, WebRequest

A = Owner(0, "n", "a", "configmap")
B = Owner(0, "n", "b", "configmap")
GOOD = WebAnswer(200, "OK", {}, b"")


def settings(**variables: str) -> SidecarSettings:
    """Settings with the least that is needed."""
    return read_settings({"LABEL": "findme", "FOLDER": "/out", **variables})


class Disk:
    """A table and a publisher for one folder, which may die and be born again."""

    def __init__(self, root: Path, **variables: str) -> None:
        self.root = root
        self.settings = settings(FOLDER=str(root / "folder"), **variables)
        self.born()

    def born(self) -> None:
        """Begin a life: read the ledger."""
        self.table = OwnerTable()
        self.publisher = Publisher(self.settings, self.table, "0123", clock=SystemClock())
        for path, entry in self.publisher.remember().items():
            owner = Owner(0, entry.namespace, entry.name, "configmap")
            held = {each: REMEMBERED for each in self.table if self.table.content(owner, each)}
            self.table.replace(owner, {**held, path: REMEMBERED})

    def path(self, name: str) -> str:
        """A path below the folder, or below the root for what begins with a slash."""
        return str(self.root / name[1:]) if name.startswith("/") else f"{self.root}/folder/{name}"

    def replace(self, owner: Owner, **contents: str | bytes) -> frozenset[str]:
        """An object wants these files, and no others; the names that changed on disk."""
        wanted = {self.path(name.replace("__", "/")): each for name, each in contents.items()}
        return self.publish(self.table.replace(owner, dict(wanted)))

    def publish(self, paths: set[str]) -> frozenset[str]:
        """Put paths on disk; the names that changed."""
        published = self.publisher.publish(paths)
        assert published.failed == {}
        return frozenset(Path(path).name for path in published.changed)

    @property
    def files(self) -> dict[str, str]:
        """What is visible below the root."""
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in self.root.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.parts)
        }

    @property
    def hidden(self) -> list[str]:
        """The names that begin with a dot, anywhere."""
        return sorted(path.name for path in self.root.rglob(".*"))


class ScriptedWeb(WebClient):
    """Answers requests in order, and the last answer for ever."""

    def __init__(self, *answers: WebAnswer | Exception) -> None:
        super().__init__(timeout=1, environ={})
        self._answers = list(answers) or [GOOD]
        self.asked: list[tuple[float, WebRequest]] = []
        self.paused: list[float] = []

    async def send(
        self,
        request: WebRequest,
        policy: RetryPolicy,
        *,
        pause: Callable[[float], Awaitable[None]] | None = None,
    ) -> WebAnswer:
        self.asked.append((asyncio.get_running_loop().time(), request))
        answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
        if isinstance(answer, Exception):
            for seconds in self.paused:
                assert pause is not None
                await pause(seconds)
            raise answer
        return answer

    @property
    def times(self) -> list[float]:
        return [round(moment, 1) for moment, _ in self.asked]
