"""The rules of jobs and of jobs that run at times.

Upstream: pkg/apis/batch/validation/validation.go, ValidateJob and ValidateCronJobCreate
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.batch.outcomes import check_failure_policy, check_success_policy
from reflet.apirules.validation.batch.schedules import check_time_zone, wrong_schedule
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import (
    IMMUTABLE,
    LONGEST_CRON_JOB,
    check_selector,
    is_usable_selector,
    selector_matches,
)
from reflet.apirules.validation.pods import check_template
from reflet.apirules.validation.workloads import NOT_SELECTED, check_not_negative
from reflet.gotext.lazy_patterns import lazy_pattern

Document = Mapping[str, Any]

LONGEST_MANAGER: Final = 63
MOST_INDEXES: Final = 100_000  # that run, or fail, at a time
MANY_COMPLETIONS: Final = 100_000
MOST_OF_MANY: Final = 10_000  # that run, or fail, where there are many
REPLACEMENTS: Final = ("Failed", "TerminatingOrFailed")

_RESTARTS: Final = ("OnFailure", "Never")
_PATH_FORM: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_PATH: Final = lazy_pattern(_PATH_FORM)
_NEEDS_INDEXES: Final = "requires indexed completion mode"
# What of a template may change while a job has not begun.
_PLACES: Final = ("nodeSelector", "tolerations", "schedulingGates")


def check_job(document: Document, errors: FieldErrors) -> None:
    """Check a job, apart from the rules for all names."""
    spec, metadata = document["spec"], document["metadata"]
    if not spec.get("manualSelector") and spec.get("selector") is not None:
        _check_made_selector(spec, metadata, errors)
    _check_whole_spec(spec, errors)
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0:
        host = f"{metadata.get('name', '')}-{completions - 1}"
        if names.dns_label(host):
            said = f"will not able to create pod with invalid DNS label: {host}"
            errors.invalid("metadata.name", metadata.get("name", ""), said)


def _check_made_selector(spec: Document, metadata: Document, errors: FieldErrors) -> None:
    """Check that nobody has put other labels in place of those that the server made."""
    uid, name = metadata.get("uid", ""), metadata.get("name", "")
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    expected = {
        f"{prefix}{label}": value
        for prefix in ("", "batch.kubernetes.io/")
        for label, value in (("controller-uid", uid), ("job-name", name))
    }
    for label, value in expected.items():
        here = f"spec.template.metadata.labels[{label}]"
        if label not in labels:
            errors.required(here, f"must be '{value}'")
        elif labels[label] != value:
            errors.invalid(here, labels, f"must be '{value}'")
    selector = spec["selector"]
    if is_usable_selector(selector) and not selector_matches(selector, expected):
        errors.invalid("spec.selector", selector, "`selector` not auto-generated")


def _check_whole_spec(spec: Document, errors: FieldErrors) -> None:
    selector = spec.get("selector")
    _check_job_spec(spec, "spec", errors)
    if selector is None:
        errors.required("spec.selector")
    check_selector(selector, "spec.selector", errors)
    labels = (spec["template"].get("metadata") or {}).get("labels")
    if is_usable_selector(selector) and not selector_matches(selector, labels):
        errors.invalid("spec.template.metadata.labels", labels, NOT_SELECTED)


def _check_job_spec(spec: Document, path: str, errors: FieldErrors) -> None:
    numbers = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit")
    more = ("ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes")
    check_not_negative(spec, (*numbers, *more), path, errors)
    each, most = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    if most is not None and each is None:
        errors.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if spec.get("managedBy") is not None:
        _check_manager(spec["managedBy"], f"{path}.managedBy", errors)
    mode = spec.get("completionMode")
    if mode is not None and mode not in {"NonIndexed", "Indexed"}:
        errors.not_supported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        _check_indexed(spec, path, errors)
    elif mode in {None, "NonIndexed"}:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                errors.invalid(f"{path}.{name}", spec[name], _NEEDS_INDEXES)
    failure = spec.get("podFailurePolicy")
    check_failure_policy(spec, f"{path}.podFailurePolicy", errors)
    check_success_policy(spec, f"{path}.successPolicy", errors)
    replacement = spec.get("podReplacementPolicy")
    known = REPLACEMENTS if failure is None else REPLACEMENTS[:1]
    if replacement is not None and replacement not in known:
        errors.not_supported(f"{path}.podReplacementPolicy", replacement, known)
    template = spec.get("template") or {}
    check_template(template, f"{path}.template", errors)
    policy = (template.get("spec") or {}).get("restartPolicy", "")
    here = f"{path}.template.spec.restartPolicy"
    if policy in {"", "Always"}:
        errors.required(here, 'valid values: "OnFailure", "Never"')
    elif policy not in _RESTARTS:
        errors.not_supported(here, policy, _RESTARTS)
    elif failure is not None and policy != "Never":
        said = 'only "Never" is supported when podFailurePolicy is specified'
        errors.invalid(here, Named(policy), said)


def _check_manager(name: str, path: str, errors: FieldErrors) -> None:
    domain, slash, rest = name.partition("/")
    if not name:
        errors.required(path)
    elif not domain or not slash or not rest:
        errors.invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        errors.each_invalid(path, domain, names.dns_subdomain(domain))
        if not _PATH.fullmatch(rest):
            errors.invalid(path, rest, names.mismatch("Invalid path", _PATH_FORM))
    if len(name.encode()) > LONGEST_MANAGER:
        errors.too_long(path, LONGEST_MANAGER)


def _check_indexed(spec: Document, path: str, errors: FieldErrors) -> None:
    completions, parallelism = spec.get("completions"), spec.get("parallelism") or 0
    failed, here = spec.get("maxFailedIndexes"), f"{path}.maxFailedIndexes"
    if completions is None:
        errors.required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism > MOST_INDEXES:
        said = f"must be less than or equal to {MOST_INDEXES} when completion mode is Indexed"
        errors.invalid(f"{path}.parallelism", parallelism, said)
    if failed is not None:
        if completions is not None and failed > completions:
            errors.invalid(here, failed, "must be less than or equal to completions")
        if failed > MOST_INDEXES:
            errors.invalid(here, failed, f"must be less than or equal to {MOST_INDEXES}")
    if (completions or 0) <= MANY_COMPLETIONS or spec.get("backoffLimitPerIndex") is None:
        return
    if failed is None:
        said = f"must be specified when completions is above {MANY_COMPLETIONS}"
        errors.required(here, said)
    said = (
        f"must be less than or equal to {MOST_OF_MANY} when completions are above "
        f"{MANY_COMPLETIONS} and used with backoff limit per index"
    )
    if parallelism > MOST_OF_MANY:
        errors.invalid(f"{path}.parallelism", parallelism, said)
    if failed is not None and failed > MOST_OF_MANY:
        errors.invalid(here, failed, said)


def check_cron_job(document: Document, errors: FieldErrors) -> None:
    """Check a cron job, apart from the rules for all names."""
    _check_cron_spec(document["spec"], None, errors)
    name = document["metadata"].get("name", "")
    if len(name) > LONGEST_CRON_JOB:
        errors.invalid("metadata.name", name, names.too_long(LONGEST_CRON_JOB))


def check_cron_job_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed cron job, whose time zone may stay where it was."""
    _check_cron_spec(new["spec"], old["spec"], errors)


def _check_cron_spec(spec: Document, before: Document | None, errors: FieldErrors) -> None:
    schedule, zone = spec.get("schedule", ""), spec.get("timeZone")
    if not schedule:
        errors.required("spec.schedule")
    else:
        _check_schedule(schedule, zone, before, errors)
    check_not_negative(spec, ("startingDeadlineSeconds",), "spec", errors)
    if zone is not None and (before is None or zone != before.get("timeZone")):
        check_time_zone(zone, "spec.timeZone", errors)
    policy = spec.get("concurrencyPolicy", "")
    if not policy:
        errors.required("spec.concurrencyPolicy")
    elif policy not in {"Allow", "Forbid", "Replace"}:
        errors.not_supported("spec.concurrencyPolicy", policy, ("Allow", "Forbid", "Replace"))
    job, path = spec["jobTemplate"].get("spec") or {}, "spec.jobTemplate.spec"
    _check_job_spec(job, path, errors)
    if job.get("selector") is not None:
        errors.invalid(f"{path}.selector", job["selector"], "`selector` will be auto-generated")
    if job.get("manualSelector"):
        errors.not_supported(f"{path}.manualSelector", True, ("nil", "false"))
    limits = ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    check_not_negative(spec, limits, "spec", errors)


def _check_schedule(
    schedule: str, zone: str | None, before: Document | None, errors: FieldErrors
) -> None:
    errors.each_invalid("spec.schedule", schedule, wrong_schedule(schedule))
    if "TZ" not in schedule:
        return
    if before is None or "TZ" not in before.get("schedule", ""):
        said = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.invalid("spec.schedule", schedule, said)
    elif zone is not None:
        said = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.invalid("spec.schedule", schedule, said)


def check_job_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed job, which keeps what its pods depend on."""
    spec, before = new["spec"], old["spec"]
    _check_whole_spec(spec, errors)
    _check_completions(spec, before, errors)
    for name in _KEPT:
        changed = (
            _is_other_template(new, old)
            if name == "template"
            else spec.get(name) != before.get(name)
        )
        if changed:
            errors.invalid(f"spec.{name}", spec.get(name), IMMUTABLE)


_KEPT: Final = (
    *("selector", "template", "completionMode", "podFailurePolicy", "backoffLimitPerIndex"),
    *("managedBy", "successPolicy"),
)


def _check_completions(spec: Document, before: Document, errors: FieldErrors) -> None:
    completions = spec.get("completions")
    if completions == before.get("completions"):
        return
    if spec.get("completionMode") != "Indexed":
        errors.invalid("spec.completions", completions, IMMUTABLE)
    elif completions is not None and completions != spec.get("parallelism"):
        said = "can only be modified in tandem with spec.parallelism"
        errors.invalid("spec.completions", completions, said)


def _is_other_template(new: Document, old: Document) -> bool:
    """Whether pods would become others; where a suspended one's run, and with what, may change."""
    template, before = new["spec"]["template"], old["spec"]["template"]
    if not old["spec"].get("suspend") or (old.get("status") or {}).get("active"):
        return bool(template != before)
    return _without_places(template) != _without_places(before)


def _without_places(template: Document) -> dict[str, Any]:
    spec = {name: value for name, value in template["spec"].items() if name not in _PLACES}
    affinity = dict(spec.pop("affinity", None) or {})
    affinity.pop("nodeAffinity", None)
    for kind in ("containers", "initContainers"):
        spec[kind] = [
            {name: value for name, value in each.items() if name != "resources"}
            for each in spec.get(kind) or ()
        ]
    metadata = dict(template.get("metadata") or {})
    for name in ("labels", "annotations"):
        metadata.pop(name, None)
    return {**template, "metadata": metadata, "spec": spec, "affinity": affinity}
