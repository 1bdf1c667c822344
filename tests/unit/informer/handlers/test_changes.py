"""What handlers are told."""

from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.changes import Change
from tests.unit.store.config_maps import config_map

A1, A2, A3, A4 = (config_map("a", version) for version in "1234")

added = Change("ADDED", A1)
updated = Change("UPDATED", A2, A1)
updated_again = Change("UPDATED", A3, A2)
deleted = Change("DELETED", A3, A2)


def test_a_change_knows_its_key() -> None:
    assert added.key == "shop/a"


def test_the_same_state_again_is_a_resync() -> None:
    assert Change("UPDATED", A1, A1).is_resync


def test_without_versions_the_same_contents_again_are_a_resync() -> None:
    old, same = config_map("a", users="x"), config_map("a", users="x")

    assert Change("UPDATED", same, old).is_resync
    assert not Change("UPDATED", config_map("a", users="y"), old).is_resync


@pytest.mark.parametrize("change", [added, updated, deleted, Change("DELETED", A1, A1)])
def test_everything_else_is_none(change: Change[ConfigMap]) -> None:
    assert not change.is_resync
