"""Turns what the operating system, TLS and other HTTP libraries say into our errors, once.

``connection_failure`` reads the system's own error, ``wrapped_failure`` finds it behind the
wrappers of another library.  Two kinds carry what a caller may do next: ``Unprocessed`` (send it
again, even a write) and ``ConnectionReplaced`` (ask for the rest of the stream).
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from typing import Final

from reflet.errors import ConnectionRefused, DeadlineExceeded, TLSFailure, TransportError

ALERTS_ABOUT_US: Final = ("certificate", "unknown ca", "access denied")
"""What a TLS server says when it wants another client certificate than it got."""


class Unprocessed(TransportError):
    """The server certainly did not act on the request, so sending it again is safe.

    HTTP/2 says so in two ways: RST_STREAM with REFUSED_STREAM, and a GOAWAY whose last stream id
    is below the request's.  Upstream: golang.org/x/net/http2/transport.go, canRetryError
    """


class ConnectionReplaced(TransportError):
    """The connection gives way to a newer one: the rest of the stream is to be asked for again.

    Raised when certificates have rotated (``http.cert_rotation``), not when a connection breaks.
    """


def connection_failure(error: BaseException, server: str) -> TransportError:
    """The TransportError that says what *error* means for a connection to *server*."""
    if isinstance(error, TransportError):
        return error
    if isinstance(error, ssl.SSLCertVerificationError):
        return TLSFailure(
            f"{server}: the server's certificate is not trusted ({error.verify_message}): "
            "check certificate-authority and tls-server-name"
        )
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        # Nothing was said about certificates: a load balancer with nobody behind it does this.
        return TransportError(f"{server}: the connection was closed during the TLS handshake")
    if isinstance(error, ssl.SSLError):
        return TLSFailure(f"{server}: TLS failed: {_tls_words(error)}")
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return DeadlineExceeded(f"{server}: no answer in time")
    if isinstance(error, socket.gaierror):
        return TransportError(f"{server}: the host name cannot be resolved: {error.strerror}")
    if _is_refused(error):
        return ConnectionRefused(f"{server}: connection refused: is the API server running there?")
    if isinstance(error, ConnectionResetError | BrokenPipeError):
        return TransportError(f"{server}: the connection was reset")
    words = str(error) or type(error).__name__
    return TransportError(f"{server}: {words}")


def wrapped_failure(error: BaseException, server: str, *, timed_out: bool) -> TransportError:
    """The TransportError that *error*, another library's, means for a connection to *server*.

    *timed_out* says that the library calls it a time-out.
    """
    found = _innermost(error)
    if found is not None:
        return connection_failure(found, server)
    if timed_out:
        return DeadlineExceeded(f"{server}: no answer in time")
    words = " ".join(str(error).split()) or type(error).__name__
    return TransportError(f"{server}: {words}")


def own_failure(failure: TransportError) -> TransportError:
    """The same failure for one more task: raised by several, it collects all their tracebacks."""
    own = type(failure)(*failure.args)
    own.__cause__ = failure.__cause__
    return own


def _is_refused(error: BaseException) -> bool:
    # A host name with several addresses gives one OSError that only quotes the real ones.
    return isinstance(error, ConnectionRefusedError) or (
        isinstance(error, OSError) and f"[Errno {errno.ECONNREFUSED}]" in str(error)
    )


def _tls_words(error: ssl.SSLError) -> str:
    # Errors that do not come from OpenSSL itself have no reason.
    reason = (getattr(error, "reason", None) or str(error)).replace("_", " ").lower()
    if "wrong version number" in reason or "http request" in reason:
        return f"{reason}: does the server speak https?"
    if "alert" in reason and any(words in reason for words in ALERTS_ABOUT_US):
        return f"{reason}: the server did not accept our client certificate"
    return reason


def _innermost(error: BaseException) -> BaseException | None:
    """The operating system's error behind *error*: libraries wrap its words in vaguer ones."""
    found: BaseException | None = None
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        if isinstance(link, OSError | TransportError):
            found = link
        if isinstance(link, BaseExceptionGroup):
            # One attempt for each address of the host: the last stands for all.
            link = link.exceptions[-1]
        elif link.__cause__ is not None or found is not None:
            link = link.__cause__
        else:
            # Even a suppressed one: that is meant for tracebacks.
            link = link.__context__
    return found
