"""The rules of what keeps pods running: deployments and their kin.

Upstream: pkg/apis/apps/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import (
    IMMUTABLE,
    NOT_NEGATIVE,
    check_selector,
    is_empty_selector,
    is_usable_selector,
    selector_matches,
)
from reflet.apirules.validation.pods import check_template
from reflet.apirules.validation.storage.persistent_volume_claims import check_claim_spec
from reflet.gotext.lazy_patterns import lazy_pattern

Document = Mapping[str, Any]

NOT_SELECTED: Final = "`selector` does not match template `labels`"
_INTEGER: Final = lazy_pattern("[+-]?[0-9]{1,18}")
RETENTIONS: Final = ("Retain", "Delete")
_STATEFUL_SET_FREE: Final = frozenset(
    {
        *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
        *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
    }
)
_STATEFUL_SET_FORBIDDEN: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)


def check_not_negative(
    document: Document, fields: Sequence[str], path: str, errors: FieldErrors
) -> None:
    """Check numbers that are zero or more."""
    for name in fields:
        if (document.get(name) or 0) < 0:
            errors.invalid(f"{path}.{name}", document[name], NOT_NEGATIVE)


def _check_always(template: Document, path: str, kind: str, errors: FieldErrors) -> None:
    spec = template.get("spec") or {}
    if spec.get("restartPolicy") != "Always":
        errors.not_supported(
            f"{path}.spec.restartPolicy", spec.get("restartPolicy", ""), ("Always",)
        )
    if spec.get("activeDeadlineSeconds") is not None:
        said = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.forbidden(f"{path}.spec.activeDeadlineSeconds", said)


def _check_required_selector(spec: Document, kind: str, errors: FieldErrors) -> None:
    selector = spec.get("selector")
    if selector is None:
        errors.required("spec.selector")
        return
    check_selector(selector, "spec.selector", errors)
    if is_empty_selector(selector):
        errors.invalid("spec.selector", selector, f"empty selector is invalid for {kind}")


def _check_selected(spec: Document, errors: FieldErrors) -> None:
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    selector = spec.get("selector")
    if (selector is None or not is_empty_selector(selector)) and not selector_matches(
        selector, labels
    ):
        errors.invalid("spec.template.metadata.labels", labels, NOT_SELECTED)


def check_deployment(document: Document, errors: FieldErrors) -> None:
    """Check a deployment, apart from its metadata."""
    spec = document["spec"]
    check_not_negative(spec, ("replicas",), "spec", errors)
    _check_required_selector(spec, "deployment", errors)
    if not is_usable_selector(spec.get("selector")):
        errors.invalid("spec.selector", spec["selector"], "invalid label selector")
    else:
        _check_selected(spec, errors)
        check_template(spec["template"], "spec.template", errors)
        _check_always(spec["template"], "spec.template", "ReplicaSet", errors)
    _check_strategy(spec.get("strategy") or {}, errors)
    check_not_negative(spec, ("minReadySeconds", "revisionHistoryLimit"), "spec", errors)
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        check_not_negative(spec, ("progressDeadlineSeconds",), "spec", errors)
        if deadline <= spec.get("minReadySeconds", 0):
            said = "must be greater than minReadySeconds"
            errors.invalid("spec.progressDeadlineSeconds", deadline, said)


def _check_strategy(strategy: Document, errors: FieldErrors) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    path = "spec.strategy"
    if kind == "Recreate":
        if rolling is not None:
            said = "may not be specified when strategy `type` is 'Recreate'"
            errors.forbidden(f"{path}.rollingUpdate", said)
    elif kind == "RollingUpdate":
        _check_rolling(rolling or {}, f"{path}.rollingUpdate", errors)
    else:
        internal = {"Type": kind, "RollingUpdate": _internal_shares(rolling)}
        errors.not_supported(path, internal, ("Recreate", "RollingUpdate"))


def _internal_shares(rolling: Document | None) -> Any:
    """Show a rolling update as the real server does: under the names of its internal type."""
    if rolling is None:
        return None
    most, more = (rolling.get(name, 0) for name in ("maxUnavailable", "maxSurge"))
    return {"MaxUnavailable": most, "MaxSurge": more}


def _check_rolling(rolling: Document, path: str, errors: FieldErrors) -> None:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    check_share(unavailable, f"{path}.maxUnavailable", errors)
    check_share(surge, f"{path}.maxSurge", errors)
    if amount_of(unavailable) == 0 and amount_of(surge) == 0:
        said = "may not be 0 when `maxSurge` is 0"
        errors.invalid(f"{path}.maxUnavailable", unavailable, said)
    if isinstance(unavailable, str) and amount_of(unavailable) > 100:
        errors.invalid(f"{path}.maxUnavailable", unavailable, "must not be greater than 100%")


def check_share(value: int | str, path: str, errors: FieldErrors) -> None:
    """Check a number of pods that is absolute or a percentage."""
    if isinstance(value, str):
        errors.each_invalid(path, Named(value), names.percent(value))
    elif value < 0:
        errors.invalid(path, value, NOT_NEGATIVE)


def amount_of(value: int | str) -> int:
    """Give a number, or that of a percentage; nothing for a text that is none."""
    if isinstance(value, int):
        return value
    if _INTEGER.fullmatch(value):
        return int(value)
    # Nine digits tell everything that is asked, however many there are.
    return int(value[:-1].lstrip("0")[:9] or 0) if not names.percent(value) else 0


def check_replica_set(document: Document, errors: FieldErrors) -> None:
    """Check a replica set, apart from its metadata."""
    spec = document["spec"]
    check_not_negative(spec, ("replicas", "minReadySeconds"), "spec", errors)
    _check_required_selector(spec, "deployment", errors)
    if not is_usable_selector(spec.get("selector")):
        errors.invalid("spec.selector", spec["selector"], "invalid label selector")
        return
    _check_selected(spec, errors)
    check_template(spec["template"], "spec.template", errors)
    _check_always(spec["template"], "spec.template", "ReplicaSet", errors)


def check_stateful_set(document: Document, errors: FieldErrors) -> None:
    """Check a new stateful set, apart from its metadata."""
    _check_stateful_set(document["spec"], errors, is_new=True)


def _check_stateful_set(spec: Document, errors: FieldErrors, *, is_new: bool) -> None:
    policy = spec.get("podManagementPolicy", "")
    if not policy:
        errors.required("spec.podManagementPolicy")
    elif policy not in {"OrderedReady", "Parallel"}:
        said = "must be 'OrderedReady' or 'Parallel'"
        errors.invalid("spec.podManagementPolicy", Named(policy), said)
    _check_stateful_strategy(spec.get("updateStrategy") or {}, errors)
    path = "persistentVolumeClaimRetentionPolicy"
    retention = spec.get(path)
    if retention is not None:
        for when in ("whenDeleted", "whenScaled"):
            if retention.get(when, "") not in RETENTIONS:
                here = f"spec.{path}.{when}"
                errors.not_supported(here, retention.get(when, ""), RETENTIONS)
    if is_new:  # claims never change, so older ones may be as they are
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            here = f"spec.volumeClaimTemplates[{index}].spec"
            check_claim_spec(claim.get("spec") or {}, here, errors)
    check_not_negative(spec, ("replicas", "minReadySeconds"), "spec", errors)
    check_not_negative(spec.get("ordinals") or {}, ("start",), "spec.ordinals", errors)
    name = spec.get("serviceName")
    if name:
        errors.each_invalid("spec.serviceName", name, names.dns_label(name))
    _check_required_selector(spec, "statefulset", errors)
    template = spec["template"]
    if not is_usable_selector(spec.get("selector")):
        errors.invalid("spec.selector", spec["selector"], "")
    else:
        _check_selected(spec, errors)
        check_template(_with_claims(spec), "spec.template", errors)
    _check_always(template, "spec.template", "StatefulSet", errors)


def _check_stateful_strategy(strategy: Document, errors: FieldErrors) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    path = "spec.updateStrategy"
    if not kind:
        errors.required(path)
    elif kind == "RollingUpdate":
        check_not_negative(rolling or {}, ("partition",), f"{path}.rollingUpdate", errors)
    elif kind != "OnDelete":
        internal = {"Type": kind, "RollingUpdate": _internal_rolling(rolling)}
        errors.invalid(path, internal, "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None:
        said = "only allowed for updateStrategy 'RollingUpdate'"
        errors.invalid(f"{path}.rollingUpdate", _internal_rolling(rolling), said)


def _internal_rolling(rolling: Document | None) -> Any:
    """Show a rolling update as the real server does: under the names of its internal type."""
    if rolling is None:
        return None
    most = rolling.get("maxUnavailable")
    return {"Partition": rolling.get("partition", 0), "MaxUnavailable": most}


def _with_claims(spec: Document) -> Document:
    """Give the template with the volumes that its pods get from claims."""
    template = spec["template"]
    pod: dict[str, Any] = dict(template.get("spec") or {})
    for name in ("hostname", "subdomain"):
        pod.pop(name, None)  # the controller sets them
    templates = spec.get("volumeClaimTemplates") or ()
    claims = list(dict.fromkeys(claim["metadata"].get("name", "") for claim in templates))
    volumes = [volume for volume in pod.get("volumes") or () if volume.get("name") not in claims]
    made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    pod["volumes"] = made + volumes
    return {**template, "spec": pod}


def check_daemon_set(document: Document, errors: FieldErrors) -> None:
    """Check a daemon set, apart from its metadata."""
    spec = document["spec"]
    selector = spec.get("selector")
    check_selector(selector, "spec.selector", errors)
    labels = (spec["template"].get("metadata") or {}).get("labels")
    empty = selector is not None and is_empty_selector(selector)
    if is_usable_selector(selector) and not empty and not selector_matches(selector, labels):
        errors.invalid("spec.template.metadata.labels", labels, NOT_SELECTED)
    if empty:
        errors.invalid("spec.selector", selector, "empty selector is invalid for daemonset")
    check_template(spec["template"], "spec.template", errors)
    _check_always(spec["template"], "spec.template", "DaemonSet", errors)
    check_not_negative(spec, ("minReadySeconds",), "spec", errors)
    _check_daemon_strategy(spec.get("updateStrategy") or {}, errors)
    check_not_negative(spec, ("revisionHistoryLimit",), "spec", errors)


def _check_daemon_strategy(strategy: Document, errors: FieldErrors) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    path = "spec.updateStrategy"
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        internal = {"Type": kind, "RollingUpdate": _internal_shares(rolling)}
        errors.not_supported(path, internal, ("RollingUpdate", "OnDelete"))
        return
    path = f"{path}.rollingUpdate"
    if rolling is None:
        errors.required(path)
        return
    shares = [(name, rolling.get(name, 0)) for name in ("maxUnavailable", "maxSurge")]
    for name, share in shares:
        check_share(share, f"{path}.{name}", errors)
    for name, share in shares:
        if isinstance(share, str) and amount_of(share) > 100:
            errors.invalid(f"{path}.{name}", share, "must not be greater than 100%")
    unavailable, surge = (amount_of(share) != 0 for _, share in shares)
    if unavailable and surge:
        said = "may not be set when maxUnavailable is non-zero"
        errors.invalid(f"{path}.maxSurge", rolling.get("maxSurge", 0), said)
    elif not unavailable and not surge:
        errors.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def check_replication_controller(document: Document, errors: FieldErrors) -> None:
    """Check a replication controller, apart from its metadata."""
    spec = document["spec"]
    check_not_negative(spec, ("minReadySeconds",), "spec", errors)
    selector, template = spec.get("selector") or {}, spec.get("template")
    if not selector:
        errors.required("spec.selector")
    check_not_negative(spec, ("replicas",), "spec", errors)
    if template is None:
        errors.required("spec.template")
        return
    labels = (template.get("metadata") or {}).get("labels") or {}
    if not selector.items() <= labels.items():
        errors.invalid("spec.template.metadata.labels", labels, NOT_SELECTED)
    check_template(template, "spec.template", errors)
    _check_always(template, "spec.template", "ReplicationController", errors)


def check_selector_kept(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that an update leaves the selector alone."""
    selector, before = new["spec"].get("selector"), old["spec"].get("selector")
    if selector != before:
        errors.invalid("spec.selector", selector, IMMUTABLE)


def check_stateful_set_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check what an update made of a stateful set, and that it changes only what may change."""
    _check_stateful_set(new["spec"], errors, is_new=False)
    fixed = [
        {name: value for name, value in each["spec"].items() if name not in _STATEFUL_SET_FREE}
        for each in (new, old)
    ]
    if fixed[0] != fixed[1]:
        errors.forbidden("spec", _STATEFUL_SET_FORBIDDEN)


def check_pod_template(document: Document, errors: FieldErrors) -> None:
    """Check a template that stands for itself, apart from its metadata."""
    check_template(document.get("template") or {}, "template", errors)
