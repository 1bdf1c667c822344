from __future__ import annotations

from reflet.informer.reflector.retries import Delay, ShortWatchGuard


def test_streams_that_last_are_followed_at_once() -> None:
    pacing = ShortWatchGuard()

    assert {pacing.after(lasted=1.0, moved=False) for _ in range(5)} == {Delay.NONE}


def test_the_first_short_stream_is_followed_at_once() -> None:
    assert ShortWatchGuard().after(lasted=0.0, moved=False) is Delay.NONE


def test_short_streams_that_bring_news_are_followed_once_a_second() -> None:
    pacing = ShortWatchGuard()
    pacing.after(lasted=0.1, moved=True)

    assert pacing.after(lasted=0.1, moved=True) is Delay.REST_OF_A_SECOND


def test_short_streams_that_bring_nothing_new_are_followed_after_a_delay() -> None:
    pacing = ShortWatchGuard()
    pacing.after(lasted=0.1, moved=True)

    assert pacing.after(lasted=0.1, moved=False) is Delay.BACKOFF


def test_a_stream_that_lasts_makes_the_next_short_one_the_first_again() -> None:
    pacing = ShortWatchGuard()
    pacing.after(lasted=0.1, moved=False)
    pacing.after(lasted=7.0, moved=False)

    assert pacing.after(lasted=0.1, moved=False) is Delay.NONE
