"""The rules of a service's addresses and of the families that they are of.

Upstream: pkg/apis/core/validation/validation.go, ValidateServiceClusterIPsRelatedFields;
pkg/registry/core/service/storage/alloc.go, initIPFamilyFields
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.networking.addresses import check_strict_address, lenient_address

Document = Mapping[str, Any]

FAMILIES: Final = ("IPv4", "IPv6")
FAMILY_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
_HEADLESS: Final = "None"
_ADDRESSES: Final = "spec.clusterIPs"
_KEPT: Final = "may not change once set"


def check_cluster_addresses(
    spec: Document, errors: FieldErrors, *, known: Collection[str] = ()
) -> None:
    """Check addresses, families and policy for themselves; ``known`` are addresses from before."""
    addresses, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or ()
    _check_first(spec.get("clusterIP") or "", addresses, errors)
    seen: set[str] = set()
    for index, family in enumerate(families):
        here = f"spec.ipFamilies[{index}]"
        if family not in FAMILIES:
            errors.not_supported(here, family, FAMILIES)
        if family in seen:
            errors.duplicate(here, Named(family))
        seen.add(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in FAMILY_POLICIES:
        errors.not_supported("spec.ipFamilyPolicy", policy, FAMILY_POLICIES)
    before = len(errors)
    for index, address in enumerate(addresses):
        if index or address != _HEADLESS:
            check_strict_address(address, f"{_ADDRESSES}[{index}]", errors, known=known)
        elif len(addresses) > 1:
            errors.invalid(_ADDRESSES, addresses, "'None' must be the first and only value")
    bad = len(errors) > before
    if len(addresses) > 2:
        errors.invalid(_ADDRESSES, addresses, "may only hold up to 2 values")
    if not bad:
        _check_stacks(addresses, families, errors)


def _check_first(address: str, addresses: list[str], errors: FieldErrors) -> None:
    if not address:
        if addresses:
            said = "must be empty when `clusterIP` is not specified"
            errors.invalid(_ADDRESSES, addresses, said)
    elif not addresses:
        errors.required(_ADDRESSES)
    elif addresses[0] != address:
        errors.invalid(_ADDRESSES, addresses, "first value must match `clusterIP`")


def _check_stacks(addresses: list[str], families: Collection[str], errors: FieldErrors) -> None:
    kinds = [_family(address) for address in addresses]
    if len(addresses) > 1 and len(set(kinds)) != 2:
        said = "may specify no more than one IP for each IP family"
        errors.invalid(_ADDRESSES, addresses, said)
    if addresses[:1] == [_HEADLESS]:
        return
    for index, (kind, family) in enumerate(zip(kinds, families, strict=False)):
        if family in FAMILIES and kind != family:
            said = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            errors.invalid(f"{_ADDRESSES}[{index}]", addresses[index], said)


def _family(address: str) -> str:
    found = lenient_address(address)
    return "" if found is None else f"IPv{found.version}"


def check_families_served(
    spec: Document, before: Document, served: Collection[str], errors: FieldErrors
) -> None:
    """Check that a service asks for no family that the cluster has no addresses of."""
    addresses, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or ()
    headless, policy = addresses[:1] == [_HEADLESS], spec.get("ipFamilyPolicy")
    if policy not in {None, "SingleStack"}:
        for name, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
            if 0 < len(spec.get(name) or ()) < len(before.get(name) or ()):
                said = f"must be 'SingleStack' to release the secondary {what}"
                errors.invalid("spec.ipFamilyPolicy", Named(policy), said)
    if (policy or "SingleStack") == "SingleStack" and not (headless and policy is None):
        for found, what in ((addresses, "cluster IPs"), (families, "IP families")):
            if len(found) == 2:
                said = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {what}"
                shown = Named(policy or "SingleStack")
                errors.invalid("spec.ipFamilyPolicy", shown, f"{said} are specified")
    for index, address in enumerate([] if headless else addresses):
        if index >= len(families) and _family(address) not in served:
            said = f"{_family(address)} is not configured on this cluster"
            errors.invalid(f"{_ADDRESSES}[{index}]", addresses, said)
    if errors or (headless and not spec.get("selector")):
        return
    if policy == "RequireDualStack" and len(served) < 2:
        said = "this cluster is not configured for dual-stack services"
        errors.invalid("spec.ipFamilyPolicy", Named(policy), said)
    for index, family in enumerate(families):
        if family not in served:
            said = "not configured on this cluster"
            errors.invalid(f"spec.ipFamilies[{index}]", Named(family), said)


def check_addresses_kept(spec: Document, before: Document, errors: FieldErrors) -> None:
    """Check that an update keeps the first address and family, and releases none by the way."""
    addresses, earlier = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    headless = addresses[:1] == [_HEADLESS], earlier[:1] == [_HEADLESS]
    if all(headless):
        return
    _check_list_kept(addresses, earlier, addresses, errors, name="clusterIPs")
    if len(addresses) < len(earlier):
        if not addresses:
            said = "primary clusterIP can not be unset"
            errors.invalid(f"{_ADDRESSES}[0]", spec.get("clusterIPs"), said)
        _check_release(spec, addresses, "clusterIP", errors)
    if any(headless):
        return
    families, known = spec.get("ipFamilies") or [], before.get("ipFamilies") or []
    shown = families if len(families) == len(known) else addresses
    _check_list_kept(families, known, shown, errors, name="ipFamilies")
    if len(families) < len(known):
        _check_release(spec, families, "ipFamily", errors)


def _check_list_kept(
    new: list[str], old: list[str], shown: list[str], errors: FieldErrors, *, name: str
) -> None:
    count = len(old) if len(new) == len(old) else 1
    for index, (value, earlier) in enumerate(zip(new[:count], old[:count], strict=False)):
        if value != earlier:
            place = index if name == "clusterIPs" else 0
            errors.invalid(f"spec.{name}[{place}]", shown, _KEPT)


def _check_release(spec: Document, new: list[str], what: str, errors: FieldErrors) -> None:
    policy = spec.get("ipFamilyPolicy")
    if len(new) == 1 and policy != "SingleStack":
        shown = None if policy is None else Named(policy)
        said = f"must be set to 'SingleStack' when releasing the secondary {what}"
        errors.invalid("spec.ipFamilyPolicy", shown, said)
