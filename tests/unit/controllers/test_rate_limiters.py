"""The delays of keys that fail.

Upstream: client-go/util/workqueue/default_rate_limiters_test.go
"""

from __future__ import annotations

import pytest

from reflet.controllers.rate_limiters import (
    ExponentialFailures,
    FastThenSlow,
    MaxOf,
    TokenBucket,
    default_rate_limiter,
)
from reflet.testing.virtual_time import ManualClock


def test_each_failure_of_a_key_doubles_its_delay() -> None:
    limiter = ExponentialFailures(0.001, 1.0)

    assert [limiter.when("one") for _ in range(5)] == [0.001, 0.002, 0.004, 0.008, 0.016]
    assert limiter.retries("one") == 5
    assert [limiter.when("two") for _ in range(2)] == [0.001, 0.002]


def test_a_key_that_is_forgotten_begins_anew() -> None:
    limiter = ExponentialFailures(0.001, 1.0)
    for _ in range(5):
        limiter.when("one")

    limiter.forget("one")

    assert limiter.retries("one") == 0
    assert limiter.when("one") == 0.001


def test_delays_have_a_ceiling_however_often_a_key_fails() -> None:
    limiter = ExponentialFailures(0.001, 1000.0)
    for _ in range(100_000):
        longest = limiter.when("overflow")

    assert longest == 1000.0


def test_some_fast_tries_then_slow_ones() -> None:
    limiter = FastThenSlow(0.005, 10.0, 3)

    assert [limiter.when("one") for _ in range(5)] == [0.005, 0.005, 0.005, 10.0, 10.0]
    limiter.forget("one")
    assert limiter.when("one") == 0.005
    assert limiter.retries("one") == 1


def test_a_bucket_lets_a_burst_pass_and_then_so_many_a_second() -> None:
    clock = ManualClock()
    bucket = TokenBucket(qps=2.0, burst=3, clock=clock)

    assert [bucket.when(key) for key in "abcde"] == [0, 0, 0, 0.5, 1.0]
    clock.advance(10.0)
    assert [bucket.when(key) for key in "abcd"] == [0, 0, 0, 0.5]


@pytest.mark.parametrize(("qps", "burst"), [(0, 1), (-1, 1), (1, 0)])
def test_a_bucket_that_lets_nothing_pass_is_refused(qps: float, burst: int) -> None:
    with pytest.raises(ValueError, match="qps must be positive"):
        TokenBucket(qps, burst)


def test_the_strictest_of_several_decides() -> None:
    limiter = MaxOf(FastThenSlow(0.005, 3.0, 3), ExponentialFailures(0.001, 1.0))

    assert [limiter.when("one") for _ in range(5)] == [0.005, 0.005, 0.005, 3.0, 3.0]
    assert limiter.retries("one") == 5
    limiter.forget("one")
    assert limiter.retries("one") == 0


def test_the_usual_one_slows_down_the_key_and_then_everybody() -> None:
    limiter = default_rate_limiter(clock=ManualClock())

    assert [limiter.when("one") for _ in range(3)] == [0.005, 0.01, 0.02]
    for number in range(200):
        limiter.when(f"other {number}")
    assert limiter.when("late") > 10.0
