"""Iterating changes."""

from __future__ import annotations

import asyncio
import gc

import pytest

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.change_stream import ChangeStream
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.handler_set import HandlerSet
from reflet.informer.handlers.registration import Registration
from reflet.informer.queues.delta_fifo import QueueClosed
from reflet.runtime.clock import SystemClock
from reflet.runtime.metrics import NO_METRICS
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time

A1, B1 = config_map("a", "1"), config_map("b", "1")


def stream_of(
    audience: HandlerSet[ConfigMap], *present: ConfigMap, only_changes: bool = True
) -> ChangeStream[ConfigMap]:
    registration: Registration[ConfigMap] = Registration(
        print, name="test", clock=SystemClock(), metrics=NO_METRICS
    )
    audience.plan.join(registration, 0.0, started=True, now=0.0)
    audience.join(registration, present)
    return ChangeStream(registration, audience.leave, only_changes=only_changes)


async def test_changes_come_one_by_one() -> None:
    stream = stream_of(HandlerSet(0), A1, B1)

    keys = [(await anext(stream)).key, (await anext(stream)).key]

    assert keys == ["shop/a", "shop/b"]


async def test_leaving_the_loop_is_enough() -> None:
    audience = HandlerSet[ConfigMap](0)

    async for _ in stream_of(audience, A1, B1):
        break

    assert len(audience) == 0


async def test_an_error_inside_the_loop_leaves_it_too() -> None:
    audience = HandlerSet[ConfigMap](0)

    async def follow() -> None:
        async for change in stream_of(audience, A1):
            raise LookupError(change.key)

    with pytest.raises(LookupError):
        await follow()
    gc.collect()

    assert len(audience) == 0


async def test_cancelling_who_iterates_leaves_it_too() -> None:
    audience = HandlerSet[ConfigMap](0)

    async def follow() -> None:
        async for _ in stream_of(audience):
            raise AssertionError("nothing ever comes")

    following = asyncio.create_task(follow())
    await asyncio.sleep(1)
    following.cancel()
    await asyncio.wait((following,))
    del following
    gc.collect()

    assert len(audience) == 0


async def test_a_context_leaves_at_its_end() -> None:
    audience = HandlerSet[ConfigMap](0)

    with stream_of(audience, A1) as stream:
        inside = len(audience)

    assert (inside, len(audience)) == (1, 0)
    assert [change async for change in stream] == []


async def test_the_iteration_ends_when_the_registration_is_stopped() -> None:
    audience = HandlerSet[ConfigMap](0)
    stream = stream_of(audience, A1)

    seen = []
    async for change in stream:
        seen.append(change.key)
        for member in audience:
            member.stop()

    assert seen == ["shop/a"]
    with pytest.raises(QueueClosed):
        await stream.next_batch()


@pytest.mark.parametrize(
    ("only_changes", "keys"), [(True, ["shop/b"]), (False, ["shop/a", "shop/b"])]
)
async def test_what_is_only_repeated_is_left_out_where_only_changes_count(
    only_changes: bool, keys: list[str]
) -> None:
    audience = HandlerSet[ConfigMap](0)
    stream = stream_of(audience, only_changes=only_changes)

    audience.tell([Change("UPDATED", A1, A1)], repeated=True)
    audience.tell([Change("ADDED", B1)], repeated=False)

    assert [change.key for change in await stream.next_batch()] == keys


async def test_repetitions_alone_do_not_end_the_waiting() -> None:
    audience = HandlerSet[ConfigMap](0)
    stream = stream_of(audience)
    waiting = asyncio.create_task(stream.next_batch())

    audience.tell([Change("UPDATED", A1, A1)], repeated=True)
    await asyncio.sleep(1)
    audience.tell([Change("ADDED", B1)], repeated=False)

    assert [change.key for change in await waiting] == ["shop/b"]
