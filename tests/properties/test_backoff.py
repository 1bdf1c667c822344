from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflet.runtime.backoff import Backoff
from reflet.testing.virtual_time import ManualClock

chances = st.floats(0, 1, exclude_max=True)
pauses = st.floats(0, 200)


@given(steps=st.lists(st.tuples(chances, pauses), max_size=60))
def test_every_delay_lies_between_the_shortest_base_and_twice_the_ceiling(
    steps: list[tuple[float, float]],
) -> None:
    clock = ManualClock()
    chance = iter([chance for chance, _ in steps])
    backoff = Backoff(clock=clock, chance=lambda: next(chance))

    for _, pause in steps:
        assert 0.8 <= backoff.next_delay() < 60.0
        clock.advance(pause)


@given(
    first=st.floats(0.001, 10),
    factor=st.floats(1, 5),
    room=st.floats(1, 100),
    jitter=st.floats(0, 3),
    steps=st.integers(0, 10),
    rolls=st.lists(chances, min_size=1, max_size=20),
)
def test_each_delay_lies_between_its_base_and_its_base_with_jitter(
    first: float, factor: float, room: float, jitter: float, steps: int, rolls: list[float]
) -> None:
    ceiling = first * room
    roll = iter(rolls)
    backoff = Backoff(
        first=first,
        factor=factor,
        ceiling=ceiling,
        jitter=jitter,
        steps=steps,
        clock=ManualClock(),
        chance=lambda: next(roll),
    )

    for number in range(len(rolls)):
        base = min(first * factor ** min(number, steps), ceiling)
        delay = backoff.next_delay()
        assert base <= delay * (1 + 1e-9)
        assert delay <= base * (1 + jitter) * (1 + 1e-9)


@given(rolls=st.lists(chances, min_size=1, max_size=200))
def test_a_dead_server_is_asked_at_most_nine_times_in_any_two_minutes(
    rolls: list[float],
) -> None:
    clock = ManualClock()
    roll = iter(rolls)
    backoff = Backoff(clock=clock, chance=lambda: next(roll))
    asked: list[float] = []

    for _ in rolls:
        asked.append(clock.monotonic())
        clock.advance(backoff.next_delay())

    busiest = max(sum(start <= moment < start + 120 for moment in asked) for start in asked)
    assert busiest <= 9
