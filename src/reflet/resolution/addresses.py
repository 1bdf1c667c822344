"""IP addresses as the kubelet reads and writes them.

Owns: reading leniently (zeros in front of IPv4 numbers) and the one way of writing.
Must not know whose addresses they are.
"""

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

Address = IPv4Address | IPv6Address
"""Either family; an IPv4 address inside an IPv6 one counts as IPv4."""

_FOUR_NUMBERS: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+", re.ASCII)
_LONGEST: Final = 255  # characters; no address is longer, zeros in front included


def parse_address(text: str) -> Address | None:
    """Return the address, or ``None`` for text that is none."""
    if len(text) > _LONGEST or "%" in text or "/" in text:
        return None
    head, colon, tail = text.rpartition(":")
    if _FOUR_NUMBERS.fullmatch(tail):
        tail = ".".join(str(int(number)) for number in tail.split("."))
    try:
        if not colon:
            return IPv4Address(tail)
        address = IPv6Address(f"{head}:{tail}")
    except AddressValueError:
        return None
    return address.ipv4_mapped or address


def one_of_each_family(texts: Iterable[str], *, first: int = 4) -> tuple[str, ...]:
    """Return the first address of family ``first`` and the first of the other, rewritten."""
    found: dict[int, str] = {}
    for text in texts:
        address = parse_address(text)
        if address is not None:
            found.setdefault(address.version, str(address))
    return tuple(found[version] for version in (first, 10 - first) if version in found)
