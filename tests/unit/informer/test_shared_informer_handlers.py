"""Who joins an informer, what it is told again, and who leaves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.changes import Change
from reflet.store.deltas import Changed, Replaced, Resynced
from reflet.testing.scripted_source import (
    ScriptedSource,
    added,
    listing,
    modified,
)
from tests.unit.informer.informers import (
    A1,
    A2,
    A3,
    B1,
    B2,
    Heard,
    idle,
    informer_of,
    settled,
)

pytestmark = pytest.mark.virtual_time


# Repetitions


async def test_a_relist_repeats_nothing_once_a_check_has_happened() -> None:
    never, due = Heard(), Heard()
    informer = idle(resync_every=10)
    informer.add_handler(never, resync_every=0)
    informer.add_handler(due)

    async with informer:
        informer.apply(Replaced([A1, B1], "1"))
        await settled()
        informer._handlers.plan.check(11.0)
        informer.apply(Replaced([A1, B2], "5"))
        informer.apply(Resynced())
        await settled()

    assert never.told[2:] == [("UPDATED", "b", "2")]
    assert due.told[2:] == [
        ("UPDATED", "a", "1"),
        ("UPDATED", "b", "2"),
        ("UPDATED", "a", "1"),
        ("UPDATED", "b", "2"),
    ]


async def test_a_watch_that_repeats_a_version_tells_only_who_is_due() -> None:
    heard = Heard()
    informer = idle(resync_every=10)
    informer.add_handler(heard, resync_every=0)

    async with informer:
        informer.apply(Replaced([A1], "1"))
        informer._handlers.plan.check(11.0)
        informer.apply(Changed([modified(A1), modified(A2)]))
        await settled()

    assert heard.told == [("ADDED", "a", "1"), ("UPDATED", "a", "2")]


async def test_a_resync_runs_beside_the_watch_for_whoever_does_not_decline() -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("1", A1)])
    heard, rarely, never = Heard(), Heard(), Heard()
    informer = informer_of(source, resync_every=30)
    informer.add_handler(heard)
    informer.add_handler(rarely, resync_every=60)
    informer.add_handler(never, resync_every=0)

    async with informer:
        await asyncio.sleep(100)

    assert heard.told == [("ADDED", "a", "1")] + [("UPDATED", "a", "1")] * 3
    assert rarely.told == [("ADDED", "a", "1"), ("UPDATED", "a", "1")]
    assert never.told == [("ADDED", "a", "1")]


async def test_where_resync_is_never_configured_a_new_list_is_told_to_everybody_in_full() -> None:
    heard = Heard()
    informer = idle()
    informer.add_handler(heard)

    async with informer:
        informer.apply(Replaced([A1, B1], "1"))
        informer.apply(Replaced([A1, B2], "5"))
        await settled()

    assert heard.told[2:] == [("UPDATED", "a", "1"), ("UPDATED", "b", "2")]


# Joining and leaving


async def test_who_joins_late_is_told_the_present_state_and_is_synced_after_it() -> None:
    informer = idle()
    async with informer:
        informer.apply(Replaced([A1], "1"))
        informer.apply(Changed([added(B1)]))
        heard = Heard()
        registration = informer.add_handler(heard)
        before = registration.synced.is_set
        await settled()

    assert (before, registration.synced.is_set) == (False, True)
    assert heard.changes == [
        Change("ADDED", A1, initial=True),
        Change("ADDED", B1, initial=True),
    ]


async def test_events_before_the_first_list_do_not_keep_a_handler_from_being_synced() -> None:
    informer = idle()
    registration = informer.add_handler(Heard())
    async with informer:
        informer.apply(Changed([added(A1)]))
        informer.apply(Replaced([A1, B1], "2"))
        await settled()

    assert registration.synced.is_set


async def test_a_list_with_an_object_twice_does_not_keep_a_handler_from_being_synced() -> None:
    informer = idle()
    registration = informer.add_handler(Heard())
    async with informer:
        informer.apply(Replaced([A1, A2], "2"))
        await settled()

    assert registration.synced.is_set


async def test_who_is_removed_hears_nothing_more() -> None:
    heard = Heard()
    informer = idle()
    registration = informer.add_handler(heard)
    async with informer:
        informer.apply(Replaced([A1], "1"))
        await settled()
        informer.apply(Changed([modified(A2)]))
        informer.remove_handler(registration)
        informer.remove_handler(registration)
        informer.apply(Changed([modified(A3)]))
        await settled()

    assert heard.told == [("ADDED", "a", "1")]


async def test_the_registration_of_another_informer_is_ignored() -> None:
    registration = idle().add_handler(Heard())

    idle().remove_handler(registration)


async def test_what_is_no_registration_cannot_be_removed() -> None:
    nonsense: Any = 5

    with pytest.raises(TypeError, match=r"^invalid key type int$"):
        idle().remove_handler(nonsense)


async def test_a_handler_that_is_added_twice_is_told_twice() -> None:
    heard = Heard()
    informer = idle()
    informer.add_handler(heard)
    informer.add_handler(heard)
    async with informer:
        informer.apply(Replaced([A1], "1"))
        await settled()

    assert heard.told == [("ADDED", "a", "1")] * 2


async def test_changes_may_be_asked_for_before_the_start() -> None:
    informer = idle()
    stream = informer.changes()
    async with informer:
        informer.apply(Replaced([A1], "1"))

        assert await anext(stream) == Change("ADDED", A1, initial=True)


async def test_changes_end_when_the_informer_stops() -> None:
    informer = idle()

    async def followed() -> list[str]:
        return [change.key async for change in informer.changes()]

    async with informer:
        following = asyncio.create_task(followed())
        informer.apply(Replaced([A1], "1"))
        await settled()

    assert await following == ["shop/a"]


async def test_changes_repeat_nothing_unless_they_are_asked_to() -> None:
    informer = idle(resync_every=10)
    async with informer:
        informer.apply(Replaced([A1], "1"))
        news, everything = informer.changes(resync_every=0), informer.changes()
        informer.apply(Resynced())
        informer.apply(Changed([modified(A2)]))

        heard_news = list(await news.next_batch())
        heard_everything = list(await everything.next_batch())

    assert [change.is_resync for change in heard_news] == [False, False]
    assert [change.is_resync for change in heard_everything] == [False, True, False]
