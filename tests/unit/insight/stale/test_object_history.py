"""A history says since when a key has its value, from managed fields and from what a watch saw."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reflet.api.unstructured import AnyObject
from reflet.errors import DecodeError
from reflet.insight.stale.object_history import (
    MOST_CHANGES,
    PROMPT,
    ObjectHistory,
    history_of,
    never_seen,
    observed,
    without_values,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SALT = b"salt"


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def managed(manager: str, minutes: int | None, *keys: str, bag: str = "data") -> dict[str, Any]:
    fields: dict[str, Any] = {f"f:{bag}": {".": {}, **{f"f:{key}": {} for key in keys}}}
    time = None if minutes is None else at(minutes).isoformat()
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields}


def settings(*managers: dict[str, Any], data: Any = None, **more: Any) -> AnyObject:
    metadata = {"name": "settings", "namespace": "shop", "managedFields": list(managers)}
    values = {"a": "1"} if data is None else data
    return AnyObject.from_dict(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": values, **more}
    )


def first_write(history: ObjectHistory, key: str) -> tuple[str, datetime] | None:
    write = history.last_write(key)
    return None if write is None else (write.manager, write.at)


def test_a_key_is_as_old_as_what_its_manager_wrote_last() -> None:
    history = history_of(settings(managed("create", 0, "b"), managed("edit", 5, "a")))

    assert first_write(history, "a") == ("edit", at(5))


def test_of_managers_that_agree_the_oldest_says_since_when() -> None:
    history = history_of(settings(managed("later", 9, "a"), managed("earlier", 5, "a")))

    assert first_write(history, "a") == ("earlier", at(5))


def test_what_was_applied_as_text_may_have_been_written_after_the_data() -> None:
    history = history_of(
        settings(managed("create", 0, "a"), managed("ssa", 7, "a", bag="stringData"))
    )

    assert first_write(history, "a") == ("ssa", at(7))


def test_binary_data_has_managers_too() -> None:
    history = history_of(
        settings(managed("create", 0, "z", bag="binaryData"), binaryData={"z": ""})
    )

    assert history.has("z")
    assert first_write(history, "z") == ("create", at(0))


@pytest.mark.parametrize("managers", [(), (managed("create", None, "a"),)])
def test_without_a_time_nobody_says_since_when(managers: tuple[dict[str, Any], ...]) -> None:
    assert history_of(settings(*managers)).last_write("a") is None


def test_a_history_holds_no_value() -> None:
    item = settings(managed("create", 0, "a"), data={"a": "geheim"})

    history = observed(
        history_of(item), item, settings(data={"a": "hush-hush"}), at=at(1), salt=SALT
    )

    assert "geheim" not in repr(history)
    assert "hush" not in repr(history)


def test_a_watch_sees_which_keys_changed_and_who_changed_them() -> None:
    old = settings(managed("create", 0, "a", "b"), data={"a": "1", "b": "2", "c": "3"})
    new = settings(managed("edit", 5, "b", "d"), data={"a": "1", "b": "9", "d": "4"})

    changes = observed(history_of(old), old, new, at=at(6), salt=SALT).changes

    assert [(each.key, each.by) for each in changes] == [("b", "edit"), ("c", ""), ("d", "edit")]
    assert (changes[1].after, changes[2].before) == (None, None)


def seen(new: AnyObject, now: datetime, *, late: bool = False) -> tuple[datetime, datetime]:
    """Between which moments a watch, begun at noon, says that the first key changed."""
    old = settings(data={"a": "old", "gone": "1"})
    begun = history_of(old, since=NOON)
    change = observed(begun, old, new, at=now, salt=SALT, late=late).changes[0]
    return change.since, change.at


def test_a_change_happened_when_the_server_says_that_it_was_written() -> None:
    """Our own clock may be wrong, and the nodes' are beside the server's."""
    new = settings(managed("edit", 5, "a"))

    assert seen(new, at(5) + 2 * SECOND) == (at(5), at(5) + SECOND)


def test_a_change_that_is_heard_of_late_happened_at_any_time_since_the_last_sight() -> None:
    new = settings(managed("edit", 5, "a"))

    assert seen(new, at(9)) == (NOON, at(5) + SECOND)
    assert seen(new, at(5), late=True) == (NOON, at(5) + SECOND)


def test_a_key_that_went_away_was_there_until_shortly_before() -> None:
    assert seen(settings(data={"a": "old"}), at(5)) == (at(5) - PROMPT, at(5))


def test_a_long_history_forgets_its_beginning_and_says_so() -> None:
    history, items = history_of(settings()), [settings(data={"a": str(each)}) for each in (1, 2)]
    for number in range(MOST_CHANGES + 1):
        old, new = items[number % 2], items[(number + 1) % 2]
        history = observed(history, old, new, at=NOON + number * SECOND, salt=SALT)

    assert len(history.changes) < MOST_CHANGES
    assert history.since == NOON + (MOST_CHANGES // 2 - 1) * SECOND
    assert history.writes == ()


def test_an_object_without_values_still_says_whether_they_changed() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": '{"data":{"a":"geheim"}}'}
    one, other = (without_values(settings(data={"a": each}), SALT) for each in ("geheim", "neu"))
    noted = settings(data={"a": "geheim"})
    content = noted.to_dict()
    content["metadata"]["annotations"] = annotations
    again = without_values(AnyObject.from_dict(content), SALT)

    assert b"geheim" not in one.to_json() + again.to_json()
    assert len(observed(history_of(one), one, other, at=at(1), salt=SALT).changes) == 1
    assert observed(history_of(one), one, again, at=at(1), salt=SALT).changes == ()


def test_a_value_that_comes_back_is_known_again() -> None:
    one, other = settings(data={"a": "1"}), settings(data={"a": "2"})
    history = observed(history_of(one), one, other, at=at(1), salt=SALT)

    history = observed(history, other, one, at=at(2), salt=SALT)

    assert history.changes[-1].after == history.changes[0].before


def test_what_was_written_before_the_watch_is_remembered_as_it_was() -> None:
    old, new = (
        settings(managed("create", 0, "a")),
        settings(managed("edit", 5, "a"), data={"a": "2"}),
    )

    history = observed(history_of(old, since=at(1)), old, new, at=at(5), salt=SALT)

    assert first_write(history, "a") == ("create", at(0))


def test_a_deletion_takes_every_key_away() -> None:
    item = settings(data={"a": "1", "b": "2"})

    history = observed(history_of(item), item, None, at=at(1), salt=SALT)

    assert not history.exists
    assert history.lost_keys == ("a", "b")


def test_an_object_that_appears_was_not_there_before() -> None:
    nothing = never_seen("ConfigMap", "shop", "settings", since=at(0))

    history = observed(nothing, None, settings(immutable=True), at=at(1), salt=SALT)

    assert (history.exists, history.immutable, history.since) == (True, True, at(0))
    assert [each.before for each in history.changes] == [None]


def test_an_object_that_is_no_configuration_is_refused_without_its_values() -> None:
    with pytest.raises(DecodeError, match="ConfigMap shop/settings") as caught:
        history_of(settings(data=["geheim"]))

    assert "geheim" not in str(caught.value)
