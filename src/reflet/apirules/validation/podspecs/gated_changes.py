"""What may change of where a pod runs while it waits to be scheduled: only more may be asked for.

Upstream: pkg/apis/core/validation/validation.go, validateNodeSelectorMutation and
validateNodeAffinityMutation
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.placement import REQUIRED, internal_terms

Document = Mapping[str, Any]

_PATH: Final = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


def check_gated_changes(spec: Document, before: Document, errors: FieldErrors) -> Document:
    """Check the changes that a waiting pod may see, and give its spec without them."""
    if not before.get("schedulingGates"):
        return spec
    settled = dict(spec)
    wanted, earlier = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if not earlier.items() <= wanted.items():
        said = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.invalid("spec.nodeSelector", spec.get("nodeSelector"), said)
    _settle(settled, "nodeSelector", before.get("nodeSelector"))
    affinity, old = dict(spec.get("affinity") or {}), before.get("affinity") or {}
    if affinity.get("nodeAffinity") != old.get("nodeAffinity"):
        _check_nodes(affinity.get("nodeAffinity") or {}, old.get("nodeAffinity") or {}, errors)
        _settle(affinity, "nodeAffinity", old.get("nodeAffinity"))
        _settle(settled, "affinity", affinity or before.get("affinity"))
    return settled


def _settle(holder: dict[str, Any], name: str, value: Any) -> None:
    holder.pop(name, None)
    if value is not None:
        holder[name] = value


def _check_nodes(wanted: Document, before: Document, errors: FieldErrors) -> None:
    terms, earlier = (
        (each.get(REQUIRED) or {}).get("nodeSelectorTerms") or [] for each in (wanted, before)
    )
    if not earlier:
        return
    if len(terms) != len(earlier):
        said = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        errors.invalid(_PATH, internal_terms(terms), said)
        return
    for index, (term, old) in enumerate(zip(terms, earlier, strict=True)):
        if not _only_adds(term, old):
            said = "only additions are allowed (no mutations or deletions)"
            errors.invalid(f"{_PATH}[{index}]", internal_terms([term])[0], said)


def _only_adds(term: Document, before: Document) -> bool:
    parts = ("matchExpressions", "matchFields")
    new, old = ([each.get(part) or [] for part in parts] for each in (term, before))
    if not any(old):
        return not any(new)
    return all(mine[: len(theirs)] == theirs for mine, theirs in zip(new, old, strict=True))
