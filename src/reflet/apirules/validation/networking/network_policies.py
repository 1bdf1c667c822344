"""The rules of network policies.

Upstream: pkg/apis/networking/validation/validation.go, ValidateNetworkPolicy and
ValidateNetworkPolicyUpdate
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import check_selector
from reflet.apirules.validation.networking.addresses import (
    check_network,
    is_inside,
    lenient_network,
)

Document = Mapping[str, Any]

POLICY_TYPES: Final = ("Ingress", "Egress")
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_DIRECTIONS: Final = (("ingress", "from"), ("egress", "to"))


def check_network_policy(document: Document, errors: FieldErrors) -> None:
    """Check a new network policy, apart from its metadata."""
    _check_spec(document.get("spec") or {}, errors)


def check_network_policy_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed network policy, which may keep the networks that it had."""
    before = old.get("spec") or {}
    found = FieldErrors()
    check_selector(before.get("podSelector"), "", found)
    known = frozenset(_networks(before))
    _check_spec(new.get("spec") or {}, errors, known=known, any_values=bool(found))


def _networks(spec: Document) -> Iterator[str]:
    for rules, peers in _DIRECTIONS:
        for rule in spec.get(rules) or ():
            for peer in rule.get(peers) or ():
                block = peer.get("ipBlock")
                if block is not None:
                    yield block.get("cidr", "")
                    yield from block.get("except") or ()


def _check_spec(
    spec: Document,
    errors: FieldErrors,
    *,
    known: Collection[str] = (),
    any_values: bool = False,
) -> None:
    check_selector(spec.get("podSelector"), "spec.podSelector", errors, any_values=any_values)
    for rules, peers in _DIRECTIONS:
        for index, rule in enumerate(spec.get(rules) or ()):
            here = f"spec.{rules}[{index}]"
            for number, port in enumerate(rule.get("ports") or ()):
                _check_port(port, f"{here}.ports[{number}]", errors)
            for number, peer in enumerate(rule.get(peers) or ()):
                place = f"{here}.{peers}[{number}]"
                _check_peer(peer, place, errors, known=known, any_values=any_values)
    kinds = spec.get("policyTypes") or ()
    if len(kinds) > len(POLICY_TYPES):
        errors.invalid("spec.policyTypes", kinds, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(kinds):
        if kind not in POLICY_TYPES:
            errors.not_supported(f"spec.policyTypes[{index}]", kind, POLICY_TYPES)


def _check_port(each: Document, path: str, errors: FieldErrors) -> None:
    protocol, port, end = each.get("protocol"), each.get("port"), each.get("endPort")
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.not_supported(f"{path}.protocol", protocol, _PROTOCOLS)
    if isinstance(port, int):
        errors.each_invalid(f"{path}.port", port, names.port_number(port))
        if end is not None:
            if end < port:
                # The real server shows the port here, and not its end.
                said = "must be greater than or equal to `port`"
                errors.invalid(f"{path}.endPort", port, said)
            errors.each_invalid(f"{path}.endPort", end, names.port_number(end))
        return
    if end is not None:
        why = "not specified" if port is None else "non-numeric"
        errors.invalid(f"{path}.endPort", end, f"may not be specified when `port` is {why}")
    if port is not None:
        errors.each_invalid(f"{path}.port", port, names.port_name(port))


def _check_peer(
    peer: Document, path: str, errors: FieldErrors, *, known: Collection[str], any_values: bool
) -> None:
    block = peer.get("ipBlock")
    selectors = [
        name for name in ("podSelector", "namespaceSelector") if peer.get(name) is not None
    ]
    for name in selectors:
        check_selector(peer[name], f"{path}.{name}", errors, any_values=any_values)
    if block is not None:
        _check_block(block, f"{path}.ipBlock", errors, known=known)
        if selectors:
            errors.forbidden(path, "may not specify both ipBlock and another peer")
    elif not selectors:
        errors.required(path, "must specify a peer")


def _check_block(
    block: Document, path: str, errors: FieldErrors, *, known: Collection[str]
) -> None:
    if not block.get("cidr"):
        errors.required(f"{path}.cidr")
        return
    check_network(block["cidr"], f"{path}.cidr", errors, known=known)
    network = lenient_network(block["cidr"])
    if network is None:
        return
    for index, text in enumerate(block.get("except") or ()):
        here = f"{path}.except[{index}]"
        check_network(text, here, errors, known=known)
        inner = lenient_network(text)
        if inner is not None and not is_inside(inner, network):
            errors.invalid(here, text, "must be a strict subset of `cidr`")
