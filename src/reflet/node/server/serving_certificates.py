"""The TLS context of the agent's port: a certificate, its key, and the authority of its clients.

Each connection begins with these files as they are then, so that a certificate that was replaced
needs no restart.

Upstream: pkg/kubelet/certificate/kubelet.go, NewKubeletServerCertificateDynamicFileManager
"""

from __future__ import annotations

import logging
import ssl
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from reflet.errors import ConfigurationError
from reflet.node.options import SecurePort
from reflet.runtime.clock import Clock, SystemClock
from reflet.transport.auth.certificates import Pem, show, trust
from reflet.transport.setting_files import read_setting_file

logger = logging.getLogger(__name__)

Mark: TypeAlias = tuple[int, ...]


class _Connection(ssl.SSLObject):
    """One connection; tells of a client whose certificate is not accepted, as asyncio does not."""

    def do_handshake(self) -> None:
        """Go on with the handshake."""
        try:
            super().do_handshake()
        except ssl.SSLCertVerificationError as error:
            logger.warning("a client's certificate is not accepted: %s", error.verify_message)
            raise


class ServingCertificates:
    """The certificate and key of *port*, and the authority of its clients' certificates.

    A client need not show a certificate.  One that is shown must be vouched for by the
    authority, or there is no connection.
    """

    def __init__(self, port: SecurePort, *, clock: Clock | None = None) -> None:
        self._port = port
        self._clock = clock or SystemClock()
        self._marks: tuple[Mark, ...] = ()
        self._current: ssl.SSLContext | None = None

    def check(self) -> None:
        """Raise ConfigurationError, which names the file, when one is of no use."""
        self._make()

    def context(self) -> ssl.SSLContext:
        """A context to listen with; ConfigurationError names the file that is of no use.

        It stays good when the files are replaced: each connection begins with what they hold
        then, or, when that is of no use, with what they held before.
        """
        self._marks = self._marks_now()
        context = self._current = self._read()
        context.sni_callback = self._begin
        context.sslobject_class = _Connection
        return context

    def _begin(
        self, connection: ssl.SSLSocket | ssl.SSLObject, _: str | None, listening: ssl.SSLContext
    ) -> None:
        """Called in each handshake, whether the client names a host or not."""
        marks = self._marks_now()
        if marks != self._marks:
            self._marks = marks  # before reading: what changes meanwhile is read the next time
            try:
                self._current = self._read()
            except ConfigurationError as error:
                logger.warning("the TLS files have changed, and the earlier ones stay: %s", error)
            else:
                logger.info("the TLS files have changed, and are read again")
        connection.context = self._current or listening

    def _read(self) -> ssl.SSLContext:
        context, expiry = self._make()
        if expiry <= self._clock.now():
            # As the kubelet does: whoever asks decides, and pods need no certificate.
            logger.warning("--tls-cert-file %s expired on %s", self._port.certificate, expiry)
        return context

    def _make(self) -> tuple[ssl.SSLContext, datetime]:
        """A context of the files as they are now, and when the certificate ends."""
        port = self._port
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # A client that resumes a session shows no certificate again, and would be known by one
        # that is over, or whose authority is trusted no more.  Without tickets TLS 1.3 has no
        # sessions; those of TLS 1.2 the ssl module cannot turn off.
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0
        certificate = _pem("--tls-cert-file", port.certificate)
        expiry = show(context, certificate, _pem("--tls-private-key-file", port.key))
        if port.client_ca is not None:
            trust(context, _pem("--client-ca-file", port.client_ca))
            context.verify_mode = ssl.CERT_OPTIONAL
            # As Go verifies: any certificate of the file ends the chain, self-signed or not.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context, expiry

    def _marks_now(self) -> tuple[Mark, ...]:
        port = self._port
        paths = (port.certificate, port.key, port.client_ca)
        return tuple(_mark(path) for path in paths if path is not None)


def _pem(flag: str, path: Path) -> Pem:
    setting = f"{flag} {path}"
    return Pem(setting, data=read_setting_file(path, setting))


def _mark(path: Path) -> Mark:
    """What changes when a file does; empty when it cannot be looked at."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
