from __future__ import annotations

import pytest

from reflet.runtime.backoff import Backoff
from reflet.testing.virtual_time import ManualClock


def never() -> float:
    return 0.0


def test_delays_double_up_to_the_ceiling_and_stay_there() -> None:
    backoff = Backoff(clock=ManualClock(), chance=never)

    delays = [backoff.next_delay() for _ in range(8)]

    assert delays == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


def test_jitter_adds_a_share_of_the_base_of_each_delay() -> None:
    backoff = Backoff(jitter=0.5, clock=ManualClock(), chance=lambda: 0.5)

    assert [backoff.next_delay() for _ in range(3)] == [1.0, 2.0, 4.0]


def test_jitter_goes_beyond_the_ceiling() -> None:
    backoff = Backoff(first=30.0, clock=ManualClock(), chance=lambda: 0.75)

    assert backoff.next_delay() == 52.5


def test_when_steps_run_out_the_base_no_longer_grows() -> None:
    backoff = Backoff(steps=2, clock=ManualClock(), chance=never)

    assert [backoff.next_delay() for _ in range(4)] == [0.8, 1.6, 3.2, 3.2]


def test_it_starts_over_when_more_than_two_minutes_have_passed() -> None:
    clock = ManualClock()
    backoff = Backoff(clock=clock, chance=never)
    grown = [backoff.next_delay() for _ in range(3)]

    clock.advance(120.5)

    assert (grown[-1], backoff.next_delay(), backoff.next_delay()) == (3.2, 0.8, 1.6)


def test_it_does_not_start_over_when_exactly_two_minutes_have_passed() -> None:
    clock = ManualClock()
    backoff = Backoff(clock=clock, chance=never)
    backoff.next_delay()

    clock.advance(120.0)

    assert backoff.next_delay() == 1.6


def test_a_lasting_failure_grows_for_two_minutes_and_falls_back_again_and_again() -> None:
    clock = ManualClock()
    backoff = Backoff(clock=clock, chance=never)
    delays = []

    for _ in range(20):
        delays.append(backoff.next_delay())
        clock.advance(delays[-1])

    grow = [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 30.0]
    assert delays == [*grow, *grow, 0.8, 1.6]


def test_without_a_reset_the_ceiling_is_for_ever() -> None:
    clock = ManualClock()
    backoff = Backoff(first=30.0, reset_after=None, clock=clock, chance=never)

    clock.advance(1_000_000)

    assert backoff.next_delay() == 30.0


def test_a_reset_by_hand_starts_over() -> None:
    backoff = Backoff(clock=ManualClock(), chance=never)
    backoff.next_delay()

    backoff.reset()

    assert backoff.next_delay() == 0.8


@pytest.mark.parametrize(
    "options",
    [
        {"first": -1.0},
        {"first": 31.0},
        {"factor": 0.5},
        {"jitter": -0.1},
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Backoff(
            first=options.get("first", 0.8),
            factor=options.get("factor", 2.0),
            jitter=options.get("jitter", 1.0),
        )
