from __future__ import annotations

import errno
import socket
import ssl

import pytest

from reflet.errors import ConnectionRefused, DeadlineExceeded, TLSFailure, TransportError
from reflet.transport.failures import Unprocessed, connection_failure

SERVER = "https://api:6443"


def tls_error(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, f"[SSL: {reason}] words (_ssl.c:1)")
    error.reason = reason
    return error


def untrusted(message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = message
    return error


MULTIPLE = OSError(
    "Multiple exceptions: [Errno 111] Connect call failed ('::1', 1, 0, 0), "
    "[Errno 111] Connect call failed ('127.0.0.1', 1)"
)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "no"), ConnectionRefused, "is the API server"),
        (ConnectionRefusedError(), ConnectionRefused, "is the API server"),
        (MULTIPLE, ConnectionRefused, "is the API server"),
        (ConnectionResetError(errno.ECONNRESET, "x"), TransportError, "the connection was reset"),
        (BrokenPipeError(), TransportError, "the connection was reset"),
        (TimeoutError(), DeadlineExceeded, "no answer in time"),
        (TimeoutError(errno.ETIMEDOUT, "x"), DeadlineExceeded, "no answer in time"),
        (socket.gaierror(-2, "Name unknown"), TransportError, "cannot be resolved: Name unknown"),
        (untrusted("self-signed certificate"), TLSFailure, "(self-signed certificate): check"),
        (tls_error("WRONG_VERSION_NUMBER"), TLSFailure, "does the server speak https?"),
        (tls_error("HTTP_REQUEST"), TLSFailure, "does the server speak https?"),
        (ssl.SSLEOFError(8, "EOF occurred"), TransportError, "closed during the TLS handshake"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), TransportError, "unreachable"),
        (OSError(), TransportError, "OSError"),
        (ValueError("odd"), TransportError, "odd"),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(value)[:30],
)
def test_every_failure_becomes_ours_and_says_what_happened(
    error: Exception, kind: type[TransportError], words: str
) -> None:
    failure = connection_failure(error, SERVER)

    assert type(failure) is kind
    assert str(failure).startswith(f"{SERVER}: ")
    assert words in str(failure)


@pytest.mark.parametrize(
    "reason",
    [
        "TLSV13_ALERT_CERTIFICATE_REQUIRED",
        "SSLV3_ALERT_BAD_CERTIFICATE",
        "SSLV3_ALERT_CERTIFICATE_EXPIRED",
        "TLSV1_ALERT_UNKNOWN_CA",
        "TLSV1_ALERT_ACCESS_DENIED",
    ],
)
def test_an_alert_about_our_certificate_says_so(reason: str) -> None:
    failure = connection_failure(tls_error(reason), SERVER)

    assert "did not accept our client certificate" in str(failure)


@pytest.mark.parametrize(
    "reason", ["TLSV1_ALERT_PROTOCOL_VERSION", "TLSV1_ALERT_INTERNAL_ERROR", "NO_SHARED_CIPHER"]
)
def test_another_alert_does_not_accuse_our_certificate(reason: str) -> None:
    failure = connection_failure(tls_error(reason), SERVER)

    assert "client certificate" not in str(failure)
    assert reason.lower().replace("_", " ") in str(failure)


def test_what_is_ours_already_stays_as_it_is() -> None:
    failure = Unprocessed("not looked at")

    assert connection_failure(failure, SERVER) is failure
