"""A container holds what a key was when it started; what times cannot tell is not claimed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reflet.insight.stale.held_values import (
    FOLLOWS_WITHIN,
    SETTLED,
    Arrival,
    Certainty,
    HeldState,
    HeldValue,
    Start,
    judge,
)
from reflet.insight.stale.object_history import FieldWrite, KeyChange, ObjectHistory

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
STARTED = NOON
NOW = NOON + timedelta(hours=3)
START = Start(pod_created=NOON - timedelta(minutes=1), at=NOON)
LONG_AGO = NOON - timedelta(days=2)
STALE, CURRENT = HeldState.NEEDS_RESTART, HeldState.CURRENT


def written(at: datetime | None, *, keys: tuple[str, ...] = ("a",), **more: Any) -> ObjectHistory:
    writes = () if at is None else (FieldWrite(manager="edit", at=at, keys=keys),)
    given = {"created": LONG_AGO, "keys": keys, "writes": writes, **more}
    return ObjectHistory(kind="ConfigMap", namespace="shop", name="settings", **given)


def watched(*changes: tuple[datetime, str | None, str | None], **more: Any) -> ObjectHistory:
    seen = tuple(
        KeyChange(at=at, since=at, key="a", before=old, after=new) for at, old, new in changes
    )
    return written(LONG_AGO, since=LONG_AGO, changes=seen, **more)


def judged(
    history: ObjectHistory, start: Start = START, arrival: Arrival = Arrival.VARIABLE, **more: Any
) -> HeldValue:
    return judge(history, "a", start, arrival, now=more.pop("now", NOW), **more)


# By times alone


def test_what_was_written_before_the_start_is_current() -> None:
    found = judged(written(NOON - timedelta(hours=1)))

    assert (found.state, found.certainty) == (CURRENT, Certainty.INFERRED)
    assert found.reason == "last changed 4h ago by edit, the container started 3h ago"


def test_what_was_written_after_the_start_may_have_changed() -> None:
    found = judged(written(NOON + timedelta(hours=1)))

    assert (found.state, found.certainty, found.among) == (STALE, Certainty.INFERRED, 1)
    assert found.reason == "edit wrote it 120m ago, the container started 3h ago"


def test_a_manager_of_several_keys_may_have_written_another_one() -> None:
    found = judged(written(NOON + timedelta(hours=1), keys=("a", "b", "c")))

    assert found.among == 3
    assert "wrote it or another of 3 keys" in found.reason


@pytest.mark.parametrize(
    ("seconds", "state"), [(0, STALE), (2, STALE), (SETTLED.total_seconds(), CURRENT)]
)
def test_a_container_that_starts_again_needs_a_moment_to_have_what_changed(
    seconds: float, state: HeldState
) -> None:
    start = Start(pod_created=LONG_AGO, at=NOON + timedelta(seconds=seconds), again=True)

    assert judged(written(NOON), start).state is state


def test_a_pod_that_is_younger_than_the_change_has_it_at_once() -> None:
    start = Start(pod_created=NOON + SECOND, at=NOON + SECOND)

    assert judged(written(NOON), start).state is CURRENT


def test_objects_that_are_applied_in_one_second_belong_together() -> None:
    start = Start(pod_created=NOON, at=NOON + SECOND)

    assert judged(written(NOON, created=NOON), start).state is CURRENT


def test_a_write_in_the_second_after_the_object_was_made_is_another_one() -> None:
    start = Start(pod_created=NOON, at=NOON + SECOND)

    assert judged(written(NOON + SECOND, created=NOON), start).state is STALE


def test_a_container_that_starts_in_the_second_of_a_write_may_have_missed_it() -> None:
    start = Start(pod_created=NOON, at=NOON)

    assert judged(written(NOON, created=NOON), start).state is STALE


def test_an_object_that_was_made_again_after_the_start_may_be_another() -> None:
    later = NOON + timedelta(hours=2)
    found = judged(written(later, created=later))

    assert found.state is STALE
    assert found.reason == "ConfigMap settings was made 60m ago, the container started 3h ago"


def test_without_managed_fields_nothing_is_claimed() -> None:
    found = judged(written(None))

    assert found.state is HeldState.UNKNOWN
    assert found.reason == "its managed fields do not say when a last changed"


def test_a_container_that_does_not_say_when_it_started_is_not_judged() -> None:
    found = judged(written(LONG_AGO), Start(pod_created=NOON, at=None))

    assert found.state is HeldState.UNKNOWN


def test_a_clock_that_is_behind_gives_no_negative_times() -> None:
    found = judged(written(NOON), now=NOON - timedelta(hours=1))

    assert found.reason == "edit wrote it 0s ago, the container started 0s ago"


# Files


def test_a_file_of_a_volume_follows() -> None:
    found = judged(written(NOW - timedelta(minutes=10)), arrival=Arrival.FILE)

    assert (found.state, found.reason) == (
        CURRENT,
        "last changed 10m ago by edit; files of volumes follow by themselves",
    )


def test_a_file_that_changed_just_now_is_on_its_way() -> None:
    found = judged(written(NOW - FOLLOWS_WITHIN), arrival=Arrival.FILE)

    assert found.state is HeldState.ON_ITS_WAY


def test_a_file_does_not_follow_while_its_volume_is_refused() -> None:
    found = judged(written(NOW), arrival=Arrival.FILE, held_back="no such key")

    assert found.state is HeldState.UNKNOWN
    assert "the kubelet cannot update the volume: no such key" in found.reason


def test_a_file_that_has_not_changed_is_current_whatever_holds_its_volume_back() -> None:
    assert judged(written(LONG_AGO), arrival=Arrival.FILE, held_back="x").state is CURRENT


def test_a_file_of_which_nobody_knows_the_age_is_not_called_current() -> None:
    assert judged(written(None), arrival=Arrival.FILE).state is HeldState.UNKNOWN


def test_a_file_by_sub_path_stays_as_it_was() -> None:
    assert judged(written(NOW - timedelta(hours=1)), arrival=Arrival.SUB_PATH).state is STALE


def test_a_container_that_starts_again_takes_its_sub_path_from_a_volume_that_may_lag() -> None:
    again = Start(pod_created=LONG_AGO, at=NOON, again=True)

    assert judged(written(NOON - 60 * SECOND), again, Arrival.SUB_PATH).state is STALE
    assert judged(written(NOON - 121 * SECOND), again, Arrival.SUB_PATH).state is CURRENT


@pytest.mark.parametrize("arrival", list(Arrival))
def test_an_immutable_object_that_was_made_again_is_not_read_again_for_the_same_pod(
    arrival: Arrival,
) -> None:
    made_again = written(NOON - timedelta(hours=1), created=NOON - timedelta(hours=1))
    start = Start(pod_created=LONG_AGO, at=NOON, again=True)

    immutable = written(made_again.writes[0].at, created=made_again.created, immutable=True)

    assert judged(immutable, start, arrival).state is STALE
    assert judged(made_again, start, arrival).state is CURRENT


# By what a watch saw


def test_a_change_that_was_seen_after_the_start_is_certain() -> None:
    found = judged(watched((NOON + timedelta(hours=1), "old", "new")))

    assert (found.state, found.certainty) == (STALE, Certainty.OBSERVED)
    assert found.reason == "seen to change: last changed 120m ago, the container started 3h ago"


def test_a_value_that_came_back_is_the_one_that_the_container_has() -> None:
    history = watched(
        (NOON + timedelta(hours=1), "old", "new"), (NOON + timedelta(hours=2), "new", "old")
    )

    assert (judged(history).state, judged(history).certainty) == (CURRENT, Certainty.OBSERVED)


def test_a_container_that_started_after_the_change_has_it() -> None:
    found = judged(watched((NOON - timedelta(hours=1), "old", "new")))

    assert (found.state, found.certainty) == (CURRENT, Certainty.OBSERVED)


def test_nothing_was_seen_to_change_since_the_container_started() -> None:
    found = judged(watched())

    assert (found.state, found.certainty) == (CURRENT, Certainty.OBSERVED)


def test_a_change_during_the_start_leaves_it_open_what_the_container_got() -> None:
    found = judged(watched((NOON - SECOND, "old", "new")))

    assert (found.state, found.certainty) == (STALE, Certainty.INFERRED)


def test_what_was_written_between_the_start_and_the_watch_leaves_it_open_too() -> None:
    """It may have been new, then old, and is new again."""
    later = NOON + timedelta(hours=2)
    changes = (KeyChange(at=later, since=later, key="a", before="b", after="c"),)
    history = written(NOON + 60 * SECOND, since=NOON + timedelta(hours=1), changes=changes)

    assert (judged(history).state, judged(history).certainty) == (STALE, Certainty.INFERRED)


def test_a_change_that_was_heard_of_late_leaves_open_what_a_container_got_meanwhile() -> None:
    late = KeyChange(
        at=NOON + 60 * SECOND, since=NOON - 60 * SECOND, key="a", before="old", after="new"
    )
    history = written(LONG_AGO, since=LONG_AGO, changes=(late,))

    assert (judged(history).state, judged(history).certainty) == (STALE, Certainty.INFERRED)


def test_a_key_that_was_seen_to_disappear_is_still_held() -> None:
    history = watched((NOON + timedelta(hours=1), "old", None), keys=())

    assert (judged(history).state, judged(history).certainty) == (STALE, Certainty.OBSERVED)


def test_a_change_of_a_file_that_was_seen_is_on_its_way_for_certain() -> None:
    found = judged(watched((NOW - SECOND, "old", "new")), arrival=Arrival.FILE)

    assert (found.state, found.certainty) == (HeldState.ON_ITS_WAY, Certainty.OBSERVED)
