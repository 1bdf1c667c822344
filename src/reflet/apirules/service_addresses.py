"""The addresses and ports that services get.

Owns: which cluster addresses and node ports are taken, and choosing free ones.  Choosing takes
nothing: what was chosen counts as taken when the stored service is noted, so a dry run or a
refused write leaves no trace.  Must not know how a service is validated.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, final

DEFAULT_NETWORK: Final = "10.96.0.0/16"
NODE_PORTS: Final = range(30000, 32768)

Chance = Callable[[int], int]  # a number below the one given


class AddressesExhausted(Exception):
    """Every address of the network, or every node port, is taken."""


@final
class ServiceAddresses:
    """Cluster addresses and node ports in use."""

    def __init__(self, network: str = DEFAULT_NETWORK) -> None:
        self._network = ipaddress.ip_network(network)
        self._addresses: set[str] = set()
        self._ports: set[int] = set()

    @property
    def kubernetes_address(self) -> str:
        """The first address of the network, which the service ``kubernetes`` has."""
        return str(self._network[1])

    def note(self, service: Mapping[str, Any]) -> None:
        """Count a stored service's addresses and ports as taken."""
        self._addresses.update(_addresses_of(service))
        self._ports.update(_ports_of(service))

    def forget(self, service: Mapping[str, Any]) -> None:
        """Free a deleted or replaced service's addresses and ports."""
        self._addresses.difference_update(_addresses_of(service))
        self._ports.difference_update(_ports_of(service))

    def is_taken(self, address: str) -> bool:
        """Whether another service has this address."""
        return address in self._addresses

    def is_port_taken(self, port: int) -> bool:
        """Whether another service has this node port."""
        return port in self._ports

    def serves(self, address: str) -> bool:
        """Whether an address is one that services can have."""
        try:
            asked = ipaddress.ip_address(address)
        except ValueError:
            return False
        return asked in self._network

    @property
    def network(self) -> str:
        """The network of all addresses."""
        return str(self._network)

    def choose_address(self, chance: Chance) -> str:
        """Choose a free address; nothing is taken by it."""
        usable = self._network.num_addresses - 2
        start = chance(usable)
        for step in range(usable):
            address = str(self._network[1 + (start + step) % usable])
            if address not in self._addresses:
                return address
        raise AddressesExhausted("range is full")

    def choose_port(self, chance: Chance, besides: Iterable[int] = ()) -> int:
        """Choose a free node port, none of ``besides``; nothing is taken by it."""
        taken = self._ports | set(besides)
        start = chance(len(NODE_PORTS))
        for step in range(len(NODE_PORTS)):
            port = NODE_PORTS[(start + step) % len(NODE_PORTS)]
            if port not in taken:
                return port
        raise AddressesExhausted("range is full")


def _addresses_of(service: Mapping[str, Any]) -> set[str]:
    return {address for address in service["spec"].get("clusterIPs", ()) if address != "None"}


def _ports_of(service: Mapping[str, Any]) -> set[int]:
    ports = {port.get("nodePort", 0) for port in service["spec"].get("ports") or ()}
    return (ports | {service["spec"].get("healthCheckNodePort", 0)}) - {0}
