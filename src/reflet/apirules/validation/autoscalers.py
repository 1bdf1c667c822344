"""The rules of horizontal pod autoscalers.

Upstream: pkg/apis/autoscaling/validation/validation.go;
pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import NOT_NEGATIVE
from reflet.apirules.validation.resource_names import check_container_resource
from reflet.apirules.validation.workloads import check_not_negative

Document = Mapping[str, Any]

LONGEST_PERIOD: Final = 1800  # seconds
LONGEST_WINDOW: Final = 3600  # seconds
SELECT_POLICIES: Final = ("Disabled", "Max", "Min")
# In the order in which sources are looked at; the first one that is there is checked.
SOURCES: Final[Mapping[str, str]] = {
    "object": "Object",
    "external": "External",
    "pods": "Pods",
    "resource": "Resource",
    "containerResource": "ContainerResource",
}
METRIC_TYPES: Final = tuple(sorted(SOURCES.values()))
_TARGET_TYPES: Final = ("Utilization", "Value", "AverageValue")


def check_autoscaler(document: Document, errors: FieldErrors) -> None:
    """Check a new autoscaler, apart from its metadata."""
    _check_spec(document.get("spec") or {}, None, errors)


def check_autoscaler_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed autoscaler, which may keep references that were wrong before."""
    _check_spec(new.get("spec") or {}, old.get("spec") or {}, errors)


def check_autoscaler_status(new: Document, _: Document, errors: FieldErrors) -> None:
    """Check the counts that an autoscaler reports."""
    counts = ("currentReplicas", "desiredReplicas")
    check_not_negative(new.get("status") or {}, counts, "status", errors)


def _check_spec(spec: Document, before: Document | None, errors: FieldErrors) -> None:
    fewest, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    # Nothing scales to zero, unless an autoscaler of older times does already.
    lowest = 0 if before is not None and before.get("minReplicas") == 0 else 1
    if fewest is not None and fewest < lowest:
        said = f"must be greater than or equal to {lowest}"
        errors.invalid("spec.minReplicas", fewest, said)
    if most == 0:
        errors.required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        errors.invalid("spec.maxReplicas", most, "must be greater than or equal to 1")
    if fewest is not None and most < fewest:
        said = "must be greater than or equal to `minReplicas`"
        errors.invalid("spec.maxReplicas", most, said)
    target = spec.get("scaleTargetRef") or {}
    _check_reference(target, "spec.scaleTargetRef", errors)
    if before is None or not _same_kind(target, before.get("scaleTargetRef") or {}):
        core = target.get("kind") == "ReplicationController"
        _check_version(target, "spec.scaleTargetRef", errors, core=core)
    metrics = spec.get("metrics") or ()
    any_version = before is not None and _has_bad_object(before)
    old_target = spec.get("targetCPUUtilizationPercentage")  # of autoscaling/v1
    if old_target is not None and old_target < 1:
        path = "spec.metrics[0].resource.target.averageUtilization"
        errors.invalid(path, old_target, "must be greater than 0")
    for index, metric in enumerate(metrics):
        _check_metric(metric, f"spec.metrics[{index}]", errors, any_version=any_version)
    if fewest == 0 and not any(each.get("type") in {"Object", "External"} for each in metrics):
        said = (
            "must specify at least one Object or External metric to support scaling to zero "
            "replicas"
        )
        errors.forbidden("spec.metrics", said)
    behavior = spec.get("behavior") or {}
    for name in ("scaleUp", "scaleDown"):
        if behavior.get(name) is not None:
            _check_scaling(behavior[name], f"spec.behavior.{name}", errors)


def _same_kind(target: Document, before: Document) -> bool:
    return all(target.get(name, "") == before.get(name, "") for name in ("apiVersion", "kind"))


def _has_bad_object(spec: Document) -> bool:
    found = FieldErrors()
    for metric in spec.get("metrics") or ():
        if metric.get("type") == "Object" and metric.get("object") is not None:
            _check_version(metric["object"].get("describedObject") or {}, "", found, core=True)
    return bool(found)


def _check_reference(reference: Document, path: str, errors: FieldErrors) -> None:
    for field in ("kind", "name"):
        value = reference.get(field, "")
        if not value:
            errors.required(f"{path}.{field}")
        else:
            errors.each_invalid(f"{path}.{field}", value, names.path_segment(value))


def _check_version(reference: Document, path: str, errors: FieldErrors, *, core: bool) -> None:
    version = reference.get("apiVersion", "")
    if version.count("/") > 1:
        said = f"unexpected GroupVersion string: {version}"
        errors.invalid(f"{path}.apiVersion", version, said)
    elif not core and not version.rpartition("/")[0]:
        errors.invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def _check_metric(metric: Document, path: str, errors: FieldErrors, *, any_version: bool) -> None:
    kind = metric.get("type", "")
    if not kind:
        errors.required(f"{path}.type", "must specify a metric source type")
    if kind not in METRIC_TYPES:
        errors.not_supported(f"{path}.type", kind, METRIC_TYPES)
    present = [name for name in SOURCES if metric.get(name) is not None]
    if present:
        name = present[0]
        _check_source(name, metric[name], f"{path}.{name}", errors, any_version=any_version)
    expected = next((name for name, each in SOURCES.items() if each == kind), None)
    if expected is None:
        errors.not_supported(f"{path}.type", kind, METRIC_TYPES)
    elif expected not in present:
        said = "must populate information for the given metric source"
        errors.required(f"{path}.{expected}", said)
    if len(present) > 1:
        for name in present:
            if name != expected:
                said = "must populate the given metric source only"
                errors.forbidden(f"{path}.{name}", said)


def _check_source(
    name: str, source: Document, path: str, errors: FieldErrors, *, any_version: bool
) -> None:
    if name == "object":
        described = source.get("describedObject") or {}
        _check_reference(described, f"{path}.describedObject", errors)
        if not any_version:
            _check_version(described, f"{path}.describedObject", errors, core=True)
    if name in {"resource", "containerResource"}:
        _check_resource(name, source, path, errors)
    else:
        metric = (source.get("metric") or {}).get("name", "")
        if not metric:
            errors.required(f"{path}.metric.name", "must specify a metric name")
        else:
            errors.each_invalid(f"{path}.metric.name", metric, names.path_segment(metric))
    target = source.get("target") or {}
    _check_target(target, f"{path}.target", errors)
    _check_target_of(name, target, f"{path}.target", errors)


def _check_resource(name: str, source: Document, path: str, errors: FieldErrors) -> None:
    resource = source.get("name", "")
    if not resource:
        errors.required(f"{path}.name", "must specify a resource name")
    if name != "containerResource":
        return
    if resource:
        check_container_resource(resource, f"{path}.name", errors)
    container = source.get("container", "")
    if not container:
        errors.required(f"{path}.container", "must specify a container")
    else:
        errors.each_invalid(f"{path}.container", container, names.dns_label(container))


def _check_target(target: Document, path: str, errors: FieldErrors) -> None:
    kind = target.get("type", "")
    if not kind:
        errors.required(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGET_TYPES:
        said = "must be either Utilization, Value, or AverageValue"
        errors.invalid(f"{path}.type", Named(kind), said)
    for name in ("value", "averageValue"):
        amount = target.get(name)
        if amount is not None and Quantity.parse(amount).nanos <= 0:
            errors.invalid(f"{path}.{name}", amount, "must be positive")
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        errors.invalid(f"{path}.averageUtilization", share, "must be greater than 0")


def _check_target_of(name: str, target: Document, path: str, errors: FieldErrors) -> None:
    """Check that a target says what its source can be compared with."""
    value, average = target.get("value") is not None, target.get("averageValue") is not None
    share = target.get("averageUtilization") is not None
    match name:
        case "object" if not value and not average:
            said = "must set either a target value or averageValue"
            errors.required(f"{path}.averageValue", said)
        case "external" if not value and not average:
            said = "must set either a target value for metric or a per-pod target"
            errors.required(f"{path}.averageValue", said)
        case "external" if value and average:
            said = "may not set both a target value for metric and a per-pod target"
            errors.forbidden(f"{path}.value", said)
        case "pods" if not average:
            said = "must specify a positive target averageValue"
            errors.required(f"{path}.averageValue", said)
        case "resource" | "containerResource" if not share and not average:
            said = "must set either a target raw value or a target utilization"
            errors.required(f"{path}.averageUtilization", said)
        case "resource" | "containerResource" if share and average:
            said = "may not set both a target raw value and a target utilization"
            errors.forbidden(f"{path}.averageValue", said)


def _check_scaling(rules: Document, path: str, errors: FieldErrors) -> None:
    window, chosen = rules.get("stabilizationWindowSeconds"), rules.get("selectPolicy")
    here = f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        errors.invalid(here, window, "must be greater than or equal to zero")
    if window is not None and window > LONGEST_WINDOW:
        errors.invalid(here, window, f"must be less than or equal to {LONGEST_WINDOW}")
    if chosen is not None and chosen not in SELECT_POLICIES:
        errors.not_supported(f"{path}.selectPolicy", chosen, SELECT_POLICIES)
    if not rules.get("policies"):
        errors.required(f"{path}.policies", "must specify at least one Policy")
    for index, policy in enumerate(rules.get("policies") or ()):
        _check_policy(policy, f"{path}.policies[{index}]", errors)
    tolerance = rules.get("tolerance")
    if tolerance is not None and Quantity.parse(tolerance).nanos < 0:
        errors.invalid(f"{path}.tolerance", tolerance, NOT_NEGATIVE)


def _check_policy(policy: Document, path: str, errors: FieldErrors) -> None:
    kind = policy.get("type", "")
    if kind not in {"Percent", "Pods"}:
        errors.not_supported(f"{path}.type", kind, ("Percent", "Pods"))
    for name in ("value", "periodSeconds"):
        if policy.get(name, 0) <= 0:
            errors.invalid(f"{path}.{name}", policy.get(name, 0), "must be greater than zero")
    period = policy.get("periodSeconds", 0)
    if period > LONGEST_PERIOD:
        said = f"must be less than or equal to {LONGEST_PERIOD}"
        errors.invalid(f"{path}.periodSeconds", period, said)
