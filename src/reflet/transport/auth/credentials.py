"""Who we say we are: headers, and sometimes a client certificate, that may change over time.

The ``Credentials`` protocol and the kinds that need no other program; ``exec_plugin`` has the one
that does.  ``TokenFile`` is a service account's token that the kubelet renews.  Nothing here shows
a secret in a repr, an error or a log.

Upstream: client-go/transport/token_source.go, fileTokenSource, cachingTokenSource;
    client-go/transport/round_trippers.go, bearerAuthRoundTripper, basicAuthRoundTripper
"""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

from reflet.errors import CredentialsError
from reflet.runtime.clock import SystemClock
from reflet.transport.auth.certificates import ClientCertificate
from reflet.transport.setting_files import (
    LOOK_EVERY,
    FileIdentity,
    file_identity,
    why_unreadable,
)

logger = logging.getLogger(__name__)

SYSTEM_CLOCK: Final = SystemClock()

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})
_SENDABLE: Final = re.compile(r"[!-~]+")


class Credentials(Protocol):
    """Says who we are, and finds something better when the server does not believe it."""

    async def headers(self) -> Mapping[str, str]:
        """The headers for the next request, names in lower case.

        Raises CredentialsError when there is nothing to say.
        """
        ...

    async def client_certificate(self) -> ClientCertificate | None:
        """A certificate for new connections, or None to leave it to the settings.

        When it is not equal to the one a connection was made with, that connection is out of
        date.
        """
        ...

    async def refused(self, sent: Mapping[str, str] | None = None, /) -> bool:
        """Hear that the server answered 401; True when asking once more makes sense.

        *sent* is what ``headers`` gave for the refused request.  It keeps many requests that
        were refused together from renewing the same credentials many times.
        """
        ...


def is_sendable(token: str) -> bool:
    """Whether *token* can stand in a header: visible ASCII, and something of it."""
    return _SENDABLE.fullmatch(token) is not None


def bearer(token: str) -> Mapping[str, str]:
    """The header that carries *token*."""
    return MappingProxyType({"authorization": f"Bearer {token}"})


class _Unchanging:
    """Headers that are the same for ever, so a refusal is final."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    async def headers(self) -> Mapping[str, str]:
        return self._headers

    async def client_certificate(self) -> ClientCertificate | None:
        return None

    async def refused(self, sent: Mapping[str, str] | None = None, /) -> bool:  # noqa: ARG002 - the protocol's shape
        return False


class NoCredentials(_Unchanging):
    """Says nothing: the client certificate of the settings speaks, or nobody does."""

    def __init__(self) -> None:
        super().__init__(NO_HEADERS)


class StaticToken(_Unchanging):
    """A bearer token that was written down.

    - *token*: the token
    """

    def __init__(self, token: str) -> None:
        super().__init__(bearer(token))


class BasicAuth(_Unchanging):
    """A user name and a password.

    - *username*: the user
    - *password*: its password
    """

    def __init__(self, username: str, password: str) -> None:
        pair = base64.b64encode(f"{username}:{password}".encode()).decode("ascii")
        super().__init__(MappingProxyType({"authorization": f"Basic {pair}"}))


class TokenFile:
    """A bearer token in a file that somebody else renews.

    The file is read again when it changed, and on every refusal.  While it is missing, empty or
    unreadable the last good token stays; *fallback* is the token until the first good read.

    - *path*: the file
    - *setting*: what errors call the file
    - *monotonic*: source of time, in seconds
    """

    def __init__(
        self,
        path: Path,
        *,
        setting: str = "token file",
        fallback: str = "",
        monotonic: Callable[[], float] = SYSTEM_CLOCK.monotonic,
    ) -> None:
        self._path = path
        self._setting = setting
        self._monotonic = monotonic
        self._headers = bearer(fallback) if fallback else NO_HEADERS
        self._looked_at: float | None = None
        self._seen: FileIdentity = ()
        self._complained = False

    def __repr__(self) -> str:
        return f"TokenFile({str(self._path)!r})"

    async def headers(self) -> Mapping[str, str]:
        """The token as the file has it, at most a second late."""
        moment = self._monotonic()
        is_due = self._looked_at is None or moment - self._looked_at >= LOOK_EVERY
        if is_due or not self._headers:
            self._look(even_if_unchanged=False)
            self._looked_at = moment
        return self._headers

    async def client_certificate(self) -> ClientCertificate | None:
        """None: a token file brings no certificate."""
        return None

    async def refused(self, sent: Mapping[str, str] | None = None, /) -> bool:
        """True when the file has a token other than the refused one by now."""
        before = self._headers if sent is None else sent
        self._look(even_if_unchanged=True)
        return dict(self._headers) != dict(before)

    def _look(self, *, even_if_unchanged: bool) -> None:
        try:
            # Looked at before it is read: a file replaced in between is only read twice.
            seen = file_identity(self._path)
            if seen == self._seen and not even_if_unchanged:
                return
            token = self._path.read_bytes().decode("ascii", "replace").strip()
        except OSError as error:
            self._keep_last(why_unreadable(error), error)
            return
        if not is_sendable(token):
            self._keep_last("holds no token" if not token else "holds something else than a token")
            return
        self._headers, self._seen, self._complained = bearer(token), seen, False

    def _keep_last(self, why: str, error: OSError | None = None) -> None:
        if not self._headers:
            raise CredentialsError(f"{self._setting}: {self._path}: {why}") from error
        if not self._complained:
            logger.warning(
                "%s: %s: %s; the last good token stays in use", self._setting, self._path, why
            )
            self._complained = True
