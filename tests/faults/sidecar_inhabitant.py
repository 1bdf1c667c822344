"""Sidecars that live through the chaos: in this process, and in one that is killed.

Owns: the sidecars, their restarts, and the comparison of their folders with what the server has.
Must not know what goes wrong, nor which server it is.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import random
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

from reflet.errors import RefletError
from reflet.runtime.tasks import TaskOwner
from reflet.sidecar.sidecar import Sidecar
from reflet.sidecar.sidecar_settings import read_settings
from tests.faults.hurried_sidecar import task_for
from tests.faults.hurry import HurriedCluster
from tests.faults.surroundings import Surroundings, Truth
from tests.faults.tenants import number_in
from tests.patience import within

KINDS: Final = ("secret", "configmap")
"""In the order in which they count: of two objects that want one file, the last has it."""
LABEL: Final = "colours"
AGAIN: Final = 5.0
"""Hurried seconds until one that ended is started again, as a kubelet does."""
PAUSE: Final = 0.03  # seconds between two looks at all files
END: Final = 10.0  # seconds in which a process ends that is told to


def variables_for(folder: Path, namespaces: Sequence[str], **more: str) -> dict[str, str]:
    """The variables of a sidecar; health and reloads are not what is looked at here."""
    return {
        "LABEL": LABEL,
        "RESOURCE": "both",
        "NAMESPACE": ",".join(namespaces),
        "FOLDER": str(folder),
        "HEALTH_PORT": "0",
        **more,
    }


@final
class Folder:
    """What a folder is to hold, and somebody who reads it all the time.

    No reader may see a file that is not whole; with names that are unique, none that is older
    than one that was there.
    """

    def __init__(self, path: Path, variables: Mapping[str, str]) -> None:
        path.mkdir()
        self.path = path
        self.troubles: list[str] = []
        self._unique = variables.get("UNIQUE_FILENAMES") == "true"
        self._value = variables.get("LABEL_VALUE", "")
        self._namespaces = variables["NAMESPACE"].split(",")
        self._newest: dict[str, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name=f"reader of {path.name}")

    def __enter__(self) -> Self:
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

    def disagreements(self, truth: Truth) -> list[str]:
        """The files that are not what the objects say; no content, which may be secret."""
        wanted, there = dict(self._wanted(truth)), dict(self._there())
        return [
            *(f"{name} is missing" for name in sorted(wanted.keys() - there.keys())),
            *(f"{name} is too many" for name in sorted(there.keys() - wanted.keys())),
            *(
                f"{name} is wrong"
                for name in sorted(wanted.keys() & there.keys())
                if wanted[name] != there[name]
            ),
        ]

    def _wanted(self, truth: Truth) -> Iterator[tuple[str, bytes]]:
        for kind in KINDS:
            objects = truth[f"{kind}s"]
            for namespace in self._namespaces:
                for key in sorted(key for key in objects if key.startswith(f"{namespace}/")):
                    state, name = objects[key], key.partition("/")[2]
                    if (
                        self._value not in {"", state.labels.get(LABEL)}
                        or LABEL not in state.labels
                    ):
                        continue
                    content = state.content
                    assert isinstance(content, Mapping)
                    for file, text in content.items():
                        data = base64.b64decode(text) if kind == "secret" else text.encode()
                        prefix = f"namespace_{namespace}.{kind}_{name}." if self._unique else ""
                        yield f"{prefix}{file}", data

    def _there(self) -> Iterator[tuple[str, bytes]]:
        for path in self.path.iterdir():
            if not path.name.startswith("."):
                with contextlib.suppress(FileNotFoundError):  # gone since
                    yield path.name, path.read_bytes()

    def _read(self) -> None:
        while not self._over.wait(PAUSE):
            for name, data in self._there():
                try:
                    number = number_in(data)
                except ValueError:
                    self._note(f"{name} is not whole: {len(data)} bytes")
                    continue
                if self._unique and number < self._newest.get(name, 0):
                    self._note(f"{name} went back from {self._newest[name]} to {number}")
                self._newest[name] = number

    def _note(self, what: str) -> None:
        if what not in self.troubles:
            self.troubles.append(what)


@final
class SidecarInhabitant:
    """A sidecar in this process that is started again now and then, and whose files vanish."""

    def __init__(self, given: Surroundings, layout: str) -> None:
        self.name = f"sidecar, {layout}"
        self.reflectors = len(KINDS) * len(given.namespaces)
        self._given = given
        self._cluster = HurriedCluster(given.client.settings)
        self.requests: Sequence[Counter[str]] = (self._cluster.transport.requests,)
        path = given.folder / f"sidecar-{layout}"
        variables = variables_for(path, given.namespaces, UNIQUE_FILENAMES="true", LAYOUT=layout)
        self._settings = read_settings(variables)
        self._folder = Folder(path, variables)
        self._tasks = TaskOwner(self.name)
        self._life: asyncio.Task[None] | None = None
        self._closing = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as undo:
            await undo.enter_async_context(self._cluster)
            undo.enter_context(self._folder)
            await undo.enter_async_context(self._tasks)
            self._closing = undo.pop_all()
        self._life = self._tasks.start(self._live(), name=self.name)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.__aexit__(kind, error, trace)

    async def _live(self) -> None:
        while True:
            sidecar = Sidecar(
                self._settings, self._cluster, namespace="default", clock=self._given.clock
            )
            with contextlib.suppress(RefletError):  # nothing could be read at the start
                await sidecar.run()
            await self._given.clock.sleep(AGAIN)

    async def stir(self, chance: random.Random) -> None:
        """End, and begin again at once; or lose a file, which is written again."""
        assert self._life is not None
        if chance.random() < 0.5:
            self._life.cancel()
            await asyncio.wait([self._life])
            self._life = self._tasks.start(self._live(), name=self.name)
            return
        files = sorted(path for path in self._folder.path.iterdir() if path.name[0] != ".")
        if files:
            chance.choice(files).unlink(missing_ok=True)

    def disagreements(self, truth: Truth) -> list[str]:
        return self._folder.disagreements(truth)

    def troubles(self) -> list[str]:
        return self._folder.troubles

    def forget(self) -> None:
        pass  # what it remembers is bounded

    def left(self) -> list[str]:
        return []


@final
class KilledSidecar:
    """A sidecar in a process of its own, killed now and then; objects want the same files."""

    reflectors = 0
    requests: Sequence[Counter[str]] = ()

    def __init__(self, given: Surroundings) -> None:
        self.name = "sidecar that is killed"
        path = given.folder / "sidecar-killed"
        variables = variables_for(path, given.namespaces, LABEL_VALUE="red")
        self._given = given
        self._variables = variables
        self._folder = Folder(path, variables)
        self._process: asyncio.subprocess.Process | None = None
        self._tasks = TaskOwner(self.name)
        self._closing = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as undo:
            undo.enter_context(self._folder)
            undo.push_async_callback(self._end)
            await undo.enter_async_context(self._tasks)
            self._closing = undo.pop_all()
        self._tasks.start(self._keep(), name=f"keeper of a {self.name}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.__aexit__(kind, error, trace)

    async def _keep(self) -> None:
        """Start it, and again whenever it ends."""
        task = await task_for(self._given.client.settings, self._variables)
        while True:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.faults.hurried_sidecar"),
                stdin=asyncio.subprocess.PIPE,
            )
            assert self._process.stdin is not None
            self._process.stdin.write(task)
            self._process.stdin.close()
            await self._process.wait()
            await self._given.clock.sleep(AGAIN)

    async def _end(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with within(END):
                await process.wait()
        except TimeoutError:
            self._folder.troubles.append("did not end when it was told to")
            process.kill()
            await process.wait()

    async def stir(self, chance: random.Random) -> None:
        """Be killed in the middle of whatever it is doing, or be told to end."""
        process = self._process
        if process is not None and process.returncode is None:
            how = signal.SIGTERM if chance.random() < 0.2 else signal.SIGKILL
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(how)

    def disagreements(self, truth: Truth) -> list[str]:
        return self._folder.disagreements(truth)

    def troubles(self) -> list[str]:
        return self._folder.troubles

    def forget(self) -> None:
        pass  # what it remembers is bounded

    def left(self) -> list[str]:
        return []
