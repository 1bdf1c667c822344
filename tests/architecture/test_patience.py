"""A test waits as long as a busy machine takes, and no longer."""

from __future__ import annotations

import asyncio
import selectors
import time

import pytest

from tests import patience, stalls


@pytest.mark.parametrize(("overload", "comes"), [(1.0, False), (100.0, True)])
async def test_the_time_for_what_must_come_grows_with_the_overload(
    overload: float, comes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "overload", lambda: overload)
    came = asyncio.Event()
    asyncio.get_running_loop().call_later(0.2, came.set)

    try:
        async with patience.within(0.1):
            await came.wait()
    except TimeoutError:
        assert not comes
    else:
        assert comes
    await came.wait()


def test_a_loop_stalls_where_it_was_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalls, "CHANCE", 1.0)
    monkeypatch.setattr(selectors, "DefaultSelector", selectors.DefaultSelector)
    stood_still: list[float] = []
    monkeypatch.setattr(time, "sleep", stood_still.append)
    stalls.stall_loops()

    asyncio.run(asyncio.sleep(0))

    assert stood_still
    assert max(stood_still) <= stalls.LONGEST


@pytest.mark.parametrize("text", ["often", "5", "-0.1", "nan"])
def test_stalls_that_cannot_be_are_a_mistake_in_one_line(text: str) -> None:
    with pytest.raises(SystemExit, match=f"REFLET_STALLS={text}: say a part"):
        stalls.asked_for(text)
