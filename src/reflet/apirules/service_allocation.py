"""What services get and keep: cluster IPs, node ports, address families.

Choosing takes nothing: what was chosen counts as taken when the stored service is noted, so a dry
run or a refused write leaves no trace.  Malformed addresses are validation's to refuse; here those
are refused that cannot be had.

Upstream: pkg/registry/core/service/storage/alloc.go; pkg/registry/core/service/ipallocator and
portallocator
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Protocol, final

from reflet.apirules import refusals
from reflet.apirules.validation.field_errors import FieldErrors

DEFAULT_NETWORK: Final = "10.96.0.0/16"
NODE_PORTS: Final = range(30000, 32768)

Chance = Callable[[int], int]  # a number below the one given
Document = dict[str, Any]
HEADLESS: Final = "None"


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


class Outside(Protocol):
    """What rules need from the outside world: free addresses, chance, ids, the time, who asks."""

    @property
    def addresses(self) -> ServiceAddresses:
        """Addresses and ports that are free."""

    @property
    def now(self) -> datetime:
        """The time."""

    @property
    def requester(self) -> Mapping[str, Any]:
        """Who asks, as reviews describe a user."""

    def chance(self, below: int, /) -> int:
        """Give a number below the one given."""

    def new_uid(self) -> str:
        """Give an id that nobody has."""


def prepare_service(document: Document, outside: Outside) -> None:
    """Give a new service its addresses, families and ports."""
    spec = document["spec"]
    document["status"] = {"loadBalancer": {}}
    if spec["type"] == "ExternalName":
        return
    _check_wanted(document, {}, outside)
    _settle_addresses(spec, outside)
    _settle_ports(spec, outside)


def prepare_service_update(old: Document, document: Document, outside: Outside) -> None:
    """Keep what an update leaves out of addresses and ports, and add what it newly needs."""
    spec, before = document["spec"], old["spec"]
    if spec["type"] == "ExternalName":
        if before["type"] != "ExternalName":
            _drop_addresses(spec, before)
            _keep_ports(spec, before)
        return
    if before["type"] != "ExternalName":
        # Clients that know only clusterIP send it alone; it says then what is meant.
        if not spec.get("clusterIP") and not spec.get("clusterIPs"):
            for name in ("clusterIP", "clusterIPs"):
                if name in before:
                    spec[name] = before[name]
        elif (
            spec.get("clusterIP")
            and spec["clusterIP"] != before.get("clusterIP")
            and spec.get("clusterIPs") == before.get("clusterIPs")
        ):
            spec["clusterIPs"] = [spec["clusterIP"]]
        for name in ("ipFamilies", "ipFamilyPolicy"):
            if name in before:
                spec.setdefault(name, before[name])
        _keep_ports(spec, before)
    _check_wanted(document, before, outside)
    _settle_addresses(spec, outside)
    _settle_ports(spec, outside)


def _check_wanted(document: Document, before: Document, outside: Outside) -> None:
    """Refuse addresses and ports that cannot be had; malformed ones are validation's."""
    spec, addresses = document["spec"], outside.addresses
    wanted = spec.get("clusterIPs") or [spec.get("clusterIP") or HEADLESS]
    errors = FieldErrors()
    for address in wanted:
        if address == HEADLESS or address in before.get("clusterIPs", ()):
            continue
        if not before and _is_address(address) and not addresses.serves(address):
            errors.invalid(
                "spec.clusterIPs",
                wanted,
                f"failed to allocate IP {address}: the provided IP ({address}) is not in the valid "
                f"range. The range of valid IPs is {addresses.network}",
            )
        elif not before and addresses.is_taken(address):
            said = f"failed to allocate IP {address}: provided IP is already allocated"
            errors.invalid("spec.clusterIPs", wanted, said)
    kept = {port.get("nodePort") for port in before.get("ports") or ()}
    if spec["type"] in {"NodePort", "LoadBalancer"}:
        for index, port in enumerate(spec.get("ports") or ()):
            number, path = port.get("nodePort"), f"spec.ports[{index}].nodePort"
            if not number or number in kept:
                continue
            if number not in NODE_PORTS:
                said = (
                    "provided port is not in the valid range. The range of valid ports is "
                    f"{NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
                )
                errors.invalid(path, number, said)
            elif addresses.is_port_taken(number):
                errors.invalid(path, number, "provided port is already allocated")
    if errors:
        name = document["metadata"].get("name", "")
        raise refusals.invalid("Service", name, errors.causes)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _settle_addresses(spec: Document, outside: Outside) -> None:
    address, addresses = spec.get("clusterIP"), spec.get("clusterIPs")
    if addresses and not address:
        spec["clusterIP"] = addresses[0]
    elif address and not addresses:
        spec["clusterIPs"] = [address]
    headless = spec.get("clusterIP") == HEADLESS
    if headless and not spec.get("selector"):
        # Its endpoints are somebody else's business, and may be of both families.
        spec.setdefault("ipFamilyPolicy", "RequireDualStack")
        spec.setdefault("ipFamilies", ["IPv4", "IPv6"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    spec.setdefault("ipFamilies", ["IPv4"])
    if not spec.get("clusterIP"):
        chosen = outside.addresses.choose_address(outside.chance)
        spec["clusterIP"], spec["clusterIPs"] = chosen, [chosen]


def _settle_ports(spec: Document, outside: Outside) -> None:
    needed = spec["type"] == "NodePort" or (
        spec["type"] == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)
    )
    ports = spec.get("ports") or ()
    if needed:
        taken = {port["nodePort"] for port in ports if port.get("nodePort")}
        for port in ports:
            if not port.get("nodePort"):
                port["nodePort"] = outside.addresses.choose_port(outside.chance, taken)
                taken.add(port["nodePort"])
    local = spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    if local and not spec.get("healthCheckNodePort"):
        taken = {port["nodePort"] for port in ports if port.get("nodePort")}
        spec["healthCheckNodePort"] = outside.addresses.choose_port(outside.chance, taken)


def _keep_ports(spec: Document, before: Document) -> None:
    if before["type"] == "LoadBalancer" and spec["type"] != "LoadBalancer":
        for name in ("allocateLoadBalancerNodePorts", "healthCheckNodePort", "loadBalancerClass"):
            if spec.get(name) == before.get(name):
                spec.pop(name, None)
    if spec["type"] not in {"NodePort", "LoadBalancer"}:
        if before["type"] in {"NodePort", "LoadBalancer"}:
            known = {port.get("nodePort") for port in before.get("ports") or ()}
            for port in spec.get("ports") or ():
                if port.get("nodePort") in known:
                    # Neither the old port nor the new one need have a number.
                    port.pop("nodePort", None)
            if spec.get("externalTrafficPolicy") == before.get("externalTrafficPolicy"):
                spec.pop("externalTrafficPolicy", None)
        return
    known_ports = {
        (port["protocol"], port["port"]): port["nodePort"]
        for port in before.get("ports") or ()
        if port.get("nodePort")
    }
    asked = {port.get("nodePort") for port in spec.get("ports") or ()}
    for port in spec.get("ports") or ():
        kept = known_ports.get((port["protocol"], port["port"]))
        if not port.get("nodePort") and kept is not None and kept not in asked:
            port["nodePort"] = kept


def _drop_addresses(spec: Document, before: Document) -> None:
    for name in (
        *("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"),
        "internalTrafficPolicy",
    ):
        if spec.get(name) == before.get(name):
            spec.pop(name, None)
