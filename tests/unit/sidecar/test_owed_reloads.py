"""Changes that come together are one reload; each at its time."""

from __future__ import annotations

import pytest

from reflet.sidecar.owed_reloads import (
    LONGEST_DELAY,
    OwedReloads,
    ReloadCall,
    ReloadVerdict,
    verdict_on,
)


def test_nothing_is_owed_at_first() -> None:
    assert OwedReloads(0.5).due_in(0.0) is None


def test_a_reload_waits_for_quiet() -> None:
    owed = OwedReloads(0.5)
    owed.add(10.0)
    owed.add(10.3)

    assert owed.due_in(10.3) == pytest.approx(0.5)
    assert owed.due_in(10.8) == pytest.approx(0.0)
    assert owed.take() == ReloadCall()
    assert owed.due_in(11.0) is None


def test_changes_that_go_on_do_not_put_it_off_for_ever() -> None:
    owed = OwedReloads(0.5)
    for tenth in range(100):
        owed.add(tenth / 10)

    assert owed.due_in(LONGEST_DELAY) == 0.0


def test_the_first_files_are_told_at_once() -> None:
    owed = OwedReloads(30.0)
    owed.add(10.0)
    owed.add(10.0, at_once=True)

    assert owed.due_in(10.0) == 0.0
    assert len(owed) == 1


def test_without_debounce_each_change_is_a_reload() -> None:
    owed = OwedReloads(0.0)
    for _ in range(3):
        owed.add(10.0)

    assert (len(owed), owed.due_in(10.0)) == (3, 0.0)


def test_a_call_that_skips_the_url_asks_it_when_a_later_change_does() -> None:
    owed = OwedReloads(0.5)
    owed.add(0.0, asks_url=False)
    assert not OwedReloads.take(owed).asks_url

    owed.add(0.0, asks_url=False)
    owed.add(0.1)
    assert owed.take().asks_url


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, ReloadVerdict.DONE),
        (204, ReloadVerdict.DONE),
        (304, ReloadVerdict.DONE),
        (401, ReloadVerdict.REFUSED),
        (404, ReloadVerdict.REFUSED),
        (408, ReloadVerdict.AGAIN),
        (429, ReloadVerdict.AGAIN),
        (500, ReloadVerdict.AGAIN),
        (503, ReloadVerdict.AGAIN),
    ],
)
def test_an_answer_is_done_refused_or_asked_for_again(status: int, verdict: ReloadVerdict) -> None:
    assert verdict_on(status) is verdict
