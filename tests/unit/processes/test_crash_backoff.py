"""The kubelet's crash back-off: at once, then 10 s, doubling to 5 minutes, forgiven after 10."""

from __future__ import annotations

from reflet.processes.crash_backoff import CrashBackoff


def delays(lifetimes: list[float]) -> list[float]:
    """Live through lives of these lengths; return how long each restart had to wait."""
    backoff, now, waited = CrashBackoff(), 0.0, []
    for lifetime in lifetimes:
        ended_at = now + lifetime
        left = backoff.left(ended_at=ended_at, now=ended_at)
        waited.append(left)
        now = ended_at + left
        backoff = backoff.restarted(ended_at=ended_at, now=now)
    return waited


def test_the_first_restart_is_at_once_and_the_next_ones_wait_longer_and_longer() -> None:
    assert delays([1.0] * 9) == [0, 10, 20, 40, 80, 160, 300, 300, 300]


def test_a_life_of_ten_minutes_is_forgiven() -> None:
    assert delays([1, 1, 1, 601, 1, 1]) == [0, 10, 20, 0, 10, 20]


def test_a_life_of_exactly_ten_minutes_is_not() -> None:
    assert delays([1, 1, 600]) == [0, 10, 20]


def test_time_that_passed_since_the_end_counts() -> None:
    backoff = CrashBackoff().restarted(ended_at=0, now=0)

    assert [backoff.left(ended_at=5, now=now) for now in (5, 11, 15, 20)] == [10, 4, 0, 0]


def test_the_ceiling_holds_for_the_first_delay_too() -> None:
    backoff = CrashBackoff(ceiling=1).restarted(ended_at=0, now=0)

    assert backoff.left(ended_at=0.5, now=0.5) == 1
