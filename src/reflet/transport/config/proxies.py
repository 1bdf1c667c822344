"""Which proxy the environment asks for: ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY``.

Pure: the environment comes in as a mapping.

Upstream: golang.org/x/net/http/httpproxy/proxy.go, which net/http.ProxyFromEnvironment calls
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit


def proxy_for(server: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The variable that names a proxy for *server*, and its value; two empty texts for none.

    Upper case names win over lower case ones.  Loopback is never reached through a proxy.
    """
    parts = urlsplit(server)
    host = (parts.hostname or "").lower()
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if _is_loopback(host) or _is_excepted(host, port, environ):
        return "", ""
    for name in (f"{parts.scheme.upper()}_PROXY", f"{parts.scheme}_proxy"):
        # A CGI program gets the client's "Proxy:" header as HTTP_PROXY.
        if name == "HTTP_PROXY" and "REQUEST_METHOD" in environ:
            continue
        if value := environ.get(name, "").strip():
            return name, value if "://" in value else f"http://{value}"
    return "", ""


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _is_excepted(host: str, port: int, environ: Mapping[str, str]) -> bool:
    exceptions = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    return any(
        _matches(exception, host, port)
        for exception in (part.strip().lower() for part in exceptions.split(","))
        if exception
    )


def _matches(exception: str, host: str, port: int) -> bool:
    """One entry of NO_PROXY: ``*``, an address, a network, a host or a domain, with a port or not.

    ``example.com`` means itself and everything below it, ``.example.com`` only what is below.
    """
    if exception == "*":
        return True
    address = _address(host)
    if "/" in exception:
        try:
            return address is not None and address in ipaddress.ip_network(exception, strict=False)
        except ValueError:
            return False
    name, colon, digits = exception.rpartition(":")
    if colon and digits.isdecimal() and _address(exception) is None:
        if int(digits) != port:
            return False
    else:
        name = exception
    excepted_address = _address(name.strip("[]"))
    if address is not None or excepted_address is not None:
        return address == excepted_address
    suffix = name.removeprefix("*").removeprefix(".")
    is_below = host.endswith(f".{suffix}")
    return is_below or (host == suffix and not name.startswith((".", "*.")))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
