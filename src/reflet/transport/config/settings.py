"""Everything it takes to reach one API server, as one frozen value, and the TLS context of it.

Made by ``kubeconfig`` or ``in_cluster``, or by hand.

Upstream: client-go/rest/config.go, Config; client-go/transport/transport.go, TLSConfigFor
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from reflet.errors import ConfigurationError
from reflet.gotext.durations import LONGEST_DURATION, parse_duration
from reflet.runtime.clock import SystemClock
from reflet.transport.auth.certificates import ClientCertificate, Pem, present, trust
from reflet.transport.auth.credentials import Credentials, NoCredentials
from reflet.transport.rate_limit import DEFAULT_BURST, DEFAULT_QPS

if TYPE_CHECKING:
    # At run time only where a context is made: ssl costs more to import than the rest together.
    import ssl

SYSTEM_CLOCK: Final = SystemClock()

_HEADER_NAME_CHARACTERS: Final = frozenset(
    b"!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """The user to act as; the server checks that we may.

    - *user*, *uid*, *groups*, *extra*: what the server takes the request for; empty is left out
    """

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that say so, names in lower case; a name comes once for each value."""
        pairs = [("impersonate-user", self.user)]
        if self.uid:
            pairs.append(("impersonate-uid", self.uid))
        pairs += (("impersonate-group", group) for group in self.groups)
        for key, values in self.extra.items():
            name = f"impersonate-extra-{_escaped(key)}"
            pairs += ((name, value) for value in values)
        return tuple(pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """Where the server is, how to trust it, who we are, and how hard we may press it.

    No secret is in the repr.

    - *server*: URL without a slash at its end; its path, if any, goes before every API path
    - *namespace*: used where a call names none
    - *certificate_authority*: CAs to trust; None is the system's authorities
    - *tls_server_name*: replaces the host name of *server* in SNI and in the check of the
      certificate; empty does not
    - *insecure*: whether to accept any certificate
    - *proxy_url*: http or https, and perhaps a password; empty is no proxy
    - *disable_compression*: whether to ask for answers without gzip
    - *client_certificate*: shown to the server; None shows none
    - *credentials*: what goes into the Authorization header
    - *impersonation*: the user to act as; None is oneself
    - *request_timeout*: seconds for one answer; None waits for ever
    - *qps*: requests a second, after the first *burst*; streams do not count
    - *burst*: requests that may be sent at once
    - *user_agent_extra*: goes into the brackets of the User-Agent header
    """

    server: str
    namespace: str = "default"
    certificate_authority: Pem | None = None
    tls_server_name: str = ""
    insecure: bool = False
    proxy_url: str = field(default="", repr=False)  # it may hold a password
    disable_compression: bool = False
    client_certificate: ClientCertificate | None = None
    credentials: Credentials = field(default_factory=NoCredentials)
    impersonation: Impersonation | None = None
    request_timeout: float | None = None
    qps: float = DEFAULT_QPS
    burst: int = DEFAULT_BURST
    user_agent_extra: str = ""


def ssl_context(
    settings: ConnectionSettings,
    *,
    client_certificate: ClientCertificate | None = None,
    now: Callable[[], datetime] = SYSTEM_CLOCK.now,
) -> ssl.SSLContext:
    """A new TLS context for *settings*, with what their files hold now.

    *client_certificate* is the one that the credentials brought; it wins over the settings'.
    Raises ConfigurationError that names the setting when a certificate or key is of no use.
    """
    import ssl  # noqa: PLC0415 - lazily, see above

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # As kubectl trusts: any certificate that was given ends the chain, self-signed or not, and a
    # host name in the subject's common name counts for nothing.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.hostname_checks_common_name = False
    if settings.insecure:
        if settings.certificate_authority is not None:
            raise ConfigurationError(
                f"{settings.certificate_authority.setting} is set together with "
                "insecure-skip-tls-verify: remove one of them"
            )
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif settings.certificate_authority is not None:
        trust(context, settings.certificate_authority)
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    shown = client_certificate or settings.client_certificate
    if shown is not None:
        present(context, shown, now=now)
    return context


def checked_server(text: str, setting: str) -> str:
    """*text* as ``ConnectionSettings.server`` wants it; ConfigurationError begins with *setting*.

    Without a scheme it means plain HTTP, as for kubectl; query and fragment are dropped.
    """
    if "://" not in text:
        text = f"http://{text}"
    parts = _url_parts(text, setting)
    if parts.scheme not in ("http", "https"):
        raise ConfigurationError(f"{setting}: {parts.scheme!r} is not http or https")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            f"{setting}: a user name or password in the address is not supported: "
            "use username and password of the user"
        )
    return parts._replace(path=parts.path.rstrip("/"), query="", fragment="").geturl()


def checked_proxy(text: str, setting: str) -> str:
    """*text* when it is the address of an HTTP proxy; ConfigurationError begins with *setting*."""
    parts = _url_parts(text, setting)
    if parts.scheme not in ("http", "https"):
        raise ConfigurationError(
            f"{setting}: {parts.scheme!r} is not supported: use an http or https proxy"
        )
    return text


def parse_request_timeout(text: str, *, setting: str = "request_timeout") -> float | None:
    """Seconds for a limit of requests: ``30``, ``10s``, ``1m30s``; None for ``0``, no limit."""
    if text.isascii() and text.removeprefix("+").isdecimal():
        return float(text) or None
    try:
        return parse_duration(text) or None
    except ValueError:
        shown = text if text.isprintable() else ascii(text)
        raise ConfigurationError(
            f"{setting} {shown[:LONGEST_DURATION]}: not a time: write seconds (30) or a "
            "unit (10s, 5m, 1h), 0 for no limit"
        ) from None


def _url_parts(text: str, setting: str) -> SplitResult:
    # The address may hold a password, so errors do not repeat it.
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ConfigurationError(f"{setting}: not a URL: check host and port") from error
    if not parts.hostname or port == 0 or re.search(r"[\s\x00-\x1f\x7f]", parts.netloc):
        raise ConfigurationError(f"{setting}: not a URL with a host, like https://10.0.0.1:6443")
    return parts


def _escaped(key: str) -> str:
    """*key* as a part of a header name: what may not stand in one becomes ``%XX``."""
    return "".join(
        chr(byte) if byte in _HEADER_NAME_CHARACTERS else f"%{byte:02X}" for byte in key.encode()
    ).lower()
