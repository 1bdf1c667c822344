from __future__ import annotations

import asyncio

import pytest

from reflet.pleg.compute_events import EventChannel, PodEvent, PodEventType


def event(number: int) -> PodEvent:
    return PodEvent(f"pod {number}", PodEventType.POD_SYNC)


async def test_events_come_out_in_the_order_in_which_they_went_in() -> None:
    channel = EventChannel(5)
    for number in range(5):
        channel.put(event(number))
    channel.close()

    assert [each async for each in channel] == [event(number) for number in range(5)]


def test_what_does_not_fit_is_dropped_and_counted() -> None:
    channel = EventChannel(2)

    fitted = [channel.put(event(number)) for number in range(4)]

    assert (fitted, channel.dropped) == ([True, True, False, False], 2)
    assert channel.take_all() == (event(0), event(1))


def test_what_is_taken_makes_room() -> None:
    channel = EventChannel(1)
    channel.put(event(0))
    channel.take_all()

    assert channel.put(event(1))
    assert len(channel) == 1


@pytest.mark.virtual_time
async def test_whoever_iterates_waits_for_the_next_event() -> None:
    channel = EventChannel(1)
    asyncio.get_running_loop().call_later(30, channel.put, event(1))

    assert await anext(channel) == event(1)
    assert asyncio.get_running_loop().time() == 30


@pytest.mark.virtual_time
async def test_an_emptied_channel_waits_again() -> None:
    channel = EventChannel(2)
    channel.put(event(0))
    channel.take_all()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await anext(channel)


@pytest.mark.virtual_time
async def test_each_event_comes_to_one_of_those_who_iterate() -> None:
    channel = EventChannel(10)
    taken: list[PodEvent] = []

    async def take() -> None:
        async for each in channel:
            taken.append(each)
            await asyncio.sleep(1)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(3):
            tasks.create_task(take())
        await asyncio.sleep(1)
        for number in range(6):
            channel.put(event(number))
        channel.close()

    assert taken == [event(number) for number in range(6)]


@pytest.mark.virtual_time
async def test_closing_ends_the_wait() -> None:
    channel = EventChannel(1)
    asyncio.get_running_loop().call_later(1, channel.close)

    assert [each async for each in channel] == []


def test_a_closed_channel_takes_nothing() -> None:
    channel = EventChannel(1)
    channel.close()
    channel.close()

    assert (channel.put(event(0)), channel.dropped) == (False, 1)


def test_a_channel_without_room_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="a channel for 0 events can carry none"):
        EventChannel(0)
