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
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.quoting import quoted

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

BAD_ADDRESS: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
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
    if text not in known:
        errors.each_invalid(path, text, _wrong_address(text))


def _wrong_address(text: str) -> list[str]:
    if lenient_address(text) is None:
        return [BAD_ADDRESS]
    address = _address(text)
    if address is None:
        return ["must not have leading 0s"]
    return ["must not be an IPv4-mapped IPv6 address"] if _is_mapped(address) else []


def canonical_address(text: str) -> list[str]:
    """Say what is wrong with an address that must be written in the one usual way."""
    wrong = _wrong_address(text)
    if not wrong and str(_address(text)) != text:
        wrong.append(f"must be in canonical form ({quoted(str(_address(text)))})")
    return wrong


def check_canonical_network(text: str, path: str, errors: FieldErrors) -> None:
    """Check a network that must be written in the one usual way."""
    before = len(errors)
    check_network(text, path, errors)
    network = lenient_network(text)
    if len(errors) == before and str(network) != text:
        errors.invalid(path, text, f"must be in canonical form ({quoted(str(network))})")


def check_interface_address(text: str, path: str, errors: FieldErrors) -> None:
    """Check an address with the length of its network, written in the one usual way."""
    network, address = lenient_network(text), lenient_address(text.partition("/")[0])
    if network is None or address is None:
        said = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        errors.invalid(path, text, said)
    elif text != f"{address}/{network.prefixlen}":
        said = f"must be in canonical form ({quoted(f'{address}/{network.prefixlen}')})"
        errors.invalid(path, text, said)


def check_endpoint_address(text: str, path: str, errors: FieldErrors) -> None:
    """Check that a good address is one that others can reach."""
    address = lenient_address(text)
    if address is None:
        errors.invalid(path, text, "must be a valid IP address")
        return
    if address.is_unspecified:
        errors.invalid(path, text, f"may not be unspecified ({text})")
    if address.is_loopback:
        said = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
        errors.invalid(path, text, said)
    if address.is_link_local:
        said = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        errors.invalid(path, text, said)
    first, second, third = address.packed[:3]
    if (address.version == 4 and (first, second, third) == (224, 0, 0)) or (
        first == 0xFF and second & 0x0F == 0x02
    ):
        said = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        errors.invalid(path, text, said)


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
