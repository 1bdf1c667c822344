"""One object that somebody refers to, as readers see it."""

from __future__ import annotations

import asyncio

import pytest

from reflet.api.core.config import ConfigMap
from reflet.managers.object_entry import ObjectEntry
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
    item.hide()
    item.show(config_map("a", "7"), "10")
    item.show(None, "11")

    assert changes == ["5", "7", "11"]


async def test_a_hidden_entry_has_no_answer_unless_it_is_frozen() -> None:
    item = entry()
    item.show(config_map("a", "7"), "7")
    item.hide()
    hidden = (item.synced, item.known)
    item.show(config_map("a", "7"), "7")
    item.frozen = True
    item.hide()

    assert (hidden, item.synced) == ((False, True), True)


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
    ("synced", "idle", "frozen", "state"),
    [
        (False, False, False, "loading"),
        (True, False, False, "live"),
        (False, True, False, "idle"),
        (True, False, True, "frozen"),
    ],
)
async def test_the_state_has_a_name(synced: bool, idle: bool, frozen: bool, state: str) -> None:
    item = entry()
    item.synced, item.idle, item.frozen = synced, idle, frozen

    assert item.state == state
    assert state in repr(item)


async def test_it_is_known_whether_somebody_waits() -> None:
    item = entry()
    before = item.is_awaited()
    waiting = asyncio.create_task(item.wait(1.0))
    await asyncio.sleep(0.5)
    meanwhile = item.is_awaited()
    item.show(None, "5")

    assert (before, meanwhile, item.is_awaited()) == (False, True, False)
    assert await waiting
