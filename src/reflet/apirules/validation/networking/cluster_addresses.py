"""The rules of addresses that services have, and of the networks that they come from.

Upstream: pkg/apis/networking/validation/validation.go, ValidateIPAddress and ValidateServiceCIDR
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE
from reflet.apirules.validation.networking.addresses import (
    check_canonical_network,
    lenient_network,
)
from reflet.apirules.validation.storage.internal_types import internal_field, is_same

Document = Mapping[str, Any]

_CIDRS: Final = "spec.cidrs"
_ONE_OF_EACH: Final = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)


def check_ip_address(document: Document, errors: FieldErrors) -> None:
    """Check whose address it is, apart from the metadata."""
    parent, path = (document.get("spec") or {}).get("parentRef"), "spec.parentRef"
    if parent is None:
        errors.required(path)
        return
    group = parent.get("group", "")
    if group:
        errors.each_invalid(f"{path}.group", group, names.dns_subdomain(group))
    for name in ("resource", "name", "namespace"):
        value = parent.get(name, "")
        if value:
            errors.each_invalid(f"{path}.{name}", value, names.path_segment(value))
        elif name != "namespace":
            errors.required(f"{path}.{name}")


def check_ip_address_change(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    """Check that an address stays its owner's."""
    now, then = (internal_field(kind, each, "spec", "parentRef") for each in (new, old))
    if not is_same(then, now):
        errors.invalid("spec.parentRef", now, IMMUTABLE)


def check_service_cidr(document: Document, errors: FieldErrors) -> None:
    """Check the networks, apart from the metadata."""
    networks = (document.get("spec") or {}).get("cidrs") or []
    if not networks:
        errors.required(_CIDRS, "at least one CIDR required")
        return
    if len(networks) > 2:
        errors.invalid(_CIDRS, {"CIDRs": networks}, "may only hold up to 2 values")
        return
    for index, network in enumerate(networks):
        check_canonical_network(network, f"{_CIDRS}[{index}]", errors)
    families = [found.version for found in map(lenient_network, networks) if found is not None]
    if len(families) == 2 and families[0] == families[1]:
        errors.invalid(_CIDRS, networks, _ONE_OF_EACH)


def check_service_cidr_change(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that networks stay, but for a second one of the other family."""
    networks = (new.get("spec") or {}).get("cidrs") or []
    before = (old.get("spec") or {}).get("cidrs") or []
    grows = len(before) == 1 and len(networks) == 2
    if len(networks) != len(before) and not grows:
        errors.invalid(_CIDRS, networks or None, IMMUTABLE)
        return
    for index, network in enumerate(before):
        if networks[index] != network:
            errors.invalid(f"{_CIDRS}[{index}]", networks[index], IMMUTABLE)
    if grows:
        check_service_cidr(new, errors)
