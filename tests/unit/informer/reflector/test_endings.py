from __future__ import annotations

import pytest

from reflet.errors import (
    Cause,
    ConnectionRefused,
    DeadlineExceeded,
    DecodeError,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Timeout,
    TooManyRequests,
    TransportError,
)
from reflet.informer.reflector.endings import (
    AFTER_LIST,
    AFTER_WATCH,
    AFTER_WATCH_LIST,
    AFTER_WATCH_REQUEST,
    Ending,
    WatchListAttempts,
    WatchListStep,
    WatchStep,
    ending_of_request,
    ending_of_stream,
)

TOO_LARGE = Timeout("no", causes=[Cause("ResourceVersionTooLarge")])
ERRORS = [
    ConnectionRefused("no"),
    TransportError("no"),
    DeadlineExceeded("no"),
    DecodeError("no"),
    TooManyRequests("no", code=429),
    Expired("no"),
    Gone("no", code=410),
    TOO_LARGE,
    InternalError("no", code=500),
    Forbidden("no", code=403),
    ValueError("no"),
]


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (ConnectionRefused("no"), Ending.REFUSED),
        (TooManyRequests("no", code=429), Ending.THROTTLED),
        (Expired("no"), Ending.EXPIRED),
        (Gone("no", code=410), Ending.EXPIRED),
        (TOO_LARGE, Ending.TOO_LARGE),
        (TransportError("no"), Ending.FAILED),
        (Forbidden("no", code=403), Ending.FAILED),
        (ValueError("no"), Ending.FAILED),
    ],
)
def test_a_request_ends_as_its_error_says(error: Exception, ending: Ending) -> None:
    assert ending_of_request(error) is ending


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (None, Ending.CLOSED),
        (TransportError("no"), Ending.BROKEN),
        (ConnectionRefused("no"), Ending.BROKEN),
        (DeadlineExceeded("no"), Ending.SILENT),
        (DecodeError("no"), Ending.UNREADABLE),
        (TooManyRequests("no", code=429), Ending.THROTTLED),
        (Expired("no"), Ending.EXPIRED),
        (TOO_LARGE, Ending.TOO_LARGE),
        (InternalError("no", code=500), Ending.FAILED),
        (ValueError("no"), Ending.FAILED),
    ],
)
def test_a_stream_ends_as_its_error_says(error: Exception | None, ending: Ending) -> None:
    assert ending_of_stream(error, lasted=5, events=0) is ending
    assert ending_of_stream(error, lasted=0.1, events=1) is ending


@pytest.mark.parametrize("error", [None, TransportError("no"), DeadlineExceeded("no")])
def test_a_stream_that_brings_nothing_within_a_second_is_too_short(error: Exception | None) -> None:
    assert ending_of_stream(error, lasted=0.999, events=0) is Ending.TOO_SHORT


def test_a_refusal_inside_a_short_stream_stays_what_it_is() -> None:
    assert ending_of_stream(Expired("no"), lasted=0, events=0) is Ending.EXPIRED


def test_a_failure_of_the_server_may_be_forgiven() -> None:
    failure = InternalError("no", code=500)

    assert ending_of_stream(failure, lasted=0, events=0, forgiven=True) is Ending.STUMBLED


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_every_ending_of_a_request_has_a_next_step(error: Exception) -> None:
    ending = ending_of_request(error)

    assert ending in AFTER_WATCH_REQUEST
    assert ending in AFTER_LIST
    assert ending in AFTER_WATCH_LIST


@pytest.mark.parametrize("forgiven", [True, False])
@pytest.mark.parametrize("lasted", [0.0, 5.0])
@pytest.mark.parametrize("error", [None, *ERRORS], ids=lambda error: type(error).__name__)
def test_every_ending_of_a_watch_has_a_next_step(
    error: Exception | None, lasted: float, forgiven: bool
) -> None:
    assert ending_of_stream(error, lasted=lasted, events=0, forgiven=forgiven) in AFTER_WATCH


@pytest.mark.parametrize("lasted", [0.0, 5.0])
@pytest.mark.parametrize("error", [None, *ERRORS], ids=lambda error: type(error).__name__)
def test_every_ending_of_a_streaming_list_has_a_next_step(
    error: Exception | None, lasted: float
) -> None:
    assert ending_of_stream(error, lasted=lasted, events=0) in AFTER_WATCH_LIST


def test_only_a_version_that_is_lost_or_a_broken_stream_of_sense_needs_a_new_list() -> None:
    resumed = {
        ending
        for ending, step in AFTER_WATCH.items()
        if step in {WatchStep.REWATCH, WatchStep.WAIT_THEN_REWATCH}
    }

    assert resumed == {
        Ending.CLOSED,
        Ending.BROKEN,
        Ending.SILENT,
        Ending.STUMBLED,
        Ending.THROTTLED,
    }


def test_a_streaming_list_that_ends_early_is_repeated_at_once_then_later_then_listed() -> None:
    attempts = WatchListAttempts()

    steps = [attempts.after(Ending.CLOSED, newest=True) for _ in range(3)]

    assert steps == [WatchListStep.REPEAT, WatchListStep.WAIT_THEN_REPEAT, WatchListStep.LIST]


def test_a_throttled_streaming_list_is_repeated_however_often() -> None:
    attempts = WatchListAttempts()

    steps = {attempts.after(Ending.THROTTLED, newest=True) for _ in range(50)}

    assert steps == {WatchListStep.WAIT_THEN_REPEAT}


@pytest.mark.parametrize("ending", [Ending.EXPIRED, Ending.TOO_LARGE])
def test_a_version_is_forgotten_only_where_there_is_one(ending: Ending) -> None:
    attempts = WatchListAttempts()

    assert attempts.after(ending, newest=False) is WatchListStep.REPEAT_WITHOUT_VERSION
    assert attempts.after(ending, newest=True) is WatchListStep.LIST
