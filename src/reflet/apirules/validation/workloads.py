"""The rules of what makes pods: deployments and their kin, jobs.

Upstream: pkg/apis/apps/validation/validation.go, batch/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import (
    IMMUTABLE,
    LONGEST_CRON_JOB,
    NOT_NEGATIVE,
    check_selector,
    is_empty_selector,
    is_usable_selector,
    selector_matches,
)
from reflet.apirules.validation.pods import check_template
from reflet.apirules.validation.storage.persistent_volume_claims import check_claim_spec

Document = Mapping[str, Any]

NOT_SELECTED: Final = "`selector` does not match template `labels`"
_JOB_RESTARTS: Final = ("OnFailure", "Never")
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
        internal = {"Type": kind, "RollingUpdate": rolling}
        errors.not_supported(path, internal, ("Recreate", "RollingUpdate"))


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
    if policy not in {"OrderedReady", "Parallel"}:
        said = "must be 'OrderedReady' or 'Parallel'"
        errors.invalid("spec.podManagementPolicy", policy, said)
    _check_stateful_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy", errors)
    for name, policy in (spec.get("persistentVolumeClaimRetentionPolicy") or {}).items():
        if policy not in _RETENTION_POLICIES:
            here = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            errors.not_supported(here, policy, _RETENTION_POLICIES)
    if is_new:  # claims never change, so older ones may be as they are
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            here = f"spec.volumeClaimTemplates[{index}].spec"
            check_claim_spec(claim.get("spec") or {}, here, errors)
    check_not_negative(spec, ("replicas", "minReadySeconds"), "spec", errors)
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


_RETENTION_POLICIES: Final = ("Retain", "Delete")


def _check_stateful_strategy(strategy: Document, path: str, errors: FieldErrors) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    partition = (rolling or {}).get("partition", 0)
    unavailable = (rolling or {}).get("maxUnavailable")
    # Shown under the names of the real server's internal types.
    shown = rolling and {"Partition": partition, "MaxUnavailable": unavailable}
    if not kind:
        errors.required(path)
    elif kind == "OnDelete":
        if rolling is not None:
            said = "only allowed for updateStrategy 'RollingUpdate'"
            errors.invalid(f"{path}.rollingUpdate", shown, said)
    elif kind != "RollingUpdate":
        said = "must be 'RollingUpdate' or 'OnDelete'"
        errors.invalid(path, {"Type": kind, "RollingUpdate": shown}, said)
    else:
        check_not_negative(rolling or {}, ("partition",), f"{path}.rollingUpdate", errors)


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
    _check_daemon_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy", errors)
    check_not_negative(spec, ("revisionHistoryLimit",), "spec", errors)


def _check_daemon_strategy(strategy: Document, path: str, errors: FieldErrors) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate") or {}
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    if kind not in _DAEMON_STRATEGIES:
        # Shown under the names of the real server's internal types.
        shown = {"MaxUnavailable": unavailable, "MaxSurge": surge} if rolling else None
        errors.not_supported(path, {"Type": kind, "RollingUpdate": shown}, _DAEMON_STRATEGIES)
    if kind != "RollingUpdate":
        return
    path = f"{path}.rollingUpdate"
    shares = (("maxUnavailable", unavailable), ("maxSurge", surge))
    for name, share in shares:
        check_share(share, f"{path}.{name}", errors)
    for name, share in shares:
        if isinstance(share, str) and amount_of(share) > 100:
            errors.invalid(f"{path}.{name}", Named(share), "must not be greater than 100%")
    if amount_of(unavailable) and amount_of(surge):
        value = Named(surge) if isinstance(surge, str) else surge
        said = "may not be set when maxUnavailable is non-zero"
        errors.invalid(f"{path}.maxSurge", value, said)
    elif not amount_of(unavailable) and not amount_of(surge):
        errors.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


_DAEMON_STRATEGIES: Final = ("RollingUpdate", "OnDelete")


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


def check_job(document: Document, errors: FieldErrors) -> None:
    """Check a job, apart from its metadata."""
    spec = document["spec"]
    selector = spec.get("selector")
    made = {"batch.kubernetes.io/controller-uid": document["metadata"].get("uid", "")}
    if not spec.get("manualSelector") and (selector or {}).get("matchLabels") != made:
        errors.invalid("spec.selector", selector, "`selector` not auto-generated")
    _check_job_spec(spec, "spec", errors)
    if selector is None:
        errors.required("spec.selector")
    check_selector(selector, "spec.selector", errors)
    labels = (spec["template"].get("metadata") or {}).get("labels")
    if (
        is_usable_selector(selector)
        and not selector_matches(selector, labels)
        and spec.get("manualSelector")
    ):
        errors.invalid("spec.template.metadata.labels", labels, NOT_SELECTED)


def _check_job_spec(spec: Document, path: str, errors: FieldErrors) -> None:
    numbers = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit")
    check_not_negative(spec, (*numbers, "ttlSecondsAfterFinished"), path, errors)
    mode = spec.get("completionMode")
    if mode is not None and mode not in {"NonIndexed", "Indexed"}:
        errors.not_supported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed" and spec.get("completions") is None:
        errors.required(f"{path}.completions", "when completion mode is Indexed")
    replaced = spec.get("podReplacementPolicy")
    supported = ("Failed",) if spec.get("podFailurePolicy") else ("Failed", "TerminatingOrFailed")
    if replaced is not None and replaced not in supported:
        errors.not_supported(f"{path}.podReplacementPolicy", replaced, supported)
    template = spec.get("template") or {}
    check_template(template, f"{path}.template", errors)
    policy = (template.get("spec") or {}).get("restartPolicy", "")
    here = f"{path}.template.spec.restartPolicy"
    if policy in {"", "Always"}:
        errors.required(here, 'valid values: "OnFailure", "Never"')
    elif policy not in _JOB_RESTARTS:
        errors.not_supported(here, policy, _JOB_RESTARTS)


def check_cron_job(document: Document, errors: FieldErrors) -> None:
    """Check a cron job, apart from the rules for all names."""
    spec = document["spec"]
    schedule = spec.get("schedule", "")
    if not schedule:
        errors.required("spec.schedule")
    else:
        _check_schedule(schedule, errors)
    check_not_negative(spec, ("startingDeadlineSeconds",), "spec", errors)
    policy = spec.get("concurrencyPolicy", "")
    if policy not in {"Allow", "Forbid", "Replace"}:
        errors.not_supported("spec.concurrencyPolicy", policy, ("Allow", "Forbid", "Replace"))
    _check_job_spec(spec["jobTemplate"].get("spec") or {}, "spec.jobTemplate.spec", errors)
    limits = ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    check_not_negative(spec, limits, "spec", errors)
    name = document["metadata"].get("name", "")
    if len(name) > LONGEST_CRON_JOB:
        errors.invalid("metadata.name", name, names.too_long(LONGEST_CRON_JOB))


def _check_schedule(schedule: str, errors: FieldErrors) -> None:
    if schedule.startswith("@"):
        return
    fields = schedule.split()
    if len(fields) != 5:
        said = f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
        errors.invalid("spec.schedule", schedule, said)


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


_FIXED_IN_JOBS: Final = (
    *("completions", "selector", "template", "completionMode", "podFailurePolicy"),
    *("backoffLimitPerIndex", "managedBy", "successPolicy"),
)


def check_job_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that an update leaves alone what the job's pods depend on."""
    spec, before = new["spec"], old["spec"]
    _check_job_spec(spec, "spec", errors)
    for name in _FIXED_IN_JOBS:
        suspended = name == "template" and before.get("suspend")
        if spec.get(name) != before.get(name) and not suspended:
            errors.invalid(f"spec.{name}", spec.get(name), IMMUTABLE)
