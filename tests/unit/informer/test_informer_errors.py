"""What informers say when they cannot."""

from __future__ import annotations

import pytest

from reflet.errors import RefletError
from reflet.informer.informer_errors import NotSynced


@pytest.mark.parametrize(
    ("timeout", "text"),
    [(2.5, "not synced after 2.5 s: pods, nodes"), (None, "not synced: pods, nodes")],
)
def test_who_is_not_synced_is_named(timeout: float | None, text: str) -> None:
    assert str(NotSynced(["pods", "nodes"], timeout)) == text


def test_not_synced_is_caught_as_a_time_out_and_as_ours() -> None:
    error = NotSynced(["pods"], 1)

    assert isinstance(error, TimeoutError)
    assert isinstance(error, RefletError)
    assert error.names == ("pods",)
