"""Autoscalers as ``autoscaling/v1`` shows them, and what is stored of those that come in that form.

The older version knows one target, the use of processors; everything else it keeps in annotations,
as JSON, which go when an object is brought into the newer version.

Upstream: pkg/apis/autoscaling/v1/conversion.go; pkg/apis/autoscaling/annotations.go
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from reflet.apirules.defaults.cluster_kinds import OTHER_METRICS
from reflet.apirules.defaults.workloads import CPU_UTILIZATION
from reflet.apirules.schema.decoding import decode
from reflet.apirules.schema.schemas import Schemas
from reflet.errors import DecodeError
from reflet.gotext.printing import json_text

Document = dict[str, Any]

_TYPE: Final = "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler"
AUTOSCALERS: Final = "horizontalpodautoscalers.autoscaling"
OLD_VERSION: Final = "autoscaling/v1"

_NOTES: Final = "autoscaling.alpha.kubernetes.io/"
_CURRENT_METRICS: Final = f"{_NOTES}current-metrics"
_CONDITIONS: Final = f"{_NOTES}conditions"
_BEHAVIOR: Final = f"{_NOTES}behavior"
_ALL_NOTES: Final = frozenset({OTHER_METRICS, _CURRENT_METRICS, _CONDITIONS, _BEHAVIOR})
# Where the parts of a metric are in both forms: ``metric`` and ``target`` are dissolved.
_TARGET: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "object": {"value": "targetValue", "averageValue": "averageValue"},
        "pods": {"averageValue": "targetAverageValue"},
        "resource": {
            "averageUtilization": "targetAverageUtilization",
            "averageValue": "targetAverageValue",
        },
        "containerResource": {
            "averageUtilization": "targetAverageUtilization",
            "averageValue": "targetAverageValue",
        },
        "external": {"value": "targetValue", "averageValue": "targetAverageValue"},
    }
)
_CURRENT: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        part: {new: old.replace("target", "current") for new, old in names.items()}
        for part, names in _TARGET.items()
    }
)
_ALWAYS: Final = frozenset(
    {
        *(("object", "targetValue"), ("pods", "targetAverageValue")),
        *(("object", "currentValue"), ("pods", "currentAverageValue")),
        *(("resource", "currentAverageValue"), ("containerResource", "currentAverageValue")),
        ("external", "currentValue"),
    }
)
"""Amounts that the older form writes even when there are none, as 0."""
_ORDER: Final = (
    *("target", "name", "metricName", "metricSelector", "targetValue", "targetAverageUtilization"),
    *("currentValue", "currentAverageUtilization"),
    *("targetAverageValue", "currentAverageValue", "selector", "averageValue", "container"),
)
_PARTS: Final = ("object", "pods", "resource", "containerResource", "external")
_RULES: Final = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
_STATUS: Final = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")


def old_autoscaler(stored: Document) -> Document:
    """Give a stored autoscaler in the older version."""
    spec, status = stored.get("spec") or {}, stored.get("status") or {}
    metrics = spec.get("metrics") or []
    kept = {name: spec[name] for name in ("scaleTargetRef", "minReplicas") if name in spec}
    made_spec: Document = kept | {"maxReplicas": spec.get("maxReplicas", 0)}
    used = next((metric for metric in metrics if _is_of_processors(metric)), None)
    if used is not None:
        made_spec["targetCPUUtilizationPercentage"] = _utilization(used, "target")
    notes: dict[str, str] = {}
    others = [metric for metric in metrics if not _is_of_processors(metric)]
    if others:
        notes[OTHER_METRICS] = _text([_old_metric(metric, "target") for metric in others])
    if status.get("currentMetrics"):
        found = [_old_metric(metric, "current") for metric in status["currentMetrics"]]
        notes[_CURRENT_METRICS] = _text(found)
    if spec.get("behavior") is not None:
        notes[_BEHAVIOR] = _text(_internal_behavior(spec["behavior"]))
    if status.get("conditions"):
        undated = {"type": "", "status": "", "lastTransitionTime": None}
        notes[_CONDITIONS] = _text([undated | each for each in status["conditions"]])
    return {
        **stored,
        "apiVersion": OLD_VERSION,
        "metadata": _with_notes(stored["metadata"], notes),
        "spec": made_spec,
        "status": _old_status(status),
    }


def _old_status(status: Document) -> Document:
    made: Document = {name: status[name] for name in _STATUS[:2] if name in status}
    made |= {name: status.get(name, 0) for name in _STATUS[2:]}
    for metric in status.get("currentMetrics") or ():
        is_processors = (metric.get("resource") or {}).get("name") == "cpu"
        if is_processors and _utilization(metric, "current") is not None:
            made["currentCPUUtilizationPercentage"] = _utilization(metric, "current")
    return made


def new_autoscaler(document: Document) -> Document:
    """Give an autoscaler of the older version in the one in which it is stored."""
    spec, status = document.get("spec") or {}, document.get("status") or {}
    notes = document["metadata"].get("annotations") or {}
    made_spec: Document = {
        name: spec[name]
        for name in ("scaleTargetRef", "minReplicas", "maxReplicas")
        if name in spec
    }
    metrics = _noted_metrics(notes, OTHER_METRICS, "target")
    percentage = spec.get("targetCPUUtilizationPercentage")
    if percentage is not None or not metrics:
        aim = CPU_UTILIZATION if percentage is None else percentage
        target = {"type": "Utilization", "averageUtilization": aim}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    made_spec["metrics"] = metrics
    for behavior in _fitting("Spec", "behavior", [_external_behavior(notes.get(_BEHAVIOR))]):
        if behavior:
            made_spec["behavior"] = behavior
    return {
        **document,
        "apiVersion": "autoscaling/v2",
        "metadata": _with_notes(document["metadata"], {}),
        "spec": made_spec,
        "status": _new_status(status, notes),
    }


def _new_status(status: Document, notes: Mapping[str, str]) -> Document:
    made = {name: status[name] for name in _STATUS[:3] if status.get(name)}
    made["desiredReplicas"] = status.get("desiredReplicas", 0)
    current = _noted_metrics(notes, _CURRENT_METRICS, "current")
    percentage = status.get("currentCPUUtilizationPercentage")
    if not current and percentage is not None:
        found = {"name": "cpu", "current": {"averageUtilization": percentage}}
        current = [{"type": "Resource", "resource": found}]
    made["currentMetrics"] = current or None
    conditions = _fitting("Status", "conditions", _decoded(notes.get(_CONDITIONS), list))
    return made | ({"conditions": conditions} if conditions else {})


def _is_of_processors(metric: Document) -> bool:
    if metric.get("type") != "Resource" or (metric.get("resource") or {}).get("name") != "cpu":
        return False
    return _utilization(metric, "target") is not None


def _utilization(metric: Document, side: str) -> Any:
    return ((metric.get("resource") or {}).get(side) or {}).get("averageUtilization")


def _old_metric(metric: Document, side: str) -> Document:
    """Dissolve what the newer form groups; ``side`` is what is aimed at or what is found."""
    made: Document = {"type": metric.get("type", "")}
    names = _TARGET if side == "target" else _CURRENT
    for part in _PARTS:
        source = metric.get(part)
        if source is None:
            continue
        amounts = source.get(side) or {}
        flat = {name: source[name] for name in ("name", "container") if name in source}
        if "metric" in source:
            flat["metricName"] = source["metric"].get("name", "")
            if source["metric"].get("selector") is not None:
                selector = "metricSelector" if part == "external" else "selector"
                flat[selector] = source["metric"]["selector"]
        if "describedObject" in source:
            flat["target"] = source["describedObject"]
        for new, old in names[part].items():
            if amounts.get(new) is not None:
                flat[old] = amounts[new]
            elif (part, old) in _ALWAYS:
                flat[old] = "0"
        made[part] = {name: flat[name] for name in _ORDER if name in flat}
    return made


def _new_metric(metric: Document, side: str) -> Document:
    made: Document = {"type": metric.get("type", "")}
    names = _TARGET if side == "target" else _CURRENT
    for part in _PARTS:
        flat = metric.get(part)
        if flat is None:
            continue
        source = {name: flat[name] for name in ("name", "container") if name in flat}
        if "target" in flat:
            source["describedObject"] = flat["target"]
        if "metricName" in flat:
            source["metric"] = {"name": flat["metricName"]}
            selector = flat.get("metricSelector" if part == "external" else "selector")
            if selector is not None:
                source["metric"]["selector"] = selector
        amounts = {new: flat[old] for new, old in names[part].items() if flat.get(old) is not None}
        if side == "target":
            amounts = _typed(part, amounts)
        elif amounts.keys() >= {"averageUtilization"} and amounts.get("averageValue") == "0":
            # Written by the older form for want of a value.
            del amounts["averageValue"]
        source[side] = amounts
        made[part] = source
    return made


def _typed(part: str, amounts: Document) -> Document:
    if "averageUtilization" in amounts:
        kind = "Utilization"
    elif part == "object":
        kind = "AverageValue" if "averageValue" in amounts else "Value"
        if kind == "AverageValue" and amounts.get("value") == "0":
            amounts = {"averageValue": amounts["averageValue"]}
    else:
        kind = "Value" if "value" in amounts else "AverageValue"
    return {"type": kind, **amounts}


def _internal_behavior(behavior: Document) -> Document:
    """Write a behavior with the names, and the nulls, of the server's own types."""
    made: Document = {}
    for side in ("scaleUp", "scaleDown"):
        rules = behavior.get(side)
        made[_capital(side)] = (
            None if rules is None else {_capital(name): rules.get(name) for name in _RULES}
        )
        if rules is not None and rules.get("policies") is not None:
            made[_capital(side)]["Policies"] = [
                {_capital(name): value for name, value in policy.items()}
                for policy in rules["policies"]
            ]
    return made


def _external_behavior(note: str | None) -> Document:
    found = _decoded(note, dict)
    made: Document = {}
    for side in ("scaleUp", "scaleDown"):
        rules = found.get(_capital(side))
        if not isinstance(rules, dict):
            continue
        made[side] = {
            name: rules[_capital(name)] for name in _RULES if rules.get(_capital(name)) is not None
        }
        policies = made[side].get("policies")
        if isinstance(policies, list):
            made[side]["policies"] = [
                {name[:1].lower() + name[1:]: value for name, value in policy.items()}
                if isinstance(policy, dict)
                else policy
                for policy in policies
            ]
    return made


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _with_notes(metadata: Document, notes: Mapping[str, str]) -> Document:
    before = metadata.get("annotations") or {}
    annotations = {name: text for name, text in before.items() if name not in _ALL_NOTES}
    annotations = dict(sorted({**annotations, **notes}.items()))
    made = {name: value for name, value in metadata.items() if name != "annotations"}
    if not annotations:
        return made
    # Where the real server writes it: after the labels, before who owns it.
    later = ("ownerReferences", "finalizers", "managedFields")
    ahead = {name: value for name, value in made.items() if name not in later}
    return {**ahead, "annotations": annotations, **{n: made[n] for n in later if n in made}}


def _noted_metrics(notes: Mapping[str, str], name: str, side: str) -> list[Document]:
    found = _decoded(notes.get(name), list)
    if not all(isinstance(each, dict) and _has_parts(each) for each in found):
        return []
    made = [_new_metric(each, side) for each in found]
    return _fitting(
        *(("Spec", "metrics") if side == "target" else ("Status", "currentMetrics")), made
    )


def _has_parts(metric: Document) -> bool:
    return all(isinstance(metric.get(part), dict | None) for part in _PARTS)


def _fitting(owner: str, field: str, values: list[Any]) -> list[Any]:
    """Give what is of the type of a field, or of its items; one that is not spoils them all."""
    schema = Schemas.recorded().structure(f"{_TYPE}{owner}").fields[field]
    try:
        for value in values:
            decode(schema.items or schema, value, [])
    except DecodeError:
        return []
    return values


def _decoded(note: str | None, kind: type[Any]) -> Any:
    """Read a note; one that is not well formed says nothing."""
    try:
        found = msgspec.json.decode(note or "null")
    except msgspec.DecodeError:
        found = None
    return found if isinstance(found, kind) else kind()


def _text(value: Any) -> str:
    return json_text(value, sort_keys=False)
