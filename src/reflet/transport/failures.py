"""Turns what the operating system and the TLS library say into our errors, once.

Owns: the words for each way a connection fails.  Must not know requests or HTTP versions.
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
    """The server certainly did not act on the request, so sending it again is safe."""


class ConnectionReplaced(TransportError):
    """The connection gives way to a newer one: the rest of the stream is to be asked for again."""


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
