"""The rules of addresses and networks in fields that are older than strict rules for them.

Such fields are read leniently first, leading zeros and all, and then told what is wrong with that;
what an object had before is never asked again.

Upstream: apimachinery/pkg/util/validation/ip.go
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from typing import Final

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.pods import BAD_ADDRESS
from reflet.gotext.lazy_patterns import lazy_pattern

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

BAD_NETWORK: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_LEADING_ZEROS: Final = lazy_pattern("(?<![0-9A-Fa-f])0+(?=[0-9A-Fa-f])")
_LENGTH: Final = lazy_pattern("0*([0-9]{1,3})")


def lenient_address(text: str) -> Address | None:
    """Read an address, whose numbers may begin with zeros."""
    return _address(_LEADING_ZEROS.sub("", text))


def _address(text: str) -> Address | None:
    try:
        return None if "%" in text else ipaddress.ip_address(text)
    except ValueError:
        return None


def lenient_network(text: str) -> Network | None:
    """Read a network, which may be written as an address inside it."""
    start, slash, length = text.partition("/")
    address = lenient_address(start)
    bits = _LENGTH.fullmatch(length)
    if address is None or not slash or bits is None or int(bits[1]) > address.max_prefixlen:
        return None
    return ipaddress.ip_network((address, int(bits[1])), strict=False)


def check_strict_address(
    text: str, path: str, errors: FieldErrors, *, known: Collection[str] = ()
) -> None:
    """Check an address, unless it is one of those that the object had before."""
    if text in known:
        return
    if lenient_address(text) is None:
        errors.invalid(path, text, BAD_ADDRESS)
        return
    address = _address(text)
    if address is None:
        errors.invalid(path, text, "must not have leading 0s")
    elif _is_mapped(address):
        errors.invalid(path, text, "must not be an IPv4-mapped IPv6 address")


def check_network(
    text: str, path: str, errors: FieldErrors, *, known: Collection[str] = ()
) -> None:
    """Check a network, unless it is one of those that the object had before."""
    if text in known:
        return
    network = lenient_network(text)
    if network is None:
        errors.invalid(path, text, BAD_NETWORK)
        return
    start, _, length = text.partition("/")
    address = _address(start)
    if address is None or str(network.prefixlen) != length:
        errors.invalid(path, text, "must not have leading 0s in IP or prefix length")
    elif _is_mapped(address):
        errors.invalid(path, text, "must not have an IPv4-mapped IPv6 address")
    elif address != network.network_address:
        errors.invalid(path, text, "must not have bits set beyond the prefix length")


def is_inside(inner: Network, outer: Network) -> bool:
    """Whether a network is a part of another one, and not all of it."""
    return (
        inner.version == outer.version
        and inner.network_address in outer
        and inner.prefixlen > outer.prefixlen
    )


def _is_mapped(address: Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None
