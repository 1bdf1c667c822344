from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reflet.runtime.clock import Clock
from reflet.testing.virtual_time import ManualClock

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


def test_it_stands_still_until_it_is_turned() -> None:
    clock = ManualClock(NOON)
    before = (clock.now(), clock.monotonic())

    clock.advance(90)

    assert before == (NOON, 0.0)
    assert (clock.now(), clock.monotonic()) == (NOON + timedelta(seconds=90), 90.0)


async def test_the_sleeper_turns_it() -> None:
    clock: Clock = ManualClock()

    await clock.sleep(3600)

    assert clock.monotonic() == 3600


def test_it_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="back"):
        ManualClock().advance(-1)
