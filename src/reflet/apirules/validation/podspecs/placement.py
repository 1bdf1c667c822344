"""The rules of where pods run: affinities, spreading, gates.

Upstream: pkg/apis/core/validation/validation.go, validateAffinity,
validateTopologySpreadConstraints and validateSchedulingGates
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import check_selector
from reflet.apirules.validation.storage.node_selectors import (
    check_node_selector,
    check_node_selector_term,
)

Document = Mapping[str, Any]

ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
NODE_POLICIES: Final = ("Honor", "Ignore")
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_NOT_POSITIVE: Final = "must be greater than zero"


def internal_terms(terms: Sequence[Document]) -> list[Any]:
    """Show terms of nodes as the real server does: under the names of its internal types."""
    parts = ("key", "operator", "values")
    return [
        {
            name[0].upper() + name[1:]: [
                {part.capitalize(): each.get(part) for part in parts}
                for each in term.get(name) or ()
            ]
            or None
            for name in ("matchExpressions", "matchFields")
        }
        for term in terms
    ]


def check_affinity(affinity: Document, path: str, errors: FieldErrors) -> None:
    """Check which nodes and which neighbours a pod wants."""
    nodes, here = affinity.get("nodeAffinity") or {}, f"{path}.nodeAffinity"
    if nodes.get(REQUIRED) is not None:
        check_node_selector(nodes[REQUIRED], f"{here}.{REQUIRED}", errors)
    for index, wish in enumerate(nodes.get(_PREFERRED) or ()):
        place = f"{here}.{_PREFERRED}[{index}]"
        _check_weight(wish, place, errors)
        preference = wish.get("preference") or {}
        check_node_selector_term(preference, f"{place}.preference", errors, any_value=True)
    for name in ("podAffinity", "podAntiAffinity"):
        pods, here = affinity.get(name) or {}, f"{path}.{name}"
        for index, term in enumerate(pods.get(REQUIRED) or ()):
            _check_term(term, f"{here}.{REQUIRED}[{index}]", errors)
        for index, wish in enumerate(pods.get(_PREFERRED) or ()):
            place = f"{here}.{_PREFERRED}[{index}]"
            _check_weight(wish, place, errors)
            _check_term(wish.get("podAffinityTerm") or {}, f"{place}.podAffinityTerm", errors)


def _check_weight(wish: Document, path: str, errors: FieldErrors) -> None:
    weight = wish.get("weight", 0)
    if not 1 <= weight <= 100:
        errors.invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _check_term(term: Document, path: str, errors: FieldErrors) -> None:
    for name in ("labelSelector", "namespaceSelector"):
        check_selector(term.get(name), f"{path}.{name}", errors)
    for namespace in term.get("namespaces") or ():
        errors.each_invalid(f"{path}.namespace", namespace, names.dns_label(namespace))
    _check_label_keys(term, path, errors)
    key = term.get("topologyKey", "")
    if not key:
        errors.required(f"{path}.topologyKey", "can not be empty")
    errors.each_invalid(f"{path}.topologyKey", key, names.qualified_name(key))


def _check_label_keys(term: Document, path: str, errors: FieldErrors) -> None:
    """Check keys of labels of which the pod's own values are meant, or any but those."""
    selector = term.get("labelSelector")
    same, other = term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or ()
    for name, keys in (("matchLabelKeys", same), ("mismatchLabelKeys", other)):
        if keys and selector is None:
            said = "must not be specified when labelSelector is not set"
            errors.forbidden(f"{path}.{name}", said)
            continue
        for index, key in enumerate(keys):
            errors.each_invalid(f"{path}.{name}[{index}]", key, names.qualified_name(key))
    seen = set((selector or {}).get("matchLabels") or {})
    for expression in (selector or {}).get("matchExpressions") or ():
        key = expression.get("key", "")
        if key in same and key in seen:
            # The place is not that of the key, but so the real server calls it.
            last = max(index for index, each in enumerate(same) if each == key)
            said = "exists in both matchLabelKeys and labelSelector"
            errors.invalid(f"{path}[{last}]", key, said)
        seen.add(key)
    for index, key in enumerate(same):
        if key in other:
            said = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.invalid(f"{path}.matchLabelKeys[{index}]", key, said)


def check_spreading(constraints: Sequence[Document], path: str, errors: FieldErrors) -> None:
    """Check how evenly pods are spread, and over what."""
    for index, constraint in enumerate(constraints):
        here, skew = f"{path}[{index}]", constraint.get("maxSkew", 0)
        key, action = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
        if skew <= 0:
            errors.invalid(f"{here}.maxSkew", skew, _NOT_POSITIVE)
        if not key:
            errors.required(f"{here}.topologyKey", "can not be empty")
        if action not in ACTIONS:
            errors.not_supported(f"{here}.whenUnsatisfiable", action, ACTIONS)
        if any(_kind(other) == (key, action) for other in constraints[index + 1 :]):
            place = f"{here}.{{topologyKey, whenUnsatisfiable}}"
            errors.duplicate(place, f"{{{key}, {action}}}")
        least = constraint.get("minDomains")
        if least is not None:
            _check_domains(least, action, f"{here}.minDomains", errors)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(name)
            if policy is not None and policy not in NODE_POLICIES:
                errors.not_supported(f"{here}.{name}", policy, NODE_POLICIES)
        _check_label_keys(constraint, here, errors)
        check_selector(constraint.get("labelSelector"), f"{here}.labelSelector", errors)


def _kind(constraint: Document) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def _check_domains(least: int, action: str, path: str, errors: FieldErrors) -> None:
    if least <= 0:
        errors.invalid(path, least, _NOT_POSITIVE)
    if action != "DoNotSchedule":
        said = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.invalid(path, least, said)


def check_gates(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check what a pod waits for, to be ready and to be scheduled."""
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        kind = gate.get("conditionType", "")
        here = f"{path}.readinessGates[{index}].conditionType"
        errors.each_invalid(here, kind, names.qualified_name(kind))
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        here, name = f"{path}.schedulingGates[{index}]", gate.get("name", "")
        errors.each_invalid(here, name, names.qualified_name(name))
        if name in seen:
            errors.duplicate(here, name)
        seen.add(name)
