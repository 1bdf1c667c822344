"""What services get and keep: cluster IPs, node ports, address families.

Choosing takes nothing: what was chosen counts as taken when the stored service is noted, so a dry
run or a refused write leaves no trace.  Addresses and families that are malformed or cannot
be had are refused here, before anything else is looked at.

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
from reflet.apirules.validation.networking.service_families import (
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
    """Cluster addresses and node ports in use."""

    def __init__(self, network: str = DEFAULT_NETWORK) -> None:
        self._network = ipaddress.ip_network(network)
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
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    _check_families(document, {}, outside)
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
        for name in ("clusterIP", "clusterIPs"):
            if not spec.get(name) and before.get(name):
                spec[name] = before[name]
        # Clients that know only clusterIP send it alone; it says then what is meant.
        if spec.get("clusterIP") != before.get("clusterIP") and (
            spec.get("clusterIPs") == before.get("clusterIPs")
        ):
            spec["clusterIPs"] = [spec["clusterIP"]]
        for name in ("ipFamilies", "ipFamilyPolicy"):
            if name in before:
                spec.setdefault(name, before[name])
        if _needs_health_check(spec) and _needs_health_check(before):
            spec.setdefault("healthCheckNodePort", before.get("healthCheckNodePort"))
        _keep_ports(spec, before)
        if spec.get("ipFamilyPolicy") == "SingleStack":
            for name in ("clusterIPs", "ipFamilies"):
                if spec.get(name) == before.get(name):
                    spec[name] = list(spec[name][:1])
    _check_families(document, before, outside)
    _check_wanted(document, before, outside)
    _settle_addresses(spec, outside)
    _drop_of_other_types(spec, before)
    _settle_ports(spec, outside)


def _check_families(document: Document, before: Document, outside: Outside) -> None:
    """Refuse addresses and families that fit neither each other nor the cluster."""
    spec, errors = document["spec"], FieldErrors()
    check_cluster_addresses(spec, errors, known=before.get("clusterIPs") or ())
    if not errors:
        check_families_served(spec, before, outside.addresses.family, errors)
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
    if _needs_health_check(spec) and not spec.get("healthCheckNodePort"):
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


def _drop_of_other_types(spec: Document, before: Document) -> None:
    """Drop what only the type that a service had before may have, where it was left as it was."""
    fields = {
        "healthCheckNodePort": _needs_health_check,
        "allocateLoadBalancerNodePorts": _is_balanced,
        "loadBalancerClass": _is_balanced,
        "externalTrafficPolicy": _is_exposed,
    }
    # Whether a health check is needed depends on the last of them.
    had, has = ({name: may(each) for name, may in fields.items()} for each in (before, spec))
    for name in fields:
        if had[name] and not has[name] and spec.get(name) == before.get(name):
            spec.pop(name, None)


def _is_balanced(spec: Document) -> bool:
    return bool(spec["type"] == "LoadBalancer")


def _needs_health_check(spec: Document) -> bool:
    return _is_balanced(spec) and spec.get("externalTrafficPolicy") == "Local"


def _is_exposed(spec: Document) -> bool:
    return spec["type"] in {"LoadBalancer", "NodePort"} or bool(spec.get("externalIPs"))


def _drop_addresses(spec: Document, before: Document) -> None:
    for name in (
        *("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"),
        "internalTrafficPolicy",
    ):
        if spec.get(name) == before.get(name):
            spec.pop(name, None)
