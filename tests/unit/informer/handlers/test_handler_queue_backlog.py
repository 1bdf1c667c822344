"""How several changes become fewer."""

from __future__ import annotations

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.handler_queue import Backlog
from tests.unit.store.config_maps import config_map

A1, A2, A3, A4 = (config_map("a", version) for version in "1234")

added = Change("ADDED", A1)
updated = Change("UPDATED", A2, A1)
updated_again = Change("UPDATED", A3, A2)
deleted = Change("DELETED", A3, A2)


def after(*changes: Change[ConfigMap]) -> tuple[list[Change[ConfigMap]], int]:
    """What is left of changes of one key, and how many were left out."""
    backlog = Backlog[ConfigMap]()
    for change in changes:
        backlog.add(change)
    return backlog.pop() if len(backlog) else [], backlog.merged


def test_updates_become_one_from_the_first_state_to_the_last() -> None:
    assert after(updated, updated_again) == ([Change("UPDATED", A3, A1)], 1)


def test_an_addition_takes_its_updates_in() -> None:
    came = Change("ADDED", A1, initial=True)

    assert after(came, updated, updated_again) == ([Change("ADDED", A3, initial=True)], 2)


def test_an_update_before_a_deletion_is_left_out_and_what_was_known_before_it_stays() -> None:
    assert after(updated, Change("DELETED", A4, A2)) == ([Change("DELETED", A4, A1)], 1)


def test_an_object_that_came_and_went_unheard_is_not_told() -> None:
    assert after(added, updated, deleted) == ([], 3)


def test_an_initial_object_that_went_is_told_both() -> None:
    came = Change("ADDED", A1, initial=True)

    assert after(came, deleted) == ([came, deleted], 0)


def test_the_deletion_of_what_nobody_knew_is_not_told() -> None:
    assert after(Change("DELETED", A1, None)) == ([], 1)


def test_an_object_that_went_and_came_is_told_both() -> None:
    assert after(deleted, added) == ([deleted, added], 0)


def test_what_came_and_went_between_two_deletions_is_not_told() -> None:
    first, last = Change("DELETED", A1, A1), Change("DELETED", A4, A3)

    assert after(first, Change("ADDED", A2), Change("UPDATED", A3, A2), last) == ([first], 3)


def test_two_deletions_are_one() -> None:
    assert after(deleted, Change("DELETED", A4, None)) == ([deleted], 1)


def test_the_deletion_that_was_seen_counts_more_than_the_missed_one() -> None:
    missed, seen = Change("DELETED", A1, A1, stale=True), Change("DELETED", A3, None)

    assert after(missed, seen) == ([Change("DELETED", A3, A1)], 1)


def test_keys_come_out_in_the_order_in_which_they_went_in() -> None:
    backlog = Backlog[ConfigMap]()
    for change in (added, Change("ADDED", config_map("b")), updated):
        backlog.add(change)

    assert [change.key for change in backlog.pop() + backlog.pop()] == ["shop/a", "shop/b"]


def test_the_length_counts_what_is_left() -> None:
    backlog = Backlog[ConfigMap]()
    for change in (deleted, added, updated, Change("ADDED", config_map("b"))):
        backlog.add(change)
    before = len(backlog)
    backlog.pop()

    assert (before, len(backlog)) == (3, 1)
