"""Who may stay connected when there is not room for everybody.

How many connections a port has, how many of them one peer, and who goes when another comes.  It
decides and knows no sockets.

A peer is an address, and one with IPv6 is its network of 64 bits, since whoever has one address
there has them all.  Whoever finds the port full takes the place of the oldest connection that has
not asked anything yet: first of its own peer, else of the peer that has the most.  So a flood of
silent connections passes through its own share, and a probe from the same address still gets
through, because it asks as soon as it is connected and then can no longer be sent away.  When all
have asked, whoever comes is turned away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final

IPV6_NETWORK: Final = 64


@dataclass(slots=True, eq=False)
class ConnectionPlace:
    """What one connection takes; *dismiss* ends it."""

    peer: str
    dismiss: Callable[[], object] = lambda: None
    has_asked: bool = False


class ConnectionPlaces:
    """The places of one port, half of them for any one peer.

    Half, and not less: an API server asks for everybody's logs from one address.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._most_of_peer = max(1, most // 2)
        self._taken: dict[ConnectionPlace, None] = {}  # in the order in which they came
        self._of_peer: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, place: ConnectionPlace) -> bool:
        """Let somebody in, another one out if need be; False when there is no room."""
        if self._count(place.peer) >= self._most_of_peer:
            may_go = [each for each in self._silent() if each.peer == place.peer]
        elif len(self._taken) >= self._most:
            may_go = self._silent()
        else:
            self._enter(place)
            return True
        if not may_go:
            return False
        # Of those with the same count it is the first, who came before the others.
        leaves = max(may_go, key=lambda each: self._count(each.peer))
        self.leave(leaves)
        leaves.dismiss()
        self._enter(place)
        return True

    def leave(self, place: ConnectionPlace) -> None:
        """Free a place; one that was sent away has none any more."""
        if place not in self._taken:
            return
        del self._taken[place]
        self._of_peer[place.peer] -= 1
        if not self._of_peer[place.peer]:
            del self._of_peer[place.peer]

    def _enter(self, place: ConnectionPlace) -> None:
        self._taken[place] = None
        self._of_peer[place.peer] += 1

    def _silent(self) -> list[ConnectionPlace]:
        return [each for each in self._taken if not each.has_asked]

    def _count(self, peer: str) -> int:
        return self._of_peer.get(peer, 0)


def peer_of(address: str) -> str:
    """Whom a connection from an address is counted for."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    if found.is_loopback:
        return str(found)
    return f"{IPv6Address(int(found) >> IPV6_NETWORK << IPV6_NETWORK)}/{IPV6_NETWORK}"
