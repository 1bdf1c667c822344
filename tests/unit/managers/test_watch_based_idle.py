"""When nobody needs an object to be fresh."""

from __future__ import annotations

import pytest

from reflet.managers.watch_based import DEFAULT_IDLE_RULE, IdleRule


@pytest.mark.parametrize(("frequency", "longest"), [(60.0, 300.0), (10.0, 60.0), (13.0, 65.0)])
def test_an_object_may_miss_five_syncs_and_at_least_a_minute(
    frequency: float, longest: float
) -> None:
    assert IdleRule.for_syncs_every(frequency).longest == longest


def test_an_object_is_idle_strictly_after_its_time() -> None:
    assert not DEFAULT_IDLE_RULE.is_idle(0.0, 300.0)
    assert DEFAULT_IDLE_RULE.is_idle(0.0, 300.001)
