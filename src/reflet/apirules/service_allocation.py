"""What services get and keep: cluster IPs, node ports, address families.

Choosing takes nothing: what was chosen counts as taken when the stored service is noted, so a dry
run or a refused write leaves no trace.  Addresses and families that are malformed or cannot
be had are refused here, before anything else is looked at.

Upstream: pkg/registry/core/service/storage/{alloc,storage}.go; pkg/registry/core/service/
strategy.go, dropTypeDependentFields; pkg/registry/core/service/ipallocator and portallocator
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Protocol, final

from reflet.apirules import refusals
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.service_families import (
    FAMILIES,
    check_cluster_addresses,
    check_families_served,
)

DEFAULT_NETWORK: Final = "10.96.0.0/16"
NODE_PORTS: Final = range(30000, 32768)

Chance = Callable[[int], int]  # a number below the one given
Document = dict[str, Any]
HEADLESS: Final = "None"


class AddressesExhausted(Exception):
    """Every address of the network, or every node port, is taken."""


@final
class ServiceAddresses:
    """Cluster addresses and node ports in use.

    ``of_any_cluster``: which families and addresses there are is not known, so that none is wrong.
    """

    def __init__(self, network: str = DEFAULT_NETWORK, *, of_any_cluster: bool = False) -> None:
        self._network = ipaddress.ip_network(network)
        self._of_any_cluster = of_any_cluster
        self._addresses: set[str] = set()
        self._ports: set[int] = set()

    @property
    def kubernetes_address(self) -> str:
        """The first address of the network, which the service ``kubernetes`` has."""
        return str(self._network[1])

    @property
    def family(self) -> str:
        """The family of all addresses: ``IPv4`` or ``IPv6``."""
        return f"IPv{self._network.version}"

    @property
    def families(self) -> tuple[str, ...]:
        """The families that a service may ask for."""
        return FAMILIES if self._of_any_cluster else (self.family,)

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
        return self._of_any_cluster or asked in self._network

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
    _settle_plural(spec, {})
    if spec["type"] == "ExternalName":
        return
    _check_families(document, {}, outside)
    _check_wanted(document, {}, outside)
    _settle_addresses(spec, outside)
    _settle_ports(spec, outside)


def prepare_service_update(old: Document, document: Document, outside: Outside) -> None:
    """Keep what an update leaves out of addresses and ports, and add what it newly needs.

    What the new type has no use for goes, unless the update changes it, which is then refused.
    """
    spec, before = document["spec"], old["spec"]
    if _needs_address(spec) and _needs_address(before):
        for name in ("clusterIP", "clusterIPs", "ipFamilies"):
            if before.get(name) and not spec.get(name):
                spec[name] = before[name]
        # A policy that is empty was given, and is refused; one that is not given is kept.
        if spec.get("ipFamilyPolicy") is None and before.get("ipFamilyPolicy"):
            spec["ipFamilyPolicy"] = before["ipFamilyPolicy"]
    _keep_ports(spec, before)
    _settle_plural(spec, before)
    if _needs_address(spec):
        _release_second(spec, before)
        _check_families(document, before, outside)
        _check_wanted(document, before, outside)
        _settle_addresses(spec, outside)
        _settle_ports(spec, outside)
    _drop_by_type(document, before)


def _needs_address(spec: Document) -> bool:
    return bool(spec["type"] != "ExternalName")


def _needs_ports(spec: Document) -> bool:
    return spec["type"] in {"NodePort", "LoadBalancer"}


def _is_given_ports(spec: Document) -> bool:
    allocates = spec.get("allocateLoadBalancerNodePorts", True)
    return spec["type"] == "NodePort" or bool(spec["type"] == "LoadBalancer" and allocates)


def _needs_health_check(spec: Document) -> bool:
    return spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _is_open_to_outside(spec: Document) -> bool:
    return _needs_ports(spec) or (spec["type"] == "ClusterIP" and bool(spec.get("externalIPs")))


def _settle_plural(spec: Document, before: Document) -> None:
    """Let one address say what the list of them means: some clients know only ``clusterIP``."""
    address, earlier = spec.get("clusterIP") or "", before.get("clusterIP") or ""
    known = before.get("clusterIPs") or []
    if known and not spec.get("clusterIPs") and address == earlier:
        spec["clusterIPs"] = known
    if address != earlier and (spec.get("clusterIPs") or []) == known:
        spec["clusterIPs"] = [address] if address else []


def _release_second(spec: Document, before: Document) -> None:
    """Give up the second address and family of a service that shall have one."""
    if spec.get("ipFamilyPolicy") == "SingleStack":
        for name in ("clusterIPs", "ipFamilies"):
            if spec.get(name) and spec[name] == before.get(name):
                spec[name] = list(spec[name][:1])


def _check_families(document: Document, before: Document, outside: Outside) -> None:
    """Refuse addresses and families that fit neither each other nor the cluster."""
    spec, errors = document["spec"], FieldErrors()
    check_cluster_addresses(spec, errors, known=before.get("clusterIPs") or ())
    if not errors:
        check_families_served(spec, before, outside.addresses.families, errors)
    if errors:
        name = document["metadata"].get("name", "")
        raise refusals.invalid("Service", name, errors.causes)


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
        families = spec.setdefault("ipFamilies", [outside.addresses.family])
        if len(families) == 1 and spec["ipFamilyPolicy"] != "SingleStack":
            families.append("IPv6" if families[0] == "IPv4" else "IPv4")
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    spec.setdefault("ipFamilies", [outside.addresses.family])
    if not spec.get("clusterIP"):
        chosen = outside.addresses.choose_address(outside.chance)
        spec["clusterIP"], spec["clusterIPs"] = chosen, [chosen]


def _settle_ports(spec: Document, outside: Outside) -> None:
    needed = _is_given_ports(spec)
    ports = spec.get("ports") or ()
    if needed:
        taken = {port["nodePort"] for port in ports if port.get("nodePort")}
        for port in ports:
            if not port.get("nodePort"):
                port["nodePort"] = outside.addresses.choose_port(outside.chance, taken)
                taken.add(port["nodePort"])
    if _needs_health_check(spec) and not spec.get("healthCheckNodePort"):
        taken = {port["nodePort"] for port in ports if port.get("nodePort")}
        spec["healthCheckNodePort"] = outside.addresses.choose_port(outside.chance, taken)


def _keep_ports(spec: Document, before: Document) -> None:
    """Keep the ports that the update leaves out; a port is known by its name."""
    if _is_given_ports(spec) and _is_given_ports(before):
        known = {port.get("name", ""): port.get("nodePort") for port in before.get("ports") or ()}
        asked = {port.get("nodePort") for port in spec.get("ports") or ()}
        for port in spec.get("ports") or ():
            kept = known.get(port.get("name", ""))
            if not port.get("nodePort") and kept and kept not in asked:
                port["nodePort"] = kept
    if _needs_health_check(spec) and _needs_health_check(before):
        kept = before.get("healthCheckNodePort")
        if kept and not spec.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = kept


def _drop_by_type(document: Document, before: Document) -> None:
    """Drop what the new type has no use for and the update has not changed."""
    spec = document["spec"]
    unused: list[str] = []
    if _needs_address(before) and not _needs_address(spec):
        if all(spec.get(name) == before.get(name) for name in ("clusterIP", "clusterIPs")):
            unused += ("clusterIP", "clusterIPs")
        unused += ("ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
    if _needs_ports(before) and not _needs_ports(spec):
        known = {port.get("nodePort") for port in before.get("ports") or ()} | {None}
        if all(port.get("nodePort") in known for port in spec.get("ports") or ()):
            for port in spec.get("ports") or ():
                port.pop("nodePort", None)
    if _needs_health_check(before) and not _needs_health_check(spec):
        unused.append("healthCheckNodePort")
    if before["type"] == "LoadBalancer" != spec["type"]:
        unused += ("allocateLoadBalancerNodePorts", "loadBalancerClass")
    if _is_open_to_outside(before) and not _is_open_to_outside(spec):
        unused.append("externalTrafficPolicy")
    for name in unused:
        if spec.get(name) == before.get(name):
            spec.pop(name, None)
    if spec["type"] != "LoadBalancer" and "status" in document:
        document["status"] = {**document["status"], "loadBalancer": {}}
