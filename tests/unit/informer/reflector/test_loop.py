from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import (
    ConnectionRefused,
    DecodeError,
    Expired,
    Forbidden,
    Invalid,
    TooManyRequests,
    TransportError,
)
from reflet.informer.reflector.delivery import SinkFailed
from reflet.informer.reflector.loop import ListFailed
from reflet.store.deltas import Delta, Replaced
from reflet.testing.scripted_source import Quiet, added, bookmark, listing
from tests.unit.informer.mirrors import Mirror, config_map

pytestmark = pytest.mark.virtual_time

A, B = config_map("a", "1"), config_map("b", "2")
END = bookmark("9", ends_initial_events=True)
EXPIRED = Expired("too old resource version", code=410, reason="Expired")
QUIET = [Quiet.HEALTHY]


async def test_a_streaming_list_fills_the_sink_in_one_piece() -> None:
    mirror = Mirror(streaming=True, watches=[[added(A), [added(B), END], Quiet.HEALTHY]])

    await mirror.run_for(1)

    assert mirror.held == {"a": "1", "b": "2"}
    assert mirror.reflector.last_version == mirror.store.version == "9"
    assert mirror.source.requests == ["stream at ''"]


async def test_nothing_of_a_streaming_list_that_ends_early_is_kept() -> None:
    mirror = Mirror(streaming=True, watches=[[added(A)], [added(B), END, Quiet.HEALTHY]])

    await mirror.run_for(1)

    assert mirror.held == {"b": "2"}


async def test_streaming_lists_that_always_end_early_are_not_hammered() -> None:
    mirror = Mirror(streaming=True, watches=[[added(A)]] * 3, lists=[listing("9", A)])

    async with mirror.running() as reflector:
        await reflector.synced.wait()

    assert mirror.source.requests[:4] == ["stream at ''"] * 3 + ["list at '0'"]
    assert mirror.reflector.last_progress == 0.8  # one delay, between the second and the third


@pytest.mark.parametrize(
    "refusal",
    [Invalid("no", code=422), TransportError("reset"), DecodeError("no"), ValueError("no")],
    ids=lambda error: type(error).__name__,
)
async def test_a_refused_streaming_list_is_listed_in_the_same_pass(refusal: Exception) -> None:
    mirror = Mirror(streaming=True, watches=[refusal, QUIET], lists=[listing("9", A)])

    await mirror.run_for(0.1)

    assert mirror.source.requests == ["stream at ''", "list at '0'", "watch since '9'"]
    assert mirror.held == {"a": "1"}
    assert mirror.errors == []


async def test_an_unreadable_streaming_list_is_listed() -> None:
    mirror = Mirror(
        streaming=True,
        watches=[[added(A), DecodeError("no event")], QUIET],
        lists=[listing("9", A)],
    )

    await mirror.run_for(0.1)

    assert mirror.source.requests == ["stream at ''", "list at '0'", "watch since '9'"]


async def test_a_newest_state_that_is_refused_as_too_old_is_listed() -> None:
    mirror = Mirror(streaming=True, watches=[EXPIRED, QUIET], lists=[listing("9", A)])

    await mirror.run_for(0.1)

    assert mirror.source.requests == ["stream at ''", "list at '0'", "watch since '9'"]


async def test_a_server_that_is_away_is_asked_again_after_growing_delays() -> None:
    refused = ConnectionRefused("refused")
    mirror = Mirror(streaming=True, watches=[refused] * 5 + [[END, Quiet.HEALTHY]])

    async with mirror.running() as reflector:
        await reflector.synced.wait()

        assert reflector.last_progress == pytest.approx(0.8 + 1.6 + 3.2 + 6.4 + 12.8)
    assert mirror.connection == [refused, None]
    assert mirror.errors == []


async def test_a_throttling_server_is_given_the_time_that_it_asks_for() -> None:
    throttled = TooManyRequests("slow down", code=429, retry_after=45)
    mirror = Mirror(streaming=True, watches=[throttled, [END, Quiet.HEALTHY]])

    async with mirror.running() as reflector:
        await reflector.synced.wait()

        assert reflector.last_progress == 45


async def test_a_list_that_fails_is_reported_with_its_cause() -> None:
    forbidden = Forbidden("configmaps is forbidden", code=403, reason="Forbidden")
    mirror = Mirror(lists=[forbidden], description="*v1.ConfigMap")

    with pytest.raises(ListFailed) as raised:
        await mirror.reflector.list_and_watch()

    assert str(raised.value) == "failed to list *v1.ConfigMap: configmaps is forbidden"
    assert raised.value.__cause__ is forbidden


async def test_a_list_that_is_too_old_twice_fails() -> None:
    mirror = Mirror(lists=[EXPIRED, EXPIRED])

    with pytest.raises(ListFailed):
        await mirror.reflector.list_and_watch()

    assert mirror.source.requests == ["list at '0'", "list at ''"]
    assert mirror.reflector.version_unavailable


class Stubborn:
    """Refuses to be filled."""

    def __init__(self, times: int) -> None:
        self.times = times

    def apply(self, delta: Delta[ConfigMap], /) -> None:
        if isinstance(delta, Replaced) and self.times:
            self.times -= 1
            raise ValueError("the sink's bug")


async def test_a_sink_that_does_not_take_a_list_ends_the_pass() -> None:
    mirror = Mirror(lists=[listing("9", A)], sink=Stubborn(1))

    with pytest.raises(SinkFailed, match="unable to sync list result: the sink's bug"):
        await mirror.reflector.list_and_watch()

    assert mirror.reflector.last_version == ""
    assert not mirror.reflector.synced.is_set


async def test_a_sink_that_does_not_take_a_streaming_list_gets_a_list() -> None:
    mirror = Mirror(
        streaming=True,
        watches=[[END, Quiet.HEALTHY], QUIET],
        lists=[listing("10", A)],
        sink=Stubborn(1),
    )

    await mirror.run_for(0.1)

    assert mirror.source.requests == ["stream at ''", "list at '0'", "watch since '10'"]
    assert mirror.reflector.synced.is_set


async def test_lists_and_streaming_lists_are_counted() -> None:
    mirror = Mirror(
        streaming=True,
        watches=[[added(A)], Invalid("no", code=422), QUIET],
        lists=[listing("9", A)],
    )

    await mirror.run_for(1)

    counted = mirror.metrics.counted
    streamed = "reflet_reflector_streaming_lists_total"
    assert counted(streamed, resource="test", result="closed") == 1
    assert counted(streamed, resource="test", result="failed") == 1
    assert counted("reflet_reflector_lists_total", resource="test", result="synced") == 1
    assert counted("reflet_reflector_items_total", resource="test") == 1
