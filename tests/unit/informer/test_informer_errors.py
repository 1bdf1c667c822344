"""What informers say when they cannot."""

from __future__ import annotations

import pytest

from reflet.api.resources import CONFIG_MAPS
from reflet.errors import Forbidden, NotFound, RefletError
from reflet.informer.informer_errors import NotMirrored, NotSynced


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


def test_what_is_not_mirrored_is_not_found_and_no_key_and_says_so_without_quotes() -> None:
    error = NotMirrored.of(CONFIG_MAPS, "settings")

    assert isinstance(error, NotFound)
    assert isinstance(error, KeyError)
    assert str(error) == 'configmaps "settings" not found'
    assert (error.code, error.reason, error.kind, error.name) == (
        404,
        "NotFound",
        "configmaps",
        "settings",
    )
