"""A pretend scheduler: which of the pretend nodes can take a pod, and which takes it.

Selectors, required affinity to nodes, taints and cordons are looked at; resources, spreading and
affinity between pods are not: a pretend node has room for everybody.

Upstream: pkg/scheduler/framework/plugins/{nodeaffinity,tainttoleration,nodeunschedulable}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from reflet.play.actions import Document

AFFINITY: Final = "node(s) didn't match Pod's node affinity/selector"
UNSCHEDULABLE: Final = "node(s) were unschedulable"
TAINTS: Final = "node(s) had untolerated taint(s)"
CORDONED: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_PARTS: Final = ("matchExpressions", "matchFields")
_NAME: Final = "metadata.name"  # the only field that can be selected by


def chosen_node(
    pod: Document, nodes: Sequence[Document], pods_on: Mapping[str, int]
) -> tuple[str, str]:
    """Give the node with the fewest pods that can take it; or none, and the scheduler's words."""
    refusals = {node["metadata"]["name"]: refusal(pod, node) for node in nodes}
    able = [name for name, why in refusals.items() if not why]
    if able:
        return min(able, key=lambda name: (pods_on[name], name)), ""
    reasons = sorted(
        f"{sum(each == why for each in refusals.values())} {why}" for why in set(refusals.values())
    )
    why = f": {', '.join(reasons)}" if reasons else ""
    return "", f"0/{len(nodes)} nodes are available{why}."


def refusal(pod: Document, node: Document) -> str:
    """Say why a node cannot take a pod; empty if it can."""
    spec, wanted = node.get("spec", {}), pod["spec"]
    taints = [*(spec.get("taints") or ())]
    if spec.get("unschedulable") and CORDONED not in taints:
        taints.append(CORDONED)
    for taint in taints:
        is_borne = any(tolerates(each, taint) for each in wanted.get("tolerations") or ())
        if taint["effect"] != "PreferNoSchedule" and not is_borne:
            return UNSCHEDULABLE if taint["key"] == CORDONED["key"] else TAINTS
    labels = node["metadata"].get("labels") or {}
    is_selected = (wanted.get("nodeSelector") or {}).items() <= labels.items()
    affinity = (wanted.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = required["nodeSelectorTerms"] if required else ({"matchExpressions": ()},)
    values = {**labels, _NAME: node["metadata"]["name"]}
    is_liked = any(
        all(_matches(each, values) for part in _PARTS for each in term.get(part) or ())
        for term in terms
        if term
    )
    return "" if is_selected and is_liked else AFFINITY


def tolerates(toleration: Document, taint: Document) -> bool:
    """Whether a toleration covers a taint."""
    if toleration.get("effect") not in {None, "", taint["effect"]}:
        return False
    key = toleration.get("key") or ""
    if toleration.get("operator") == "Exists":
        return key in {"", taint["key"]}
    return bool(key == taint["key"] and toleration.get("value", "") == taint.get("value", ""))


def _matches(requirement: Document, values: Mapping[str, str]) -> bool:
    value, wanted = values.get(requirement["key"]), requirement.get("values") or []
    match requirement["operator"]:
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists" | "DoesNotExist" as operator:
            return (value is not None) is (operator == "Exists")
        case operator:
            if value is None or not value.lstrip("-").isdecimal():
                return False
            number, limit = int(value), int(wanted[0])
            return number > limit if operator == "Gt" else number < limit
