"""What a change means to somebody who sees a part of the collection."""

from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.changes import Change, filtered, is_asynchronous, passed_change
from tests.unit.store.config_maps import config_map, users_of

IN1, IN2 = config_map("a", "1", users="me"), config_map("a", "2", users="me")
OUT1, OUT2 = config_map("a", "1"), config_map("a", "2")


def mine(item: ConfigMap) -> bool:
    return "me" in users_of(item)


@pytest.mark.parametrize(
    ("change", "heard"),
    [
        (Change("ADDED", IN1, initial=True), Change("ADDED", IN1, initial=True)),
        (Change("ADDED", OUT1), None),
        (Change("DELETED", IN1, IN1), Change("DELETED", IN1, IN1)),
        (Change("DELETED", OUT1, OUT1), None),
        (Change("DELETED", OUT1), None),
        (Change("UPDATED", IN2, IN1), Change("UPDATED", IN2, IN1)),
        (Change("UPDATED", IN2, OUT1), Change("ADDED", IN2)),
        (Change("UPDATED", OUT2, IN1), Change("DELETED", IN1, IN1)),
        (Change("UPDATED", OUT2, OUT1), None),
    ],
)
def test_the_rules(change: Change[ConfigMap], heard: Change[ConfigMap] | None) -> None:
    assert passed_change(change, mine) == heard


def test_who_knew_an_object_hears_of_its_end_even_if_it_no_longer_passed() -> None:
    change = Change("DELETED", OUT2, IN1)

    assert passed_change(change, mine) == change


def test_a_plain_handler_hears_what_passes() -> None:
    heard: list[Change[ConfigMap]] = []
    handler = filtered(mine, heard.append)

    handler(Change("ADDED", OUT1))
    handler(Change("UPDATED", IN2, OUT1))

    assert heard == [Change("ADDED", IN2)]


async def test_a_coroutine_function_stays_one() -> None:
    heard: list[Change[ConfigMap]] = []

    async def remember(change: Change[ConfigMap]) -> None:
        heard.append(change)

    handler = filtered(mine, remember)
    for change in (Change("ADDED", OUT1), Change("ADDED", IN1)):
        outcome = handler(change)
        assert outcome is not None
        await outcome

    assert is_asynchronous(handler)
    assert heard == [Change("ADDED", IN1)]


def test_logs_speak_of_the_handler_and_not_of_its_wrapping() -> None:
    def interested(change: Change[ConfigMap]) -> None: ...

    assert filtered(mine, interested).__qualname__ == interested.__qualname__
