from __future__ import annotations

from reflet.informer.reflector.retries import RetryWithDeadline


def test_it_is_closed_before_anything_failed() -> None:
    assert not RetryWithDeadline(10).should_retry(0)


def test_it_is_open_for_its_duration_after_the_first_failure() -> None:
    window = RetryWithDeadline(10)
    window.failed(100)
    window.failed(105)

    assert window.should_retry(110)
    assert not window.should_retry(110.1)


def test_once_found_closed_the_next_failure_opens_it_again() -> None:
    window = RetryWithDeadline(10)
    window.failed(100)
    assert not window.should_retry(111)

    window.failed(112)

    assert window.should_retry(122)


def test_a_long_pause_begins_a_new_series() -> None:
    window = RetryWithDeadline(100)
    window.failed(0)
    window.failed(60)

    assert window.should_retry(160)


def test_failures_closer_than_that_belong_to_one_series() -> None:
    window = RetryWithDeadline(100)
    window.failed(0)
    window.failed(59)

    assert not window.should_retry(101)


def test_without_a_duration_it_never_opens() -> None:
    window = RetryWithDeadline(0)
    window.failed(5)

    assert not window.should_retry(5)
