"""Whatever pods come and go, and whatever happens on the server: exactly what is needed is open.

And what is read is what the server has, never older than what was read before.  Every run tells
the same stories of API servers that lag; ``REFLET_SEED`` tells others, ``REFLET_FUZZ`` so many
times as many (``make fuzz``).
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflet.api.core.config import ConfigMap
from reflet.blocking.loop_thread import LoopThread
from reflet.blocking.managers import BlockingManager
from reflet.managers.manager import ConfigMapManager
from reflet.testing import virtual_time
from tests.patience import Deadline
from tests.properties.manager_onlookers import onlookers
from tests.properties.manager_stories import ONCE_WRONG, Story, told
from tests.properties.manager_world import (
    LIMITS,
    NAMES,
    PODS,
    QUIET,
    Circumstances,
    Step,
    World,
)
from tests.served_objects import ServedObjects
from tests.unit.managers.pods import pod

SEED: Final = int(os.environ.get("REFLET_SEED", "0"))
TIMES: Final = int(os.environ.get("REFLET_FUZZ", "1"))
STORIES: Final = {"watch": 300, "auto": 700}
THREADS_TIMEOUT = 10.0  # real seconds, for threads

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
    strategy: str, story: list[Step], lag: dict[str, float], streaming: bool
) -> None:
    async def scene() -> None:
        await World(strategy, Circumstances(delays=lag, streaming=streaming)).live(story)

    virtual_time.run(scene())


def live(strategy: str, story: Story) -> None:
    """Live through a story while other threads look on."""
    random.seed(story.number)  # the chance in back-off
    world = World(strategy, story.it)
    with onlookers(world):
        virtual_time.run(world.live(story.steps))


def fails(strategy: str, story: Story) -> bool:
    try:
        live(strategy, story)
    except Exception:  # noqa: BLE001 - whatever it is, it must not be
        return True
    return False


@pytest.mark.parametrize("strategy", ["watch", "auto"])
@pytest.mark.parametrize("story", ONCE_WRONG.values(), ids=ONCE_WRONG)
def test_what_went_wrong_once_comes_right(strategy: str, story: Story) -> None:
    live(strategy, story)


@pytest.mark.story
@pytest.mark.time_limit(60.0 * TIMES)
@pytest.mark.parametrize("strategy", STORIES)
def test_whatever_lags_no_reader_is_led_back_and_all_comes_right(
    strategy: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, logger="reflet")  # half of the time, otherwise
    for number in range(STORIES[strategy] * TIMES):
        story = told(SEED, number)
        if fails(strategy, story):
            shortest = story.shortened(partial(fails, strategy))
            sys.stdout.write(f"REFLET_SEED={SEED}, {shortest}\n")
            live(strategy, shortest)


async def act(world: World, story: Sequence[Step]) -> None:
    for step in story:
        await asyncio.sleep(0.001)
        await world.do(step)


@pytest.mark.parametrize("strategy", ["watch", "auto"])
@given(acts=st.lists(stories, min_size=2, max_size=4), lag=lags)
@settings(max_examples=40, deadline=None)
def test_many_tasks_may_register_and_read_at_once(
    strategy: str, acts: list[list[Step]], lag: dict[str, float]
) -> None:
    async def scene() -> None:
        world = World(strategy, Circumstances(delays=lag))
        async with world.manager:
            async with asyncio.TaskGroup() as tasks:
                for story in acts:
                    calm = [
                        step for step in story if step[0] not in {"pass", "outage", "read", "rest"}
                    ]
                    tasks.create_task(act(world, calm))
            await world.settle()
            world.claim_streams()
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
    deadline = Deadline(THREADS_TIMEOUT)
    while not reached():
        assert not deadline.passed
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
