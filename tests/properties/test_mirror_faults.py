"""Any history, any script of faults, real sockets: once faults stop, everybody agrees.

The server, the mirror and its handlers share one loop with virtual time, so that an example
lives through minutes of back-off in a moment.  Every run takes the same examples; another seed
takes others (``REFLET_SEED=… pytest …``), and what fails names its seed.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from reflet.api.resources import Resource
from reflet.devserver.faults import IMMEDIATE_ACTIONS, Action
from reflet.testing import virtual_time
from tests.mirror_scenes import CONFIG_MAPS, WIDGETS, Scene, scene

SEED: Final = int(os.environ.get("REFLET_SEED", "0"))
"""The same story every time, so that a failure is somebody's change; others by the variable."""

LONG_ENOUGH: Final = 1500.0
"""Seconds after the last fault; more than a silence, two unanswered requests and a delay."""

REQUESTS_OF_A_FAULT: Final = 4
"""Most requests that one strike may lead to, on average: a pass of the reflector."""


@dataclass(frozen=True)
class Write:
    """An object is put or deleted."""

    what: str
    name: str
    namespace: str


@dataclass(frozen=True)
class Break:
    """Something goes wrong: now, or with the requests that come."""

    action: Action
    verb: str
    times: int
    after: int
    now: bool
    status: int
    seconds: int


@dataclass(frozen=True)
class Round:
    """Some time passes, and then all of this happens in one moment."""

    pause: float
    steps: list[Write | Break]


writes = st.builds(
    Write,
    st.sampled_from(["put", "put", "put", "delete"]),
    st.sampled_from("abc"),
    st.sampled_from(["shop", "garden"]),
)
breaks = st.builds(
    Break,
    st.sampled_from(Action),
    st.sampled_from(["watch", "watch", "list", ""]),
    st.integers(1, 4),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from([401, 403, 410, 429, 500, 503, 504]),
    st.sampled_from([0, 1, 5]),
)
pauses = st.sampled_from([0.0, 0.01, 0.3, 1.5, 20.0, 100.0])
some_writes = st.lists(writes, max_size=5)
some_breaks = st.lists(breaks, min_size=1, max_size=2)
steps = st.builds(
    lambda first, then, last: [*first, *then, *last], some_writes, some_breaks, some_writes
)
scripts = st.lists(st.builds(Round, pauses, steps), min_size=4, max_size=12)


def strike(made: Scene, fault: Break) -> None:
    made.fault(
        fault.action,
        verb=fault.verb,
        times=fault.times,
        after=0 if fault.now else fault.after,
        now=fault.now and fault.action in IMMEDIATE_ACTIONS,
        status=fault.status,
        retry_after=fault.seconds or None,
        seconds=fault.seconds,
    )


async def play(script: list[Round], made: Scene) -> None:
    for each in script:
        await asyncio.sleep(each.pause)
        for step in each.steps:
            match step:
                case Write("put", name, namespace):
                    made.collection.put(name, namespace)
                case Write(_, name, namespace):
                    made.collection.delete(name, namespace)
                case Break():
                    strike(made, step)


def bound(made: Scene, seconds: float) -> int:
    """Most requests that anybody may make to whom all this happens."""
    strikes = len(made.server.faults.fired)
    return 8 + REQUESTS_OF_A_FAULT * strikes + int(seconds / 30)


@pytest.mark.time_limit(300)  # a failure is made small first; a success takes ten seconds
@seed(SEED)
@settings(
    max_examples=60,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    script=scripts,
    resource=st.sampled_from([CONFIG_MAPS, WIDGETS]),
    streaming=st.booleans(),
    page_size=st.sampled_from([0, 0, 2]),
    queue=st.sampled_from(["ordered", "ordered", "delta-fifo"]),
    backlog_limit=st.sampled_from([10_000, 2]),
    broken_at_first=st.booleans(),
)
def test_once_faults_stop_the_mirror_and_every_handler_equal_the_server(
    script: list[Round],
    resource: Resource,
    streaming: bool,
    page_size: int,
    queue: str,
    backlog_limit: int,
    broken_at_first: bool,
) -> None:
    note(f"REFLET_SEED={SEED}")
    options: dict[str, Any] = {
        "streaming": streaming,
        "page_size": page_size,
        "queue": queue,
        "backlog_limit": backlog_limit,
    }

    def break_first(made: Scene) -> None:
        for step in script[0].steps if broken_at_first else []:
            if isinstance(step, Break):
                strike(made, step)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        async with scene(resource, before=break_first, synced=False, **options) as made:
            await play(script, made)
            made.heal()
            made.joins("late")

            await made.agrees(within=LONG_ENOUGH)
            assert made.requests() <= bound(made, loop.time())

    virtual_time.run(run())
