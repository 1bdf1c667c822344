"""A pretend scheduler: which of the pretend nodes can take a pod, and which takes it.

Selectors, required affinity to nodes, taints and cordons are looked at; resources, spreading and
affinity between pods are not: a pretend node has room for everybody.

Upstream: pkg/scheduler/framework/plugins/{nodeaffinity,tainttoleration,nodeunschedulable}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from reflet.play.actions import Document

AFFINITY: Final = "node(s) didn't match Pod's node affinity/selector"
UNSCHEDULABLE: Final = "node(s) were unschedulable"
TAINTS: Final = "node(s) had untolerated taint(s)"


def chosen_node(
    pod: Document, nodes: Sequence[Document], pods_on: Callable[[str], int]
) -> tuple[str, str]:
    """Give the node with the fewest pods that can take it; or none, and the scheduler's words."""
    refusals = {node["metadata"]["name"]: refusal(pod, node) for node in nodes}
    able = [name for name, why in refusals.items() if not why]
    if able:
        return min(able, key=lambda name: (pods_on(name), name)), ""
    reasons = sorted(
        f"{sum(each == why for each in refusals.values())} {why}" for why in set(refusals.values())
    )
    why = f": {', '.join(reasons)}" if reasons else ""
    return "", f"0/{len(nodes)} nodes are available{why}."


def refusal(pod: Document, node: Document) -> str:
    """Say why a node cannot take a pod; empty if it can."""
    spec, held = node.get("spec", {}), pod["spec"]
    tolerations = held.get("tolerations") or ()
    if spec.get("unschedulable") and not any(
        each.get("key") in {None, "", "node.kubernetes.io/unschedulable"}
        and each.get("operator") == "Exists"
        for each in tolerations
    ):
        return UNSCHEDULABLE
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (held.get("nodeSelector") or {}).items()):
        return AFFINITY
    required = (
        held.get("affinity", {})
        .get("nodeAffinity", {})
        .get("requiredDuringSchedulingIgnoredDuringExecution")
    )
    if required is not None and not any(
        _term_matches(term, node) for term in required["nodeSelectorTerms"]
    ):
        return AFFINITY
    for taint in spec.get("taints") or ():
        if taint["effect"] != "PreferNoSchedule" and not any(
            tolerates(each, taint) for each in tolerations
        ):
            return TAINTS
    return ""


def tolerates(toleration: Document, taint: Document) -> bool:
    """Whether a toleration covers a taint."""
    if toleration.get("effect") not in {None, "", taint["effect"]}:
        return False
    key, operator = toleration.get("key") or "", toleration.get("operator") or "Equal"
    if operator == "Exists":
        return key in {"", taint["key"]}
    return bool(key == taint["key"] and toleration.get("value", "") == taint.get("value", ""))


def _term_matches(term: Document, node: Document) -> bool:
    labels = node["metadata"].get("labels") or {}
    fields = {"metadata.name": node["metadata"]["name"]}
    wanted = [(each, labels) for each in term.get("matchExpressions") or ()]
    wanted += [(each, fields) for each in term.get("matchFields") or ()]
    return bool(wanted) and all(_matches(each, values) for each, values in wanted)


def _matches(requirement: Document, values: Document) -> bool:
    value, wanted = values.get(requirement["key"]), requirement.get("values") or []
    match requirement["operator"]:
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            if value is None or not value.lstrip("-").isdecimal():
                return False
            limit = int(wanted[0])
            return int(value) > limit if operator == "Gt" else int(value) < limit
