"""URLs as Go reads them, with its words for those that it cannot read.

Python's own reader takes nearly every text, so that what Go refuses would pass.

Upstream: net/url/url.go, Parse; net/ipsock.go, JoinHostPort
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from reflet.gotext.quoting import quoted

_SCHEME: Final = re.compile(r"([A-Za-z][-A-Za-z0-9+.]*)?:")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}")
# Of a host's name only bytes beyond ASCII, and a percent sign itself, may be escaped.
_BAD_ESCAPE_IN_HOST: Final = re.compile(r"%(?!25|[89A-Fa-f][0-9A-Fa-f]).{0,2}")
_NOT_IN_HOSTS: Final = re.compile(r"""[^-A-Za-z0-9._~!$&'()*+,;=:\[\]<>"%\x80-\U0010ffff]""")
_PORT: Final = re.compile(r"(:[0-9]*)?")
_USER: Final = re.compile(r"[-A-Za-z0-9._:~!$&'()*+,;=%@]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_PLAIN_IN_USERS: Final = "$&+,-.;=_~"


class MalformedUrl(ValueError):
    """A text is no URL; the message is Go's."""


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL; ``user`` is None where no user is named, the host has its port.

    The path is as it was written, escapes and all.
    """

    scheme: str = ""
    user: str | None = None
    host: str = ""
    query: str = ""
    fragment: str = ""
    path: str = ""


def join_host_port(host: str, port: int) -> str:
    """Host and port as one text, an address of IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_url(text: str) -> Url:
    """Read a URL, absolute or relative; MalformedUrl says why it is none."""
    address, _, fragment = text.partition("#")
    try:
        scheme, user, host, query, path = _parse(address)
    except MalformedUrl as wrong:
        raise MalformedUrl(f"parse {quoted(address)}: {wrong}") from None
    try:
        return Url(scheme, user, host, query, _unescaped(fragment), path)
    except MalformedUrl as wrong:
        raise MalformedUrl(f"parse {quoted(text)}: {wrong}") from None


def _parse(text: str) -> tuple[str, str | None, str, str, str]:
    if _CONTROL.search(text):
        raise MalformedUrl("net/url: invalid control character in URL")
    found = _SCHEME.match(text)
    if found is not None and found[1] is None:
        raise MalformedUrl("missing protocol scheme")
    scheme, rest = (found[1].lower(), text[found.end() :]) if found else ("", text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return scheme, None, "", query, ""
        if ":" in rest.partition("/")[0]:
            raise MalformedUrl("first path segment in URL cannot contain colon")
    user, host = None, ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        user, host = _authority(scheme, authority)
        rest = slash + path
    _unescaped(rest)
    return scheme, user, host, query, rest


def _authority(scheme: str, text: str) -> tuple[str | None, str]:
    name, at, rest = text.rpartition("@")
    host = _host(scheme, rest)
    if not at:
        return None, host
    if not _USER.fullmatch(name):
        raise MalformedUrl("net/url: invalid userinfo")
    parts = [quote(_unescaped(part), safe=_PLAIN_IN_USERS) for part in name.split(":", 1)]
    return ":".join(parts), host


def _host(scheme: str, text: str) -> str:
    bracket = text.rfind("[")
    if bracket > 0:
        raise MalformedUrl("invalid IP-literal")
    if bracket == 0:
        return _literal(text)
    # Only of the web is it certain that one colon is all there can be.
    _, colon, port = (text.partition if scheme in {"http", "https"} else text.rpartition)(":")
    _check_port(colon + port if colon else "")
    return _unescaped_host(text)


def _literal(text: str) -> str:
    end = text.rfind("]")
    if end < 0:
        raise MalformedUrl("missing ']' in host")
    _check_port(text[end + 1 :])
    name = _unescaped_host(text[1:end])
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        raise MalformedUrl(f"invalid host: ParseAddr({quoted(name)}): unable to parse IP") from None
    if address.version == 4:
        raise MalformedUrl("invalid IP-literal")
    return f"[{name}]{text[end + 1 :]}"


def _check_port(text: str) -> None:
    if not _PORT.fullmatch(text):
        raise MalformedUrl(f"invalid port {quoted(text)} after host")


def _unescaped_host(text: str) -> str:
    wrong = [
        found
        for found in (_BAD_ESCAPE_IN_HOST.search(text), _NOT_IN_HOSTS.search(text))
        if found is not None
    ]
    for found in sorted(wrong, key=lambda each: each.start()):
        if found[0].startswith("%"):
            raise MalformedUrl(f"invalid URL escape {quoted(found[0])}")
        raise MalformedUrl(f"invalid character {quoted(found[0])} in host name")
    return unquote(text)


def _unescaped(text: str) -> str:
    found = _BAD_ESCAPE.search(text)
    if found is not None:
        raise MalformedUrl(f"invalid URL escape {quoted(found[0])}")
    return unquote(text)
