"""Which address pods have, and the order in which an agent opens and closes its parts.

The parts that reach out, the shim, the relist loop, the managers and the mirror, only note here
when they are opened, asked and closed.  That they work together is for integration tests.
"""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import pytest

from reflet.cluster import Cluster
from reflet.errors import ConfigurationError, RefletError
from reflet.node import agent as agent_module
from reflet.node import open_process
from reflet.node.agent import LAST_WORDS, NodeAgent
from reflet.node.options import NodeOptions
from reflet.node.root_lock import LOCK
from reflet.node.shim.protocol import ContainerList, ShimUnavailable
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.fake_cluster import FakeCluster


@dataclass
class Settings:
    server: str


class NotingCluster(FakeCluster):
    """A server whose mirrors are parts like others."""

    def __init__(self, notes: Notes, server: str = "https://127.0.0.1:6443") -> None:
        super().__init__()
        self.settings = Settings(server)
        self._notes = notes

    def mirror(self, *_: Any, **__: Any) -> Part:
        return MirrorPart("services", self._notes)


class Notes(list[str]):
    """What happened, and what is to fail: the name of what would have been noted."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: dict[str, RefletError] = {}

    def note(self, what: str) -> None:
        self.append(what)
        if what in self.failures:
            raise self.failures[what]


class Part:
    """Notes when it is opened and closed."""

    def __init__(self, name: str, notes: Notes) -> None:
        self._name = name
        self.notes = notes

    async def __aenter__(self) -> Self:
        self.notes.note(f"open {self._name}")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.notes.note(f"close {self._name}")


class Watching:
    """A watch that never ends."""

    async def watching_ended(self) -> None:
        await asyncio.Event().wait()


class MirrorPart(Part):
    """A mirror of nothing."""

    informer = Watching()


class ShimPart(Part):
    """A shim of nothing."""

    is_connected = True
    pid = 0

    async def up(self) -> None:
        self.notes.note("ask the shim")

    async def listing(self, known: ContainerList) -> ContainerList:
        return known

    async def stop(self) -> None:
        self.notes.note("stop the shim")


class NoEvents:
    def __aiter__(self) -> NoEvents:
        return self

    async def __anext__(self) -> Any:
        await asyncio.Event().wait()


class PlegPart(Part):
    """A relist loop to which nothing happens."""

    events = NoEvents()

    def why_unhealthy(self) -> None:
        return None


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Notes:
    """What the parts note; the agent's folder in memory is one of the disk."""
    made = Notes()

    def part(kind: type[Part], name: str) -> Callable[..., Part]:
        return lambda *_, **__: kind(name, made)

    for name, replacement in {
        "ShimClient": part(ShimPart, "shim"),
        "Pleg": part(PlegPart, "pleg"),
        "ConfigMapManager": part(Part, "config maps"),
        "SecretManager": part(Part, "secrets"),
        "PodWakeups": part(Part, "news"),
        "memory_backed_root": lambda _: memory_below(tmp_path),
    }.items():
        opens = open_process if name in {"ShimClient", "Pleg"} else agent_module
        monkeypatch.setattr(opens, name, replacement)
    return made


def memory_below(folder: Path) -> Path:
    memory = folder / "memory"
    memory.mkdir(exist_ok=True)
    return memory


def agent_on(notes: Notes, folder: Path, **changes: Any) -> NodeAgent:
    """An agent that has no pods and is no Node."""
    (folder / "manifests").mkdir(exist_ok=True)
    settings: dict[str, Any] = {
        "name": "worker-1",
        "root": folder / "root",
        "pods_from": str(folder / "manifests"),
        "register": False,
    }
    options = NodeOptions(**(settings | changes))
    return NodeAgent(cast("Cluster", NotingCluster(notes)), options, clock=VirtualClock())


def is_free(folder: Path) -> bool:
    """Whether another agent could have the root."""
    with (folder / "root" / LOCK).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


OPENED = ["shim", "pleg", "config maps", "secrets", "services", "news"]


def test_an_agent_that_was_not_entered_answers_nowhere_and_is_no_node() -> None:
    options = NodeOptions(name="n", root=Path("/srv"))
    agent = NodeAgent(cast("Cluster", NotingCluster(Notes())), options)

    assert (agent.health_url, agent.node, agent.address) == ("", None, ())


# Opening and closing


@pytest.mark.virtual_time
async def test_parts_are_closed_in_the_opposite_order(notes: Notes, tmp_path: Path) -> None:
    async with agent_on(notes, tmp_path, keep_running=True) as agent:
        await agent.ready()
        opened = list(notes)
        notes.clear()

    assert opened == [f"open {name}" for name in OPENED]
    assert notes == [f"close {name}" for name in reversed(OPENED)]


@pytest.mark.virtual_time
async def test_a_shim_ends_when_nobody_asks_it_any_more_and_before_its_line_is_closed(
    notes: Notes, tmp_path: Path
) -> None:
    async with agent_on(notes, tmp_path):
        notes.clear()

    assert notes[0] == "ask the shim"
    assert notes[-3:] == ["close pleg", "stop the shim", "close shim"]


@pytest.mark.virtual_time
async def test_containers_that_are_to_go_on_keep_their_shim(notes: Notes, tmp_path: Path) -> None:
    async with agent_on(notes, tmp_path, keep_running=True):
        pass

    assert not {"ask the shim", "stop the shim"} & set(notes)


@pytest.mark.virtual_time
async def test_containers_that_could_not_be_ended_keep_their_shim(
    notes: Notes, tmp_path: Path
) -> None:
    notes.failures["ask the shim"] = ShimUnavailable("away")
    async with agent_on(notes, tmp_path):
        pass

    assert "stop the shim" not in notes
    assert notes[-1] == "close shim"


@pytest.mark.virtual_time
async def test_the_root_is_an_agents_own_until_all_is_closed(notes: Notes, tmp_path: Path) -> None:
    async with agent_on(notes, tmp_path):
        was_free = is_free(tmp_path)

        with pytest.raises(ConfigurationError, match="in use by another agent"):
            await agent_on(notes, tmp_path).__aenter__()

    assert (was_free, is_free(tmp_path)) == (False, True)


@pytest.mark.virtual_time
@pytest.mark.parametrize("keep_running", [False, True])
async def test_the_folder_in_memory_goes_when_it_is_empty(
    notes: Notes, tmp_path: Path, keep_running: bool
) -> None:
    async with agent_on(notes, tmp_path, keep_running=keep_running):
        was_there = (tmp_path / "memory").is_dir()

    assert (was_there, (tmp_path / "memory").exists()) == (True, False)


@pytest.mark.virtual_time
@pytest.mark.parametrize("keep_running", [False, True])
async def test_an_empty_folder_in_memory_stays_where_a_container_may_have_it(
    notes: Notes, tmp_path: Path, keep_running: bool
) -> None:
    async with agent_on(notes, tmp_path, keep_running=keep_running):
        (tmp_path / "memory" / "volume").mkdir()

    assert (tmp_path / "memory" / "volume").exists() == keep_running


@pytest.mark.virtual_time
@pytest.mark.parametrize("failing", OPENED)
async def test_an_agent_that_cannot_be_opened_closes_what_was_and_ends_no_container(
    notes: Notes, tmp_path: Path, failing: str
) -> None:
    notes.failures[f"open {failing}"] = ShimUnavailable("away")

    with pytest.raises(ShimUnavailable):
        await agent_on(notes, tmp_path).__aenter__()

    before = OPENED[: OPENED.index(failing)]
    assert [each for each in notes if not each.startswith("open ")] == [
        f"close {name}" for name in reversed(before)
    ]
    assert is_free(tmp_path)


@pytest.mark.virtual_time
async def test_last_words_that_cannot_be_told_keep_nothing_open(
    notes: Notes, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(agent_module, "tell_ends", never)
    loop = asyncio.get_running_loop()
    async with agent_on(notes, tmp_path) as agent:
        await agent.ready()
        notes.clear()
        began = loop.time()

    assert loop.time() - began == pytest.approx(LAST_WORDS, abs=1)
    assert notes[-1] == "close shim"
    assert "not everything was told before the end: no time" in caplog.messages
