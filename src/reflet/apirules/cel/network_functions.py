"""Functions of URLs, addresses and networks.

Upstream: apiserver/pkg/cel/library/urls.go, ip.go and cidr.go; net/url/url.go; net/netip/netip.go
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl, quote

from reflet.apirules.cel.signatures import declare, signature
from reflet.apirules.cel.values import Dictionary, EvaluationError, name_kind
from reflet.gotext.quoting import quoted
from reflet.gotext.urls import MalformedUrl, Url, parse_url

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Interface | ipaddress.IPv6Interface

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|:|[^/]*[\x00-\x1f\x7f]")
_HOST: Final = re.compile(r"(?P<name>\[.*\]|[^:]*)(?::(?P<port>[0-9]*))?")
_PREFIX: Final = re.compile(r"(?P<address>[^/%]+)/(?P<bits>0|[1-9][0-9]{0,2})")
_PATH_CHARACTERS: Final = "!$&'()*+,;=:@/[]~%"


name_kind(Url, "url")
name_kind(ipaddress.IPv4Address, "ip")
name_kind(ipaddress.IPv6Address, "ip")
name_kind(ipaddress.IPv4Interface, "cidr")
name_kind(ipaddress.IPv6Interface, "cidr")


def read_url(text: str) -> Url:
    """Read a URL that is absolute.  Raises MalformedUrl."""
    if not text or not (text.startswith("/") or _SCHEME.match(text)):
        why = "invalid URI for request" if text else "empty url"
        raise MalformedUrl(f"parse {quoted(text)}: {why}")
    return parse_url(text)


@signature("url(string) url")
def _as_url(text: str) -> Url:
    try:
        return read_url(text)
    except ValueError as error:
        said = f"URL parse error during conversion from string: {error}"
        raise EvaluationError(said) from None


@signature("isURL(string) bool")
def _is_url(text: str) -> bool:
    return _is_readable(read_url, text)


def _is_readable(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _host_part(name: str) -> Callable[[Url], str]:
    def run(url: Url) -> str:
        found = _HOST.fullmatch(url.host)
        return (found[name] or "") if found else ""

    return run


declare("url::getScheme() string", lambda url: url.scheme)
declare("url::getHost() string", lambda url: url.host)
declare("url::getHostname() string", lambda url: _host_part("name")(url).strip("[]"))
declare("url::getPort() string", _host_part("port"))
declare("url::getEscapedPath() string", lambda url: quote(url.path, safe=_PATH_CHARACTERS))


@signature("url::getQuery() map(string, list(string))")
def _query(url: Url) -> Dictionary:
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(url.query, keep_blank_values=True):
        found.setdefault(name, []).append(value)
    return Dictionary(found.items())


def read_address(text: str) -> Address:
    """Read an address.  Raises ValueError."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        why = f"ParseAddr({quoted(text)}): unable to parse IP"
        said = f"IP Address {quoted(text)} parse error during conversion from string: {why}"
        raise ValueError(said) from None
    if "%" in text:
        raise ValueError(f"IP address {quoted(text)} with zone value is not allowed")
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise ValueError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return address


def read_network(text: str) -> Network:
    """Read a network, written as an address in it.  Raises ValueError."""
    found = _PREFIX.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        network = ipaddress.ip_interface(text)
    except ValueError:
        why = f"netip.ParsePrefix({quoted(text)}): no '/'"
        said = f"network address parse error during conversion from string: {why}"
        raise ValueError(said) from None
    if isinstance(network, ipaddress.IPv6Interface) and network.ip.ipv4_mapped is not None:
        raise ValueError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return network


@signature("ip(string) ip")
def _as_address(text: str) -> Address:
    try:
        return read_address(text)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


@signature("cidr(string) cidr")
def _as_network(text: str) -> Network:
    try:
        return read_network(text)
    except ValueError as error:
        said = f"network address parse error during conversion from string: {error}"
        raise EvaluationError(said) from None


def _is_global(address: Address) -> bool:
    others = (address.is_unspecified, address.is_loopback, address.is_multicast)
    is_broadcast = address == ipaddress.IPv4Address("255.255.255.255")
    return not (any(others) or address.is_link_local or is_broadcast)


def _is_link_local_multicast(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address in ipaddress.IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


declare("isIP(string) bool", lambda text: _is_readable(read_address, text))
declare("ip.isCanonical(string) bool", lambda text: str(_as_address(text)) == text)
declare("ip::family() int", lambda address: address.version)
declare("ip::isUnspecified() bool", lambda address: address.is_unspecified)
declare("ip::isLoopback() bool", lambda address: address.is_loopback)
declare("ip::isLinkLocalMulticast() bool", _is_link_local_multicast)
declare("ip::isLinkLocalUnicast() bool", lambda address: address.is_link_local)
declare("ip::isGlobalUnicast() bool", _is_global)
declare("string(ip) string", str)
declare("isCIDR(string) bool", lambda text: _is_readable(read_network, text))
declare("cidr::ip() ip", lambda network: network.ip)
declare("cidr::prefixLength() int", lambda network: network.network.prefixlen)
declare(
    "cidr::masked() cidr",
    lambda network: ipaddress.ip_interface(network.network.with_prefixlen),
)
declare("string(cidr) string", str)


@signature("cidr::containsIP(ip) bool")
def _contains_address(network: Network, address: Address) -> bool:
    return address in network.network


@signature("cidr::containsIP(string) bool")
def _contains_text(network: Network, text: str) -> bool:
    return _contains_address(network, _as_address(text))


@signature("cidr::containsCIDR(cidr) bool")
def _contains_network(network: Network, inner: Network) -> bool:
    if network.version != inner.version:
        return False
    same = network.network.prefixlen <= inner.network.prefixlen
    return same and inner.network.network_address in network.network


@signature("cidr::containsCIDR(string) bool")
def _contains_network_text(network: Network, text: str) -> bool:
    return _contains_network(network, _as_network(text))
