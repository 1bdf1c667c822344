from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from collections.abc import Iterator

import pytest

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap
from reflet.api.options import ListOptions
from reflet.errors import (
    ConfigurationError,
    ConnectionRefused,
    Expired,
    Forbidden,
    TransportError,
)
from reflet.informer.reflector.reflector import Consistency, Reflector
from reflet.runtime.gate import Gate
from reflet.store.deltas import Delta, Resynced
from reflet.store.store import Store
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    added,
    bookmark,
    deleted,
    listing,
)
from tests.unit.informer.mirrors import Mirror, config_map

pytestmark = pytest.mark.virtual_time

A, B = config_map("a", "1"), config_map("b", "2")
FORBIDDEN = Forbidden("no", code=403, reason="Forbidden")
EXPIRED = Expired("too old resource version", code=410, reason="Expired")
REFUSED = ConnectionRefused("nobody is there")
QUIET = [Quiet.HEALTHY]


async def test_an_expired_version_is_first_retried_then_given_up() -> None:
    mirror = Mirror(
        lists=[listing("5"), EXPIRED, listing("40")], watches=[[bookmark("9"), EXPIRED], QUIET]
    )

    await mirror.run_for(3600)

    assert mirror.source.requests == [
        "list at '0'",
        "watch since '5'",
        "list at '9'",
        "list at ''",
        "watch since '40'",
    ]


async def test_every_pass_tries_to_stream_again() -> None:
    mirror = Mirror(
        streaming=True,
        lists=[listing("5", A)],
        watches=[
            FORBIDDEN,
            [added(B), EXPIRED],
            [added(B), bookmark("9", ends_initial_events=True), Quiet.HEALTHY],
        ],
    )

    await mirror.run_for(2)

    assert mirror.source.requests == [
        "stream at ''",
        "list at '0'",
        "watch since '5'",
        "stream at '2'",
    ]
    assert mirror.held == {"b": "2"}


async def test_failures_are_reported_and_waited_out_with_growing_delays() -> None:
    failures = [TransportError(f"reset {number}") for number in range(6)]
    mirror = Mirror(lists=[*failures, listing("5", A)])

    async with mirror.running() as reflector:
        await reflector.synced.wait()

        assert reflector.last_progress == pytest.approx(0.8 + 1.6 + 3.2 + 6.4 + 12.8 + 25.6)
    assert [error.__cause__ for error in mirror.errors] == failures
    assert mirror.connection == [failures[0], None]


async def test_it_goes_on_after_being_stopped_where_it_was() -> None:
    mirror = Mirror(
        lists=[listing("5", A), listing("8", A, B)], watches=[[bookmark("7"), *QUIET], QUIET]
    )

    await mirror.run_for(1)
    await mirror.run_for(1)

    assert mirror.source.requests[2:] == ["list at '7'", "watch since '8'"]
    assert mirror.held == {"a": "1", "b": "2"}


async def test_an_error_handler_that_fails_does_not_stop_the_mirror(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(error: Exception) -> None:
        raise ValueError("a handler's bug")

    source = ScriptedSource[ConfigMap](lists=[FORBIDDEN, listing("5", A)])
    reflector = Reflector(source, Store(), streaming=False, on_error=fail)
    running = asyncio.create_task(reflector.run())
    await reflector.synced.wait()
    running.cancel()
    await asyncio.wait((running,))

    assert "a handler's bug" in caplog.text


@pytest.mark.parametrize(("error", "level"), [(FORBIDDEN, "ERROR"), (EXPIRED, "DEBUG")])
async def test_without_an_error_handler_errors_are_logged(
    error: Exception, level: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="reflet.informer.reflector.reflector")
    source = ScriptedSource[ConfigMap](lists=[listing("4"), listing("5", A)], watches=[error])
    reflector = Reflector(source, Store(), name="mine", streaming=False)
    running = asyncio.create_task(reflector.run())
    await asyncio.sleep(2)
    running.cancel()
    await asyncio.wait((running,))

    (record,) = (it for it in caplog.records if it.name == "reflet.informer.reflector.reflector")
    assert (record.levelname, record.message) == (level, f"mine: Failed to watch mine: {error}")


class Resyncs:
    """Notes when it is told to resync, and fails if it must."""

    def __init__(self, failures: int = 0) -> None:
        self.moments: list[float] = []
        self._failures = failures

    def apply(self, delta: Delta[ConfigMap], /) -> None:
        if isinstance(delta, Resynced):
            self.moments.append(asyncio.get_running_loop().time())
            if self._failures:
                self._failures -= 1
                raise ValueError("the sink's bug")


async def test_the_sink_is_resynced_beside_the_watch() -> None:
    sink = Resyncs()
    mirror = Mirror(lists=[listing("5")], sink=sink, resync_every=30)

    await mirror.run_for(100)

    assert sink.moments == [30, 60, 90]


async def test_a_resync_can_be_declined() -> None:
    sink = Resyncs()
    answers = iter([False, True, False])
    mirror = Mirror(
        lists=[listing("5")], sink=sink, resync_every=30, should_resync=lambda: next(answers)
    )

    await mirror.run_for(100)

    assert sink.moments == [60]


async def test_the_time_of_resyncs_begins_anew_with_every_pass() -> None:
    sink = Resyncs()
    mirror = Mirror(
        lists=[listing("5"), listing("6")],
        watches=[[After(20), EXPIRED]],
        sink=sink,
        resync_every=30,
    )

    await mirror.run_for(60)

    assert sink.moments == [pytest.approx(20 + 30)]


async def test_a_resync_that_fails_ends_the_pass_quietly() -> None:
    sink = Resyncs(failures=1)
    mirror = Mirror(lists=[listing("5"), listing("6")], sink=sink, resync_every=30)

    await mirror.run_for(70)

    assert mirror.source.requests == [
        "list at '0'",
        "watch since '5'",
        "list at '5'",
        "watch since '6'",
    ]
    assert sink.moments == [30, pytest.approx(60.8)]
    assert mirror.errors == []


async def test_a_question_whether_to_resync_that_fails_ends_the_pass_quietly(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> bool:
        raise ValueError("a caller's bug")

    mirror = Mirror(lists=[listing("5"), listing("6")], resync_every=30, should_resync=fail)

    await mirror.run_for(31)

    assert mirror.source.requests[2:] == ["list at '5'", "watch since '6'"]
    assert "a caller's bug" in caplog.text


async def test_a_pass_beside_resyncs_ends_as_without() -> None:
    mirror = Mirror(lists=[listing("5")], watches=[FORBIDDEN], resync_every=30)

    with pytest.raises(Forbidden):
        await mirror.reflector.list_and_watch()


async def test_a_mirror_that_hears_nothing_is_live_as_long_as_its_connection_is_checked() -> None:
    mirror = Mirror(lists=[listing("5")], watches=[[After(50), bookmark("6"), Quiet.HEALTHY]])

    async with mirror.running() as reflector:
        heard, open_ = [], []
        for _ in range(3):
            await asyncio.sleep(49)
            heard.append(reflector.is_live(within=59))
            open_.append(reflector.is_live(within=60))

    assert heard == [True, True, False]
    assert open_ == [True, True, True]
    assert reflector.last_progress == 50


async def test_a_mirror_whose_watch_is_gone_is_live_no_longer() -> None:
    mirror = Mirror(
        lists=[listing("5")], watches=[[After(50), TransportError("reset")], *[REFUSED] * 20]
    )

    async with mirror.running() as reflector:
        await asyncio.sleep(55)
        soon = reflector.is_live(within=60)
        await asyncio.sleep(60)
        late = reflector.is_live(within=60)

    assert (soon, late) == (True, False)


async def test_a_store_that_equals_the_server_is_consistent() -> None:
    mirror = Mirror(lists=[listing("5", A), listing("5", A)])

    async with mirror.running() as reflector:
        await mirror.source.until_quiet()

        assert await reflector.check_consistency() == Consistency("5")
    assert mirror.source.asked[-1] == ListOptions(
        resource_version="5", resource_version_match="Exact", limit=500
    )


async def test_a_store_that_differs_from_the_server_says_where() -> None:
    mirror = Mirror(lists=[listing("5", A), listing("5", B)])

    async with mirror.running() as reflector:
        await mirror.source.until_quiet()
        found = await reflector.check_consistency()

    assert found == Consistency("5", missing=("shop/b",), surplus=("shop/a",))


async def test_the_server_is_compared_as_the_store_transforms_it() -> None:
    mirror = Mirror(lists=[listing("5", A), listing("5", config_map("a", "99"))])

    async with mirror.running() as reflector:
        await mirror.source.until_quiet()

        assert await reflector.check_consistency(transform=lambda item: A)


async def test_before_anything_is_known_there_is_nothing_to_compare() -> None:
    assert await Mirror().reflector.check_consistency() is None


async def test_without_knowing_what_is_held_nothing_can_be_compared() -> None:
    reflector = Reflector(ScriptedSource[ConfigMap](), Store())

    with pytest.raises(ConfigurationError, match="held="):
        await reflector.check_consistency()


async def test_a_deletion_that_was_missed_is_found_by_the_next_list() -> None:
    mirror = Mirror(
        lists=[listing("5", A, B), listing("9", B)], watches=[[After(5), EXPIRED], QUIET]
    )

    await mirror.run_for(6)

    assert mirror.held == {"b": "2"}


async def test_changes_right_behind_the_initial_state_are_not_lost() -> None:
    end = bookmark("9", ends_initial_events=True)
    gone = deleted(config_map("a", "10"))
    mirror = Mirror(streaming=True, watches=[[[added(A), added(B), end, gone], Quiet.HEALTHY]])

    await mirror.run_for(1)

    assert mirror.held == {"b": "2"}
    assert mirror.reflector.last_version == "10"


async def test_its_name_and_version_tell_it_apart() -> None:
    mirror = Mirror(lists=[listing("5")])

    await mirror.run_for(1)

    assert repr(mirror.reflector) == "<Reflector test at '5'>"


async def test_an_error_is_not_held_while_all_goes_well_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its traceback holds on to the connection that broke, with all its buffers."""
    caplog.set_level(logging.CRITICAL, "reflet")  # what is captured is held too
    seen: list[weakref.ref[Exception]] = []

    def breaks(error: Exception) -> Exception:
        seen.append(weakref.ref(error))
        return error

    def lists() -> Iterator[Listing[ConfigMap] | Exception]:
        yield breaks(TransportError("the list broke"))
        yield listing("5", A)

    def watches() -> Iterator[list[After | Quiet | Exception]]:
        yield [After(2), breaks(TransportError("the watch broke"))]
        yield [Quiet.HEALTHY]

    mirror = Mirror(lists=lists(), watches=watches())
    async with mirror.running():
        await mirror.source.until_quiet()
        mirror.errors.clear()
        mirror.connection.clear()
        gc.collect()

        assert [each() for each in seen] == [None, None]


# 410, programs that are wrong, and the gate


async def test_a_second_expired_version_soon_after_the_first_waits() -> None:
    mirror = Mirror(
        lists=[listing("5")] * 9, watches=[[After(20), EXPIRED], [After(5), EXPIRED], QUIET]
    )

    await mirror.run_for(25.5)
    assert len(mirror.source.requests) == 4
    await mirror.run_for(1)
    assert len(mirror.source.requests) == 6


async def test_a_source_that_is_wrong_as_a_program_ends_the_reflector() -> None:
    wrong = TypeError("page() takes 1 positional argument but 2 were given")
    for script in ({"lists": [wrong]}, {"lists": [listing("5")], "watches": [[After(5), wrong]]}):
        for resync_every in (0.0, 30.0):
            mirror = Mirror(**script, resync_every=resync_every)

            with pytest.raises(TypeError, match="positional"):
                await mirror.reflector.run()

            assert mirror.errors == [wrong]
            assert mirror.connection == []
            assert not mirror.reflector.connected


async def test_a_server_that_is_away_is_waited_for_at_the_gate() -> None:
    gate = Gate(chance=lambda: 0.0)
    mirror = Mirror(
        lists=[listing("5")],
        watches=[[bookmark("7"), After(50), TransportError("reset")], *[REFUSED] * 30, QUIET],
        gate=gate,
    )

    await mirror.run_for(50 + 0.2 + 0.4 + 0.8 + 27 + 0.1)

    assert mirror.source.requests == ["list at '0'", "watch since '5'", *["watch since '7'"] * 31]
    assert mirror.connection == [mirror.connection[0], None]
    assert mirror.errors == []


async def test_a_refusal_while_the_server_comes_up_reaches_nobody() -> None:
    mirror = Mirror(
        lists=[REFUSED, FORBIDDEN, FORBIDDEN, listing("5")], watches=[QUIET], gate=Gate()
    )

    await mirror.run_for(5)

    assert mirror.errors == []
    assert mirror.reflector.synced.is_set


async def test_who_drops_streaming_lists_is_listed_although_a_gate_waits_for_answers() -> None:
    mirror = Mirror(
        lists=[listing("5")],
        watches=[TransportError("reset")] * 3 + [QUIET],
        streaming=True,
        gate=Gate(),
    )

    await mirror.run_for(10)

    streams = ["stream at ''"] * 3
    assert mirror.source.requests == [*streams, "list at '0'", "watch since '5'"]


async def test_the_reflectors_of_one_gate_ask_together_as_often_as_one() -> None:
    gate = Gate(chance=lambda: 0.0)
    mirrors = [
        Mirror(
            lists=[listing("5")],
            watches=[[bookmark("7"), After(50), TransportError("reset")], *[REFUSED] * 40, QUIET],
            gate=gate,
        )
        for _ in range(20)
    ]

    await asyncio.gather(*(mirror.run_for(50 + 30) for mirror in mirrors))

    asked = sum(len(mirror.source.requests) for mirror in mirrors)
    assert asked - 2 * len(mirrors) <= 34
