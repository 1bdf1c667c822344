import asyncio
import logging

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.rate_limit import RateLimit


class HandClock:
    """Time that passes only in sleep, and for everybody at once."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)
        self.now += seconds


def limit(clock: HandClock, *, qps: float = 10.0, burst: int = 2) -> RateLimit:
    return RateLimit(qps=qps, burst=burst, monotonic=clock.monotonic, sleep=clock.sleep)


async def test_a_burst_goes_through_at_once_and_then_one_every_tenth() -> None:
    clock = HandClock()
    limited = limit(clock)
    moments = []

    for _ in range(5):
        await limited.acquire()
        moments.append(round(clock.now - 100, 6))

    assert moments == [0, 0, 0.1, 0.2, 0.3]


async def test_a_pause_earns_no_more_than_a_burst() -> None:
    clock = HandClock()
    limited = limit(clock)
    clock.now += 3600

    for _ in range(3):
        await limited.acquire()

    assert clock.slept == [pytest.approx(0.1)]


async def test_what_the_clock_said_before_the_first_request_does_not_matter() -> None:
    clock = HandClock()
    limited = limit(clock)
    clock.now = 1.0  # another clock: the limit was made outside the event loop

    await limited.acquire()

    assert clock.slept == []


async def test_those_who_wait_are_served_in_the_order_they_came() -> None:
    clock = HandClock()
    limited = limit(clock, burst=1)
    served: list[int] = []

    async def ask(number: int) -> None:
        await limited.acquire()
        served.append(number)

    async with asyncio.TaskGroup() as tasks:
        for number in range(6):
            tasks.create_task(ask(number))

    assert served == [0, 1, 2, 3, 4, 5]


async def test_one_who_is_cancelled_gives_its_place_and_its_token_back() -> None:
    clock = HandClock()
    limited = limit(clock, burst=1)
    await limited.acquire()
    first, second = (asyncio.create_task(limited.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    assert clock.slept == [pytest.approx(0.1)]

    first.cancel()
    await second

    assert first.cancelled()
    assert clock.now - 100 == pytest.approx(0.1)


async def test_one_who_is_cancelled_in_the_line_is_passed_over() -> None:
    clock = HandClock()
    limited = limit(clock, burst=1)
    await limited.acquire()
    waiting = [asyncio.create_task(limited.acquire()) for _ in range(3)]
    await asyncio.sleep(0)

    waiting[1].cancel()
    await waiting[2]

    assert waiting[1].cancelled()
    assert clock.now - 100 == pytest.approx(0.2)


@pytest.mark.parametrize("qps", [0.0, -1.0])
async def test_without_a_rate_nobody_waits(qps: float) -> None:
    clock = HandClock()
    unlimited = limit(clock, qps=qps, burst=0)

    for _ in range(1000):
        await unlimited.acquire()

    assert clock.slept == []


@pytest.mark.parametrize("qps", [0.3, 3.0, 7.0, 1e6])
async def test_rounding_never_makes_anybody_wait_for_ever(qps: float) -> None:
    clock = HandClock()
    limited = limit(clock, qps=qps, burst=1)

    for _ in range(200):
        await limited.acquire()

    assert len(clock.slept) < 2 * 200
    assert clock.now - 100 == pytest.approx(199 / qps)


def test_a_rate_without_a_burst_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"^burst must be at least 1 "):
        RateLimit(qps=5, burst=0)


# Long waits are told


async def told_by(
    caplog: pytest.LogCaptureFixture, limited: RateLimit, requests: int, *, level: int
) -> list[str]:
    """What the log says at *level* while that many requests come at once."""
    with caplog.at_level(logging.DEBUG, "reflet.transport.rate_limit"):
        async with asyncio.TaskGroup() as tasks:
            for number in range(requests):
                tasks.create_task(limited.acquire(f"GET:/api/{number}"))
    return [record.getMessage() for record in caplog.records if record.levelno == level]


async def test_a_wait_of_more_than_a_second_is_a_warning_that_names_the_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    limited = limit(HandClock(), qps=0.8, burst=1)

    told = await told_by(caplog, limited, 2, level=logging.WARNING)

    expected = (
        "waited 1.25 s due to client-side throttling (qps 0.8, burst 1), not priority and "
        "fairness of the server: GET:/api/1"
    )
    assert told == [expected]


async def test_the_time_in_line_counts(caplog: pytest.LogCaptureFixture) -> None:
    limited = limit(HandClock(), qps=4, burst=1)

    told = await told_by(caplog, limited, 7, level=logging.WARNING)

    assert [text.split()[1] for text in told] == ["1.25"]


async def test_many_who_wait_are_told_of_once_in_ten_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    limited = limit(HandClock(), qps=0.5, burst=1)

    told = await told_by(caplog, limited, 13, level=logging.WARNING)

    assert [text.split()[1] for text in told] == ["2", "12", "22"]


async def test_a_short_wait_is_told_for_debugging_only(caplog: pytest.LogCaptureFixture) -> None:
    limited = limit(HandClock(), qps=10, burst=1)

    told = await told_by(caplog, limited, 2, level=logging.DEBUG)

    assert [record.levelno for record in caplog.records] == [logging.DEBUG]
    assert told[0].startswith("waited 0.1 s")


async def test_a_wait_that_nobody_feels_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    limited = limit(HandClock(), qps=50, burst=1)

    assert await told_by(caplog, limited, 2, level=logging.DEBUG) == []
    assert caplog.records == []
