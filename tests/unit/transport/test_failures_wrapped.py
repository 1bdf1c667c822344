from __future__ import annotations

import socket
import ssl

import pytest

from reflet.errors import ConnectionRefused, DeadlineExceeded, TLSFailure, TransportError
from reflet.transport.failures import wrapped_failure


class ForeignError(Exception):
    """Stands for an error of another library."""


def foreign(cause: BaseException | None, words: str = "wrapped") -> ForeignError:
    error = ForeignError(words)
    if cause is not None:
        error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (ConnectionRefusedError(111, "refused"), ConnectionRefused),
        (TimeoutError(), DeadlineExceeded),
        (ssl.SSLError(1, "handshake failure"), TLSFailure),
        (ConnectionResetError(), TransportError),
        (socket.gaierror(-2, "unknown"), TransportError),
    ],
)
def test_what_happened_is_found_behind_wrappers(
    cause: Exception, expected: type[TransportError]
) -> None:
    error = wrapped_failure(foreign(foreign(cause)), "server", timed_out=False)

    assert type(error) is expected


def test_the_innermost_words_count() -> None:
    vague = OSError("All connection attempts failed")
    vague.__cause__ = ExceptionGroup("two addresses", [OSError(113, "?"), ConnectionRefusedError()])

    assert type(wrapped_failure(foreign(vague), "server", timed_out=False)) is ConnectionRefused


def test_an_error_that_was_handled_on_the_way_is_found_too() -> None:
    error = foreign(None)
    error.__context__ = ConnectionRefusedError()

    assert type(wrapped_failure(error, "server", timed_out=False)) is ConnectionRefused


def test_a_context_that_is_hidden_from_tracebacks_is_found_too() -> None:
    error = foreign(None)
    error.__context__ = ConnectionRefusedError()
    error.__suppress_context__ = True

    assert type(wrapped_failure(error, "server", timed_out=False)) is ConnectionRefused


def test_what_was_handled_before_the_real_failure_is_not_looked_at() -> None:
    cause = TimeoutError()
    cause.__context__ = ConnectionRefusedError()

    assert type(wrapped_failure(foreign(cause), "server", timed_out=False)) is DeadlineExceeded


def test_a_library_s_own_time_out_counts() -> None:
    assert type(wrapped_failure(foreign(None), "s", timed_out=True)) is DeadlineExceeded


def test_other_words_are_quoted_in_one_line() -> None:
    error = wrapped_failure(foreign(None, "half\n an answer"), "https://s", timed_out=False)

    assert str(error) == "https://s: half an answer"


def test_a_circle_of_causes_ends() -> None:
    first, second = foreign(None), foreign(None)
    first.__cause__, second.__cause__ = second, first

    assert type(wrapped_failure(first, "s", timed_out=False)) is TransportError
