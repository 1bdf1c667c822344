"""Whatever pods come and go, and whatever happens on the server: exactly what is needed is open.

And what is read is what the server has, never older than what was read before.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflet.api.config import ConfigMap
from reflet.blocking.loop_thread import LoopThread
from reflet.blocking.managers import BlockingManager
from reflet.errors import CacheNotSynced, NotFound, NotRegistered
from reflet.managers.config_map_manager import ConfigMapManager
from reflet.managers.stream_plan import StreamLimits
from reflet.testing import virtual_time
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import Place, ServedObjects
from tests.unit.managers.pods import pod

NAMES = ("a", "b", "c", "d", "e", "f")
PODS = ("p", "q", "r", "s")
QUIET = 8.0  # seconds; more than every delay, and than the pause after a refusal
LIMITS = StreamLimits(namespace_from=3, namespace_until=2, refused_for=120.0)
PATIENCE = 10.0  # real seconds, for threads
IDLE = 300.0
LOOK = 60.0

names = st.frozensets(st.sampled_from(NAMES), max_size=5)
steps = st.one_of(
    st.tuples(st.just("register"), st.sampled_from(PODS), names),
    st.tuples(st.just("register"), st.sampled_from(PODS), names),
    st.tuples(st.just("unregister"), st.sampled_from(PODS), st.none()),
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.just(False)),
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.booleans()),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("read"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("pass"), st.sampled_from([0.0, 0.01, 0.3, 3.0, 100.0, 400.0]), st.none()),
    st.tuples(st.just("bookmark"), st.none(), st.none()),
    st.tuples(st.just("rest"), st.none(), st.none()),
    st.tuples(st.just("forbid"), st.booleans(), st.none()),
    st.tuples(st.just("outage"), st.sampled_from([0.1, 2.0]), st.none()),
)
stories = st.lists(steps, max_size=30)
lags = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.02, 0.5]) for name in ("*", *NAMES)})


@dataclass
class Model:
    """What is to be true, by other means than the manager's."""

    pods: dict[str, frozenset[str]] = field(default_factory=dict)
    last_read: dict[str, float] = field(default_factory=dict)
    frozen: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)

    @property
    def needed(self) -> set[str]:
        return set().union(*self.pods.values()) if self.pods else set()

    def registered(self, name: str, names: frozenset[str] | None, now: float) -> None:
        before = self.needed
        if names is None:
            self.pods.pop(name, None)
        else:
            self.pods[name] = names
        for gone in before - self.needed:
            for known in (self.last_read, self.frozen, self.shown):
                known.pop(gone, None)
        for new in self.needed - before:
            self.last_read[new] = now

    def awake(self, now: float) -> set[str]:
        """The needed names whose streams are open at a moment without delays."""
        last_look = now // LOOK * LOOK
        return {
            name
            for name in self.needed - self.frozen.keys()
            if not self.last_read[name] + IDLE < last_look
        }


class World:
    """A server, a manager, and a model of what the manager should do."""

    def __init__(self, strategy: str, lag: dict[str, float], *, streaming: bool) -> None:
        self.server = ServedObjects(streaming=streaming)
        self.server.delays = lambda place: lag[place[1] or "*"]
        self.server.stale_by = 3
        self.manager = ConfigMapManager(
            self.server,
            strategy=strategy,
            clock=VirtualClock(),
            limits=LIMITS,
            streaming=streaming,
        )
        self.model = Model()
        self._forbidden = False
        self.server.forbids = self._forbids

    def _forbids(self, verb: str, place: Place) -> bool:
        return self._forbidden and place[1] is None

    async def do(self, step: tuple[str, Any, Any]) -> None:
        now = asyncio.get_running_loop().time()
        match step:
            case ("register", name, names):
                self.manager.register_pod(pod(name, *sorted(names)))
                self.model.registered(name, names, now)
            case ("unregister", name, _):
                self.manager.unregister_pod(pod(name))
                self.model.registered(name, None, now)
            case ("put", name, immutable):
                self.server.put("shop", name, immutable=immutable)
            case ("delete", name, _):
                if ("shop", name) in self.server.objects:
                    self.server.delete("shop", name)
            case ("read", name, _):
                await self.read(name)
            case ("pass", seconds, _):
                await asyncio.sleep(seconds)
            case ("bookmark", _, _):
                self.server.bookmark_everywhere()
            case ("rest", _, _):
                await self.rest()
            case ("forbid", forbidden, _):
                self._forbidden = forbidden
            case ("outage", seconds, _):
                self.server.go_away()
                await asyncio.sleep(seconds)
                self.server.come_back()
            case _:
                pytest.fail(f"no such step: {step}")
        self.look()

    async def read(self, name: str) -> Any:
        """Read, and claim that nothing goes back."""
        if name in self.model.needed:
            self.model.last_read[name] = asyncio.get_running_loop().time()
        try:
            found: Any = await self.manager.get("shop", name)
        except NotRegistered:
            assert name not in self.model.needed
            return None
        except NotFound:
            assert name in self.model.needed
            return None
        except CacheNotSynced:
            return None
        self.saw(name, found)
        if found.immutable:
            self.model.frozen.setdefault(name, found)
        if name in self.model.frozen:
            assert found == self.model.frozen[name]
        return found

    def saw(self, name: str, found: ConfigMap) -> None:
        version = int(found.metadata.resource_version)
        assert version >= self.model.shown.get(name, 0)
        self.model.shown[name] = version

    def look(self) -> None:
        """Look at what is in memory, without counting as a reader."""
        store: Any = self.manager._store
        for name in self.model.needed:
            entry = store._entries["shop", name]
            if entry.synced and entry.object is not None:
                self.saw(name, entry.object)

    async def settle(self) -> None:
        """Let everything come to rest, with nothing forbidden but what is."""
        await asyncio.sleep(QUIET)
        self.server.bookmark_everywhere()
        await asyncio.sleep(QUIET)
        self.look()

    def open_streams(self) -> list[str | None]:
        assert all(namespace == "shop" for namespace, _ in self.server.streams)
        return [name for _, name in self.server.streams]

    async def claim_freshness(self) -> None:
        for name in sorted(self.model.awake(asyncio.get_running_loop().time())):
            found = self.server.objects.get(("shop", name))
            assert await self.read(name) == found

    async def rest(self) -> None:
        """Come to a quiet point, and claim that all is as it should be."""
        await self.settle()
        await self.claim_freshness()
        await asyncio.sleep(QUIET)
        claim_streams(self)
        assert len(self.manager.plan()) == len(self.server.streams)


async def live(world: World, story: Sequence[tuple[str, Any, Any]]) -> None:
    async with world.manager:
        for step in story:
            await world.do(step)
        await world.rest()
        for name in tuple(world.model.pods):
            await world.do(("unregister", name, None))
        await asyncio.sleep(QUIET)
        assert world.server.streams == []
        assert len(world.manager.plan()) == 0
        assert len(world.manager._store) == 0  # type: ignore[arg-type]  # a store that watches
    assert world.server.streams == []


def claim_streams(world: World) -> None:
    awake = world.model.awake(asyncio.get_running_loop().time())
    opened = world.open_streams()
    if world.manager.strategy == "watch":
        assert sorted(map(str, opened)) == sorted(awake)
        return
    assert len(opened) <= max(len(awake), 1)
    if len(awake) < LIMITS.namespace_until:
        assert sorted(map(str, opened)) == sorted(awake)
    elif len(awake) >= LIMITS.namespace_from and not world._forbidden:
        refused = any("forbidden" in stream.reason for stream in world.manager.plan().streams)
        assert refused or opened == [None]


NO_LAG = dict.fromkeys(("*", *NAMES), 0.0)
WANTED_ANEW = [
    ("put", "a", False),
    ("register", "p", frozenset("abc")),
    ("read", "a", None),
    ("pass", 0.0, None),
    ("register", "p", frozenset()),
    ("register", "p", frozenset("ab")),
]


@pytest.mark.parametrize("strategy", ["watch", "auto"])
@example(story=WANTED_ANEW, lag=NO_LAG, streaming=False)
@given(story=stories, lag=lags, streaming=st.booleans())
@settings(max_examples=200, deadline=None)
def test_exactly_what_is_needed_is_open_and_nothing_goes_back(
    strategy: str, story: list[tuple[str, Any, Any]], lag: dict[str, float], streaming: bool
) -> None:
    async def scene() -> None:
        await live(World(strategy, lag, streaming=streaming), story)

    virtual_time.run(scene())


async def act(world: World, story: Sequence[tuple[str, Any, Any]]) -> None:
    for step in story:
        await asyncio.sleep(0.001)
        await world.do(step)


@pytest.mark.parametrize("strategy", ["watch", "auto"])
@given(acts=st.lists(stories, min_size=2, max_size=4), lag=lags)
@settings(max_examples=40, deadline=None)
def test_many_tasks_may_register_and_read_at_once(
    strategy: str, acts: list[list[tuple[str, Any, Any]]], lag: dict[str, float]
) -> None:
    async def scene() -> None:
        world = World(strategy, lag, streaming=True)
        async with world.manager:
            async with asyncio.TaskGroup() as tasks:
                for story in acts:
                    calm = [
                        step for step in story if step[0] not in {"pass", "outage", "read", "rest"}
                    ]
                    tasks.create_task(act(world, calm))
            await world.settle()
            claim_streams(world)
            await world.claim_freshness()
            for name in tuple(world.model.pods):
                await world.do(("unregister", name, None))
            await asyncio.sleep(QUIET)
        assert world.server.streams == []

    virtual_time.run(scene())


moves = st.tuples(st.sampled_from(PODS), st.one_of(st.none(), names))


class ThreadedScene:
    """A manager that several threads use at once, each with pods of its own."""

    def __init__(self, manager: BlockingManager[ConfigMap]) -> None:
        self.needed: set[str] = set()
        self._manager = manager
        self._failures: list[BaseException] = []

    def play(self, parts: Sequence[Sequence[tuple[str, frozenset[str] | None]]]) -> None:
        """Let each thread play its part, and wait for all."""
        played = [
            threading.Thread(target=self._act, args=(number, part))
            for number, part in enumerate(parts)
        ]
        for thread in played:
            thread.start()
        for thread in played:
            thread.join()
        assert self._failures == []

    def _act(self, number: int, part: Sequence[tuple[str, frozenset[str] | None]]) -> None:
        needed: dict[str, frozenset[str]] = {}
        try:
            for name, mentioned in part:
                mine = f"{name}-{number}"
                if mentioned is None:
                    self._manager.unregister_pod(pod(mine))
                    needed.pop(mine, None)
                else:
                    self._manager.register_pod(pod(mine, *sorted(mentioned)))
                    needed[mine] = mentioned
                for each in set().union(*needed.values()):
                    assert self._manager.get("shop", each).metadata.name == each
        except BaseException as error:  # noqa: BLE001 - told to the test by play
            self._failures.append(error)
        self.needed.update(*needed.values())


def until(reached: Callable[[], bool], between: Callable[[], None] = lambda: None) -> None:
    """Look until it is so: streams end a moment after nobody needs them."""
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < deadline
        between()
        time.sleep(0.001)


async def bookmarked(server: ServedObjects) -> None:
    server.bookmark_everywhere()


@pytest.mark.parametrize("strategy", ["watch", "auto"])
@given(parts=st.lists(st.lists(moves, max_size=8), min_size=2, max_size=5))
@settings(max_examples=25, deadline=None)
def test_many_threads_may_register_and_read_at_once(
    strategy: str, parts: list[list[tuple[str, frozenset[str] | None]]]
) -> None:
    loop = LoopThread("managers")
    server = ServedObjects()
    for name in NAMES:
        server.put("shop", name)
    options: Any = {"strategy": strategy, "limits": LIMITS}
    manager = ConfigMapManager(server, **options)
    try:
        with BlockingManager(loop, manager) as blocking:
            scene = ThreadedScene(blocking)
            scene.play(parts)
            needed, one_for_all = scene.needed, [None]
            if strategy == "watch" or len(needed) < LIMITS.namespace_until:
                until(lambda: sorted(str(name) for _, name in server.streams) == sorted(needed))
            elif len(needed) >= LIMITS.namespace_from:
                # Without bookmarks nobody knows how far a silent stream has come.
                until(
                    lambda: [name for _, name in server.streams] == one_for_all,
                    between=lambda: loop.run(bookmarked(server)),
                )
            scene.play([[(name, None) for name in PODS]] * len(parts))
            until(lambda: not server.streams and not len(blocking.plan()))
            assert len(manager._store) == 0  # type: ignore[arg-type]  # a store that watches
        assert server.streams == []
    finally:
        loop.stop()
