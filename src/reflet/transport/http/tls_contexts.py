"""The TLS context for new connections, made anew when what it is made from has changed.

Owns: when files of certificates and keys are looked at, and that files which are of no use leave
the last good ones in force.  Must not know connections: whoever holds a context compares it with
the current one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import ClientCertificate, Pem
from reflet.transport.config.settings import ConnectionSettings, ssl_context
from reflet.transport.setting_files import LOOK_EVERY, FileIdentity, file_identity

if TYPE_CHECKING:
    import ssl

logger = logging.getLogger(__name__)


class TlsContexts:
    """The contexts for connections by *settings*, one after the other.

    Files are looked at when a context is asked for, at most once a second.  While one of them is
    missing, half written or expired, or a key does not belong to its certificate, the context
    made before stays.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        *,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._monotonic = monotonic
        self._now = now
        pems = [settings.certificate_authority]
        if settings.client_certificate is not None:
            pems += [settings.client_certificate.certificate, settings.client_certificate.key]
        self._paths = [pem.path for pem in pems if pem is not None and pem.path is not None]
        self._current: ssl.SSLContext | None = None
        self._shown: ClientCertificate | None = None  # what the credentials brought for it
        self._held = settings  # the settings with what the files held for it
        self._seen: tuple[FileIdentity, ...] = ()
        self._looked_at = 0.0
        self._complained = False

    def current(self, shown: ClientCertificate | None, *, at_once: bool = False) -> ssl.SSLContext:
        """The context for a new connection: the same one until something has changed.

        *shown* is the client certificate that the credentials brought; *at_once* looks at files
        although they were looked at a moment ago.  Raises ConfigurationError when there is no
        context yet, or none for *shown*, because a certificate or key is of no use.
        """
        if self._current is None or shown != self._shown:
            seen = self._identities()  # before reading: what changes meanwhile is read again
            self._current = self._take(self._read(), shown)
            self._seen, self._looked_at = seen, self._monotonic()
        elif self._paths:
            moment = self._monotonic()
            if at_once or moment - self._looked_at >= LOOK_EVERY:
                self._looked_at = moment
                self._look()
        return self._current

    def _look(self) -> None:
        seen = self._identities()
        if seen == self._seen:
            return
        try:
            held = self._read()
            if held != self._held:  # the kubelet rewrites a whole volume for one new token
                self._current = self._take(held, self._shown)
                logger.info("%s: the certificates have changed", self._settings.server)
        except ConfigurationError as error:
            if not self._complained:
                logger.warning("%s; the last good certificates stay in use", error)
                self._complained = True
            return
        self._seen, self._complained = seen, False

    def _take(self, held: ConnectionSettings, shown: ClientCertificate | None) -> ssl.SSLContext:
        context = ssl_context(held, client_certificate=shown, now=self._now)
        self._held, self._shown = held, shown
        return context

    def _read(self) -> ConnectionSettings:
        """The settings with what the files hold, in memory: a context is made of one look."""
        settings, client = self._settings, self._settings.client_certificate
        authority = settings.certificate_authority
        return replace(
            settings,
            certificate_authority=None if authority is None else _in_memory(authority),
            client_certificate=None
            if client is None
            else ClientCertificate(_in_memory(client.certificate), _in_memory(client.key)),
        )

    def _identities(self) -> tuple[FileIdentity, ...]:
        try:
            return tuple(map(file_identity, self._paths))
        except OSError:
            return ()  # reading will say what is wrong


def _in_memory(pem: Pem) -> Pem:
    return Pem(pem.setting, data=pem.read())
