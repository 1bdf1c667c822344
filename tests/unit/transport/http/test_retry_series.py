"""How often a request is tried again, and after how long: the rule of requests and urllib3."""

from __future__ import annotations

import pytest

from reflet.transport.http.retry_series import Missed, RetryPolicy, RetrySeries

USUAL = RetryPolicy(total=5, connect=10, read=5, factor=1.1, statuses=frozenset({500}))


def waits(policy: RetryPolicy, *missed: Missed) -> list[float | None]:
    series = RetrySeries(policy)
    return [None if (w := series.wait_after(each)) is None else round(w, 3) for each in missed]


def test_the_usual_series_waits_33_seconds_in_all() -> None:
    found = waits(USUAL, *[Missed.CONNECTION] * 6)

    assert found == [0.0, 2.2, 4.4, 8.8, 17.6, None]
    assert RetrySeries(USUAL).longest == pytest.approx(33.0)


@pytest.mark.parametrize(
    ("policy", "missed", "tries"),
    [
        (RetryPolicy(total=0), Missed.OTHER, 0),
        (RetryPolicy(total=9, connect=2, read=5), Missed.CONNECTION, 2),
        (RetryPolicy(total=9, connect=2, read=5), Missed.ANSWER, 5),
        (RetryPolicy(total=3, connect=9, read=9), Missed.ANSWER, 3),
        (RetryPolicy(total=3), Missed.OTHER, 3),
    ],
)
def test_tries_are_counted_in_total_and_by_what_went_wrong(
    policy: RetryPolicy, missed: Missed, tries: int
) -> None:
    found = waits(policy, *[missed] * (tries + 1))

    assert [each is None for each in found] == [False] * tries + [True]


def test_no_wait_is_longer_than_two_minutes() -> None:
    policy = RetryPolicy(total=100, read=100, factor=1e6)

    assert waits(policy, *[Missed.ANSWER] * 100)[1:] == [120.0] * 99


def test_a_server_that_says_when_is_asked_then() -> None:
    assert RetrySeries(USUAL).wait_after(Missed.OTHER, asked=7.0) == 7.0
    assert RetrySeries(USUAL).wait_after(Missed.OTHER, asked=7000.0) == 120.0


@pytest.mark.parametrize(
    ("status", "says_when", "again"),
    [
        (500, False, True),
        (502, False, False),
        (429, True, True),
        (429, False, False),
        (503, True, True),
        (404, True, False),
    ],
)
def test_a_status_is_tried_again_when_it_is_listed_or_says_when(
    status: int, says_when: bool, again: bool
) -> None:
    assert USUAL.retries(status, says_when=says_when) == again


def test_nothing_is_tried_again_that_may_not_be() -> None:
    assert not RetryPolicy().retries(429, says_when=True)
