"""One object that somebody refers to, as readers see it."""

from __future__ import annotations

import asyncio

import pytest

from reflet.api.core.config import ConfigMap
from reflet.managers.object_entry import EntryEvent, EntryState, ObjectEntry, next_state
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time


def entry(changes: list[str] | None = None) -> ObjectEntry[ConfigMap]:
    def changed(changed_entry: ObjectEntry[ConfigMap]) -> None:
        if changes is not None:
            changes.append(changed_entry.version)

    return ObjectEntry("shop", "a", now=0.0, changed=changed)


async def test_a_change_is_told_when_the_answer_is_another() -> None:
    changes: list[str] = []
    item = entry(changes)

    item.show(None, "5")
    item.show(None, "6")
    item.show(config_map("a", "7"), "8")
    item.show(config_map("a", "7"), "9")
    item.happened(EntryEvent.UNREAD_FOR_LONG)
    item.happened(EntryEvent.STREAM_CLOSED)
    item.show(config_map("a", "7"), "10")
    item.show(None, "11")

    assert changes == ["5", "7", "11"]


async def test_an_entry_whose_stream_was_closed_has_no_answer_but_was_known() -> None:
    item = entry()
    item.show(config_map("a", "7"), "7")
    item.happened(EntryEvent.UNREAD_FOR_LONG)
    unread = item.synced
    item.happened(EntryEvent.STREAM_CLOSED)

    assert (unread, item.synced, item.known) == (True, False, True)


async def test_an_immutable_entry_has_its_answer_for_ever() -> None:
    item = entry()
    item.show(config_map("a", "7"), "7")
    item.happened(EntryEvent.READ_IMMUTABLE)

    for event in EntryEvent:
        assert not item.happened(event)
    assert (item.state, item.synced) == (EntryState.IMMUTABLE, True)


async def test_a_reference_more_given_back_than_taken_is_ignored() -> None:
    item = entry()
    item.refer("web")

    assert (item.release("job"), item.references) == (False, {"web": 1})
    assert (item.release("web"), item.references) == (True, {})


async def test_who_waits_is_woken_by_the_answer() -> None:
    item = entry()
    waiting = asyncio.create_task(item.wait(1.0))
    await asyncio.sleep(0.5)

    item.show(None, "5")

    assert await waiting
    assert asyncio.get_running_loop().time() == 0.5


async def test_waiting_has_an_end_and_leaves_nothing_behind() -> None:
    item = entry()

    assert not await item.wait(1.0)
    assert not item.is_awaited()
    item.wake()


@pytest.mark.parametrize(
    ("state", "event", "after"),
    [
        (EntryState.LOADING, EntryEvent.SHOWN, EntryState.LIVE),
        (EntryState.LOADING, EntryEvent.UNREAD_FOR_LONG, EntryState.LOADING),
        (EntryState.LOADING, EntryEvent.READ_IMMUTABLE, EntryState.LOADING),
        (EntryState.LIVE, EntryEvent.SHOWN, EntryState.LIVE),
        (EntryState.LIVE, EntryEvent.UNREAD_FOR_LONG, EntryState.UNREAD),
        (EntryState.UNREAD, EntryEvent.SHOWN, EntryState.UNREAD),
        (EntryState.UNREAD, EntryEvent.NEEDED, EntryState.LIVE),
        (EntryState.UNREAD, EntryEvent.STREAM_CLOSED, EntryState.IDLE),
        (EntryState.IDLE, EntryEvent.NEEDED, EntryState.LOADING),
        (EntryState.LIVE, EntryEvent.READ_IMMUTABLE, EntryState.IMMUTABLE),
    ],
)
def test_a_state_and_an_event_give_the_next_state(
    state: EntryState, event: EntryEvent, after: EntryState
) -> None:
    assert next_state(state, event) is after


async def test_the_state_has_a_name() -> None:
    assert "loading" in repr(entry())


async def test_it_is_known_whether_somebody_waits() -> None:
    item = entry()
    before = item.is_awaited()
    waiting = asyncio.create_task(item.wait(1.0))
    await asyncio.sleep(0.5)
    meanwhile = item.is_awaited()
    item.show(None, "5")

    assert (before, meanwhile, item.is_awaited()) == (False, True, False)
    assert await waiting
