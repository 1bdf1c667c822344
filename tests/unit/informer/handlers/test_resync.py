"""Whose turn it is to be told everything again."""

from __future__ import annotations

import pytest

from reflet.informer.handlers.resync import ResyncPlan


def joined(
    plan: ResyncPlan[str], name: str, wanted: float | None, *, started: bool = False
) -> float:
    return plan.join(name, wanted, started=started, now=0.0)


def test_a_handler_gets_the_period_that_it_asks_for() -> None:
    assert joined(ResyncPlan(10), "a", 30) == 30


def test_who_asks_for_none_gets_none() -> None:
    assert joined(ResyncPlan(10), "a", 0) == 0


def test_who_does_not_say_gets_the_informers_period_however_often_others_are_told() -> None:
    plan = ResyncPlan[str](60)
    joined(plan, "often", 5)

    assert (joined(plan, "a", None), plan.check_every) == (60, 5)


def test_less_than_a_second_becomes_a_second(caplog: pytest.LogCaptureFixture) -> None:
    assert joined(ResyncPlan(10), "a", 0.3) == 1
    assert "too short" in caplog.text


def test_an_informer_that_never_resyncs_warns_who_asks_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert joined(ResyncPlan(0), "a", 30) == 0
    assert "never resyncs" in caplog.text


def test_before_the_start_a_short_period_shortens_the_check() -> None:
    plan = ResyncPlan[str](60)
    joined(plan, "a", 30)
    joined(plan, "b", 5)

    assert plan.check_every == 5


def test_after_the_start_a_period_is_raised_to_the_check() -> None:
    plan = ResyncPlan[str](60)

    assert joined(plan, "a", 5, started=True) == 60
    assert plan.check_every == 60


def test_everybody_hears_repetitions_until_the_first_check() -> None:
    plan = ResyncPlan[str](10)
    joined(plan, "never", 0)
    before = plan.in_round("never")

    plan.check(1.0)

    assert (before, plan.in_round("never")) == (True, False)


def test_at_a_check_it_is_the_turn_of_those_who_are_due() -> None:
    plan = ResyncPlan[str](1)
    for name, period in (("never", 0), ("two", 2), ("three", 3)):
        joined(plan, name, period)

    turns = {}
    for now in (1.0, 2.0, 3.0, 4.0):
        anybody = plan.check(now)
        turns[now] = (anybody, [name for name in ("never", "two", "three") if plan.in_round(name)])

    assert turns == {
        1.0: (False, []),
        2.0: (True, ["two"]),
        3.0: (True, ["three"]),
        4.0: (True, ["two"]),
    }


def test_who_has_left_has_no_turn() -> None:
    plan = ResyncPlan[str](1)
    joined(plan, "a", 1)

    plan.leave("a")
    plan.leave("a")

    assert not plan.check(5.0)
    assert not plan.in_round("a")
