"""Who is told what."""

from __future__ import annotations

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.handler_set import HandlerSet
from reflet.informer.handlers.registration import Registration
from reflet.runtime.metrics import NO_METRICS
from reflet.testing.virtual_time import ManualClock
from tests.unit.store.config_maps import config_map

A1, A2, B1 = config_map("a", "1"), config_map("a", "2"), config_map("b", "1")


def member_of(
    audience: HandlerSet[ConfigMap], *present: ConfigMap, resync_every: float = 0.0
) -> Registration[ConfigMap]:
    member: Registration[ConfigMap] = Registration(
        print, name="test", clock=ManualClock(), metrics=NO_METRICS
    )
    audience.plan.join(member, resync_every, started=False, now=0.0)
    audience.join(member, present)
    return member


async def heard(member: Registration[ConfigMap]) -> list[Change[ConfigMap]]:
    return list(await member.next()) if member.waiting else []


async def test_everybody_is_told_what_changed() -> None:
    audience = HandlerSet[ConfigMap](0)
    audience.initial_complete()
    members = [member_of(audience), member_of(audience)]
    change = Change("UPDATED", A2, A1)

    audience.tell([change], repeated=False)

    assert [await heard(member) for member in members] == [[change], [change]]


async def test_what_is_only_repeated_goes_to_those_whose_turn_it_is() -> None:
    audience = HandlerSet[ConfigMap](1)
    never, due = member_of(audience), member_of(audience, resync_every=1)
    audience.initial_complete()
    audience.plan.check(5.0)
    repeated, news = Change("UPDATED", B1, B1), Change("UPDATED", A2, A1)

    audience.tell([repeated, news], repeated=True)

    assert (await heard(never), await heard(due)) == ([news], [repeated, news])


async def test_who_joins_late_hears_the_present_state_first() -> None:
    audience = HandlerSet[ConfigMap](0)
    audience.initial_complete()

    member = member_of(audience, A1, B1)
    audience.tell([Change("UPDATED", A2, A1)], repeated=False)

    assert await heard(member) == [
        Change("ADDED", A1, initial=True),
        Change("ADDED", B1, initial=True),
        Change("UPDATED", A2, A1),
    ]


async def test_who_joins_an_empty_collection_late_is_synced_at_once() -> None:
    audience = HandlerSet[ConfigMap](0)
    audience.initial_complete()

    assert member_of(audience).synced.is_set


async def test_nobody_is_synced_before_the_first_list() -> None:
    audience = HandlerSet[ConfigMap](0)
    member = member_of(audience)
    before = member.synced.is_set

    audience.initial_complete()

    assert (before, member.synced.is_set) == (False, True)


async def test_changes_that_are_not_initial_do_not_count_for_being_synced() -> None:
    audience = HandlerSet[ConfigMap](0)
    member = member_of(audience)

    audience.tell([Change("ADDED", A1)], repeated=False)
    audience.tell([Change("UPDATED", A1, A1)], repeated=True)
    audience.initial_complete()

    assert member.synced.is_set


async def test_who_has_left_is_told_nothing_and_leaves_twice_unharmed() -> None:
    audience = HandlerSet[ConfigMap](0)
    member = member_of(audience, A1)

    audience.leave(member)
    audience.leave(member)
    audience.tell([Change("UPDATED", A2, A1)], repeated=False)

    assert (member.waiting, len(audience), member in audience) == (0, 0, False)


async def test_a_stranger_may_leave() -> None:
    audience = HandlerSet[ConfigMap](0)
    stranger = member_of(HandlerSet[ConfigMap](0), A1)

    audience.leave(stranger)

    assert stranger.waiting == 1


async def test_nothing_to_tell_is_not_told() -> None:
    audience = HandlerSet[ConfigMap](0)
    audience.initial_complete()
    member = member_of(audience)

    audience.tell([], repeated=False)

    assert member.waiting == 0
