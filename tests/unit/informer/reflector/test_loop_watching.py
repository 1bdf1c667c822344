from __future__ import annotations

import asyncio
import logging

import pytest

from reflet.errors import (
    ConnectionRefused,
    DecodeError,
    Expired,
    Forbidden,
    InternalError,
    TooManyRequests,
    TransportError,
)
from reflet.testing.scripted_source import After, Quiet, added, bookmark, listing, modified
from tests.unit.informer.mirrors import Mirror, config_map

pytestmark = pytest.mark.virtual_time

A = config_map("a", "11")
NEXT = config_map("a", "12")
EXPIRED = Expired("too old resource version", code=410, reason="Expired")
FAILED = InternalError("the server failed", code=500, reason="InternalError")
QUIET = [Quiet.HEALTHY]
RESUMED = ["list at '0'", "watch since '10'", "watch since '11'"]


async def test_a_closed_watch_is_resumed_at_once_where_it_ended() -> None:
    mirror = Mirror(lists=[listing("10")], watches=[[added(A), After(400)], QUIET])

    await mirror.run_for(400.1)

    assert mirror.source.requests == RESUMED
    assert mirror.held == {"a": "11"}


async def test_a_connection_that_breaks_is_resumed_without_a_list() -> None:
    broken = TransportError("reset")
    mirror = Mirror(lists=[listing("10")], watches=[[added(A), After(5), broken], QUIET])

    await mirror.run_for(5.1)

    assert mirror.source.requests == RESUMED
    assert mirror.connection == [broken, None]
    assert mirror.errors == []


async def test_the_broken_watch_of_one_object_is_followed_by_a_streaming_list() -> None:
    state = [added(A), bookmark("11", ends_initial_events=True)]
    mirror = Mirror(
        streaming=True,
        watches=[[*state, After(5), TransportError("reset")], [*state, Quiet.HEALTHY]],
        field_selector="metadata.name=a",
    )

    await mirror.run_for(5.1)

    assert mirror.source.requests == ["stream at ''", "stream at '11'"]


@pytest.mark.parametrize(
    ("streaming", "selector", "seconds"),
    [(False, "metadata.name=a", 5), (True, "metadata.name!=a", 5), (True, "metadata.name=a", 0.5)],
    ids=["listed", "many", "short"],
)
async def test_other_broken_watches_are_resumed(
    streaming: bool, selector: str, seconds: float
) -> None:
    state = [added(A), bookmark("11", ends_initial_events=True)] if streaming else [added(A)]
    mirror = Mirror(
        streaming=streaming,
        lists=[listing("10")],
        watches=[[*state, After(seconds), modified(NEXT), TransportError("reset")], QUIET],
        field_selector=selector,
    )

    await mirror.run_for(seconds + 0.1)

    assert mirror.source.requests[-1] == "watch since '12'"


async def test_a_watch_that_goes_silent_is_resumed_without_a_list() -> None:
    mirror = Mirror(lists=[listing("10")], watches=[[added(A), Quiet.DEAD], QUIET])

    await mirror.run_for(900.1)

    assert mirror.source.requests == RESUMED
    assert (
        mirror.metrics.counted("reflet_reflector_watches_total", resource="test", end="silent") == 1
    )


async def test_a_silence_that_the_next_watch_answers_is_worth_no_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    mirror = Mirror(lists=[listing("10")], watches=[[Quiet.DEAD], [Quiet.DEAD], QUIET])

    await mirror.run_for(2000)

    assert len(mirror.source.requests) == 4
    assert mirror.connection == []
    assert caplog.records == []


async def test_a_silence_that_nobody_answers_is_a_lost_server() -> None:
    refused = ConnectionRefused("nobody")
    mirror = Mirror(lists=[listing("10")], watches=[[Quiet.DEAD], refused, QUIET])

    await mirror.run_for(1000)

    assert mirror.connection == [refused, None]


async def test_the_patience_with_silence_can_be_chosen() -> None:
    mirror = Mirror(lists=[listing("10")], watches=[[added(A), Quiet.DEAD], QUIET], silence=20)

    await mirror.run_for(20.1)

    assert mirror.source.requests == RESUMED


async def test_an_event_that_cannot_be_read_needs_a_delay_and_a_list() -> None:
    mirror = Mirror(
        lists=[listing("10"), listing("20", NEXT)],
        watches=[[added(A), DecodeError("no event")], QUIET],
    )

    await mirror.run_for(0.9)

    assert mirror.source.requests == [*RESUMED[:2], "list at '11'", "watch since '20'"]
    assert mirror.held == {"a": "12"}
    assert mirror.errors == []


async def test_a_version_that_left_the_history_needs_a_delay_and_a_list() -> None:
    mirror = Mirror(
        lists=[listing("10"), EXPIRED, listing("20", NEXT)],
        watches=[[added(A), After(5), EXPIRED], QUIET],
    )

    await mirror.run_for(5.9)

    assert mirror.source.requests == [
        *RESUMED[:2],
        "list at '11'",
        "list at ''",
        "watch since '20'",
    ]


async def test_a_server_that_is_away_is_not_listed_when_it_comes_back() -> None:
    refused = ConnectionRefused("refused")
    mirror = Mirror(
        lists=[listing("10")], watches=[[added(A), After(5)], refused, refused, refused, QUIET]
    )

    await mirror.run_for(5.1 + 0.8 + 1.6 + 3.2)

    assert mirror.source.requests == [*RESUMED, *["watch since '11'"] * 3]
    assert mirror.connection == [refused, None]


async def test_a_throttled_stream_waits_as_long_as_the_server_asks() -> None:
    throttled = TooManyRequests("slow down", code=429, retry_after=30)
    mirror = Mirror(lists=[listing("10")], watches=[[added(A), throttled], QUIET])

    async with mirror.running():
        await asyncio.sleep(29.9)
        assert mirror.source.requests == RESUMED[:2]
        await asyncio.sleep(0.2)
        assert mirror.source.requests == RESUMED


async def test_a_refused_watch_is_reported_and_listed_after_a_delay() -> None:
    forbidden = Forbidden("no", code=403, reason="Forbidden")
    mirror = Mirror(lists=[listing("10"), listing("12")], watches=[forbidden, QUIET])

    await mirror.run_for(0.9)

    assert mirror.errors == [forbidden]
    assert mirror.source.requests == [
        "list at '0'",
        "watch since '10'",
        "list at '10'",
        "watch since '12'",
    ]


async def test_a_watch_that_ends_at_once_is_very_short(caplog: pytest.LogCaptureFixture) -> None:
    mirror = Mirror(lists=[listing("10")], watches=[[TransportError("reset")]])

    await mirror.reflector.list_and_watch()

    assert (
        "very short watch: test: Unexpected watch close - watch lasted less than a second and no "
        "items received"
    ) in caplog.text
    assert mirror.source.requests == ["list at '0'", "watch since '10'"]


async def test_the_first_second_of_an_inherited_stream_begins_with_the_watch() -> None:
    end = bookmark("9", ends_initial_events=True)
    mirror = Mirror(streaming=True, watches=[[After(5), added(A), end]])

    await mirror.reflector.list_and_watch()

    assert mirror.source.requests == ["stream at ''"]


async def test_connections_that_break_right_after_the_opening_are_backed_off_from() -> None:
    mirror = Mirror(lists=[listing("10")] * 50, watches=[[TransportError("reset")]] * 50)

    await mirror.run_for(60)

    # A list and a watch at 0, 0.8, 2.4, 5.6, 12, 24.8 and 50.4 seconds.
    assert len(mirror.source.requests) == 14


async def test_short_streams_that_bring_news_are_followed_once_a_second() -> None:
    news = [[added(config_map("a", str(version)))] for version in range(11, 1000)]
    mirror = Mirror(lists=[listing("10")], watches=news)

    await mirror.run_for(20.5)

    assert mirror.source.requests[:3] == RESUMED
    assert len(mirror.source.requests) == 1 + 22  # the second came at once


async def test_short_streams_that_repeat_themselves_are_backed_off_from() -> None:
    repeated = [[bookmark("10")] for _ in range(1000)]
    mirror = Mirror(lists=[listing("10")], watches=repeated)

    await mirror.run_for(60)

    # The second watch comes at once, then those at 0.8, 2.4, 5.6, 12, 24.8 and 50.4 seconds.
    assert len(mirror.source.requests) == 1 + 8


async def test_internal_errors_inside_the_window_are_resumed_without_a_list() -> None:
    mirror = Mirror(
        lists=[listing("10")],
        watches=[[added(A), FAILED], [modified(NEXT), After(5), FAILED], QUIET],
        internal_error_window=30,
    )

    await mirror.run_for(6)

    assert mirror.source.requests == [*RESUMED, "watch since '12'"]


async def test_internal_errors_that_go_on_inside_the_window_are_backed_off_from() -> None:
    mirror = Mirror(
        lists=[listing("10"), listing("10")],
        watches=[[FAILED] for _ in range(1000)],
        internal_error_window=30,
    )

    await mirror.run_for(29)

    # The second watch comes at once, then those at 0.8, 2.4, 5.6, 12 and 24.8 seconds.
    assert mirror.source.requests == ["list at '0'", *["watch since '10'"] * 7]


async def test_bookmarks_alone_move_the_version() -> None:
    mirror = Mirror(lists=[listing("10")], watches=[[bookmark("30"), After(2)], QUIET])

    await mirror.run_for(2.1)

    assert mirror.source.requests[-1] == "watch since '30'"
    assert mirror.store.version == "30"


async def test_what_comes_is_counted() -> None:
    mirror = Mirror(
        lists=[listing("10")],
        watches=[[[added(A), modified(NEXT)], bookmark("13"), After(7)], QUIET],
    )

    await mirror.run_for(8)

    watches = "reflet_reflector_watches_total"
    assert mirror.metrics.counted(watches, resource="test", end="closed") == 1
    assert mirror.metrics.counted(watches, resource="test", end="stopped") == 1
    assert mirror.metrics.observed("reflet_reflector_watch_duration_seconds", resource="test") == (
        7,
        1,
    )
    assert mirror.metrics.counted("reflet_reflector_events_total", resource="test") == 3
    assert mirror.metrics.counted("reflet_reflector_received_bytes_total", resource="test") == 3


@pytest.mark.parametrize("moment", [0.0, 0.5, 2.0, 5.5])
async def test_cancelling_at_any_moment_leaves_nothing_open(moment: float) -> None:
    mirror = Mirror(
        lists=[listing("10")] * 50,
        watches=[[added(A), After(1), TransportError("reset")], [After(1)]] * 50,
        resync_every=0.3,
    )

    await mirror.run_for(moment)

    assert mirror.source.open_watches == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_stream_that_always_has_more_lets_the_others_have_their_turn() -> None:
    events = [modified(config_map("a", str(number))) for number in range(11, 11 + 2048)]
    mirror = Mirror(lists=[listing("10")], watches=[[*events, *QUIET]])
    seen_on_the_way = set()

    async def somebody_else() -> None:
        while mirror.held.get("a") != str(10 + 2048):
            seen_on_the_way.add(mirror.held.get("a"))
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(somebody_else())
        await mirror.run_for(0.01)

    assert len(seen_on_the_way) > 3
