"""The rules of slices of endpoints: addresses, ports, nodes and hints of zones.

Upstream: pkg/apis/discovery/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.containers import PROTOCOLS
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import IMMUTABLE, check_labels
from reflet.apirules.validation.networking.addresses import (
    canonical_address,
    check_endpoint_address,
    check_strict_address,
    lenient_address,
)

Document = Mapping[str, Any]

ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
MOST_ADDRESSES: Final = 100
MOST_ENDPOINTS: Final = 1000
MOST_PORTS: Final = 20000
MOST_LABELS: Final = 16
MOST_HINTS: Final = 8  # of zones, and of nodes


def check_endpoint_slice(document: Document, errors: FieldErrors) -> None:
    """Check a new slice, apart from its metadata."""
    _check_slice(document, (), errors)


def check_endpoint_slice_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed slice, whose endpoints may stay as wrong as they were."""
    _check_slice(new, old.get("endpoints") or (), errors)
    if new.get("addressType") != old.get("addressType"):
        errors.invalid("addressType", Named(new.get("addressType", "")), IMMUTABLE)


def _check_slice(document: Document, before: Sequence[Document], errors: FieldErrors) -> None:
    kind = document.get("addressType", "")
    if not kind:
        errors.required("addressType")
    elif kind not in ADDRESS_TYPES:
        errors.not_supported("addressType", kind, ADDRESS_TYPES)
    _check_ports(document.get("ports") or (), errors)
    endpoints = document.get("endpoints") or ()
    if len(endpoints) > MOST_ENDPOINTS:
        errors.too_many("endpoints", len(endpoints), MOST_ENDPOINTS)
    elif not before or endpoints != before:
        for index, endpoint in enumerate(endpoints):
            _check_endpoint(endpoint, kind, f"endpoints[{index}]", errors)


def _check_ports(ports: Sequence[Document], errors: FieldErrors) -> None:
    if len(ports) > MOST_PORTS:
        errors.too_many("ports", len(ports), MOST_PORTS)
        return
    seen: set[str] = set()
    for index, port in enumerate(ports):
        here, name = f"ports[{index}]", port.get("name") or ""
        if name:
            errors.each_invalid(f"{here}.name", name, names.dns_label(name))
        if name in seen:
            errors.duplicate(f"{here}.name", name)
        seen.add(name)
        protocol, application = port.get("protocol"), port.get("appProtocol")
        if protocol is None:
            errors.required(f"{here}.protocol")
        elif protocol not in PROTOCOLS:
            errors.not_supported(f"{here}.protocol", protocol, PROTOCOLS)
        if application is not None:
            wrong = names.qualified_name(application)
            errors.each_invalid(f"{here}.appProtocol", application, wrong)


def _check_endpoint(endpoint: Document, kind: str, path: str, errors: FieldErrors) -> None:
    addresses = endpoint.get("addresses") or ()
    if not addresses:
        errors.required(f"{path}.addresses", "must contain at least 1 address")
    elif len(addresses) > MOST_ADDRESSES:
        errors.too_many(f"{path}.addresses", len(addresses), MOST_ADDRESSES)
    for index, address in enumerate(addresses):
        check = _ADDRESS_CHECKS.get(kind)
        if check is not None:
            check(address, f"{path}.addresses", index, errors)
    if endpoint.get("nodeName") is not None:
        node = endpoint["nodeName"]
        errors.each_invalid(f"{path}.nodeName", node, names.dns_subdomain(node))
    topology = endpoint.get("deprecatedTopology") or {}
    if len(topology) > MOST_LABELS:
        errors.too_many(f"{path}.deprecatedTopology", len(topology), MOST_LABELS)
    check_labels(topology, f"{path}.deprecatedTopology", errors)
    if endpoint.get("hostname") is not None:
        host = endpoint["hostname"]
        errors.each_invalid(f"{path}.hostname", host, names.dns_label(host))
    hints = endpoint.get("hints") or {}
    if _check_hints(hints, "forZones", names.label_value, f"{path}.hints", errors):
        _check_hints(hints, "forNodes", names.dns_subdomain, f"{path}.hints", errors)


def _check_ipv4(address: str, path: str, index: int, errors: FieldErrors) -> None:
    here, before = f"{path}[{index}]", len(errors)
    check_strict_address(address, here, errors)
    if len(errors) == before:
        _check_reachable(address, 4, path, here, errors)


def _check_ipv6(address: str, path: str, index: int, errors: FieldErrors) -> None:
    here, wrong = f"{path}[{index}]", canonical_address(address)
    errors.each_invalid(here, address, wrong)
    if not wrong:
        _check_reachable(address, 6, path, here, errors)


def _check_reachable(address: str, version: int, path: str, here: str, errors: FieldErrors) -> None:
    found = lenient_address(address)
    if found is not None and found.version != version:
        errors.invalid(path, address, f"must be an IPv{version} address")
    check_endpoint_address(address, here, errors)


def _check_domain(address: str, path: str, index: int, errors: FieldErrors) -> None:
    here, name = f"{path}[{index}]", address.removesuffix(".")
    wrong = names.dns_subdomain(name)
    labels = name.split(".")
    if not address:
        errors.required(here)
    elif wrong:
        errors.invalid(here, name, ",".join(wrong))
    elif len(labels) == 1:
        said = "should be a domain with at least two segments separated by dots"
        errors.invalid(here, name, said)
    else:
        bad = [(label, names.dns_label(label)) for label in labels if names.dns_label(label)]
        for label, said_of_it in bad[:1]:
            errors.invalid(here, label, ",".join(said_of_it))


_ADDRESS_CHECKS: Final[Mapping[str, Callable[[str, str, int, FieldErrors], None]]] = {
    "IPv4": _check_ipv4,
    "IPv6": _check_ipv6,
    "FQDN": _check_domain,
}


def _check_hints(
    hints: Document, field: str, rule: names.Rule, path: str, errors: FieldErrors
) -> bool:
    found, here = hints.get(field) or (), f"{path}.{field}"
    if len(found) > MOST_HINTS:
        errors.too_many(here, len(found), MOST_HINTS)
        return False
    seen: set[str] = set()
    for index, hint in enumerate(found):
        name = hint.get("name", "")
        if name in seen:
            errors.duplicate(f"{here}[{index}].name", name)
        seen.add(name)
        errors.each_invalid(f"{here}[{index}].name", name, rule(name))
    return True
