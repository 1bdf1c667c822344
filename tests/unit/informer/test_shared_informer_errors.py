"""What informers say when they cannot."""

from __future__ import annotations

import pytest

from reflet.errors import Forbidden, RefletError
from reflet.informer.shared_informer import NotSynced


@pytest.mark.parametrize(
    ("timeout", "text"),
    [(2.5, "not synced after 2.5 s: pods, nodes"), (None, "not synced: pods, nodes")],
)
def test_who_is_not_synced_is_named(timeout: float | None, text: str) -> None:
    assert str(NotSynced({"pods": None, "nodes": None}, timeout)) == text


def test_who_is_not_synced_for_a_reason_says_it() -> None:
    why = Forbidden("nodes is forbidden")
    error = NotSynced({"pods": None, "nodes": why}, 1)

    assert str(error) == "not synced after 1 s: pods, nodes (nodes is forbidden)"
    assert error.__cause__ is why


def test_not_synced_is_caught_as_a_time_out_and_as_ours() -> None:
    error = NotSynced({"pods": None}, 1)

    assert isinstance(error, TimeoutError)
    assert isinstance(error, RefletError)
    assert error.names == ("pods",)
