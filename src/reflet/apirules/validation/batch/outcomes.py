"""The rules of when a job has failed, and when it has succeeded.

Upstream: pkg/apis/batch/validation/validation.go, validatePodFailurePolicy and
validateSuccessPolicy
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import OMITTED, FieldErrors, Named
from reflet.apirules.validation.metadata import NOT_NEGATIVE
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.quoting import quoted

Document = Mapping[str, Any]

MOST_RULES: Final = 20
MOST_CODES: Final = 255
MOST_CONDITIONS: Final = 20
LONGEST_INDEXES: Final = 64 * 1024  # bytes
ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
OPERATORS: Final = ("In", "NotIn")
STATUSES: Final = ("False", "True", "Unknown")
_INTEGER: Final = lazy_pattern("[+-]?[0-9]{1,18}")


def check_failure_policy(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check which failures of pods end a job, and which do not count."""
    policy = spec.get("podFailurePolicy")
    if policy is None:
        return
    rules, path = policy.get("rules") or (), f"{path}.rules"
    if len(rules) > MOST_RULES:
        errors.too_many(path, len(rules), MOST_RULES)
    pod = (spec.get("template") or {}).get("spec") or {}
    known = {
        container.get("name", "")
        for kind in ("containers", "initContainers")
        for container in pod.get(kind) or ()
    }
    for index, rule in enumerate(rules):
        here = f"{path}[{index}]"
        _check_action(rule.get("action", ""), spec, f"{here}.action", errors)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
        if codes is not None:
            _check_codes(codes, known, f"{here}.onExitCodes", errors)
        _check_conditions(conditions, f"{here}.onPodConditions", errors)
        if codes is not None and conditions:
            said = "specifying both OnExitCodes and OnPodConditions is not supported"
            errors.invalid(here, OMITTED, said)
        if codes is None and not conditions:
            said = "specifying one of OnExitCodes and OnPodConditions is required"
            errors.invalid(here, OMITTED, said)


def _check_word(word: str, known: Sequence[str], path: str, errors: FieldErrors) -> None:
    if not word:
        errors.required(path, f"valid values: [{' '.join(map(quoted, known))}]")
    elif word not in known:
        errors.not_supported(path, word, known)


def _check_action(action: str, spec: Document, path: str, errors: FieldErrors) -> None:
    _check_word(action, ACTIONS, path, errors)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.invalid(path, Named(action), "requires the backoffLimitPerIndex to be set")


def _check_codes(codes: Document, known: set[str], path: str, errors: FieldErrors) -> None:
    operator, name = codes.get("operator", ""), codes.get("containerName")
    _check_word(operator, OPERATORS, f"{path}.operator", errors)
    if name is not None and name not in known:
        said = "must be one of the container or initContainer names in the pod template"
        errors.invalid(f"{path}.containerName", name, said)
    values = codes.get("values") or []
    if not values:
        errors.invalid(f"{path}.values", codes.get("values"), "at least one value is required")
    elif len(values) > MOST_CODES:
        errors.too_many(f"{path}.values", len(values), MOST_CODES)
    seen: set[int] = set()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            said = "must not be 0 for the In operator"
            errors.invalid(f"{path}.values[{index}]", value, said)
        if value in seen:
            errors.duplicate(f"{path}.values[{index}]", value)
        seen.add(value)
    if values != sorted(values):
        errors.invalid(f"{path}.values", values, "must be ordered")


def _check_conditions(conditions: Sequence[Document], path: str, errors: FieldErrors) -> None:
    if len(conditions) > MOST_CONDITIONS:
        errors.too_many(path, len(conditions), MOST_CONDITIONS)
    for index, condition in enumerate(conditions):
        here, kind = f"{path}[{index}]", condition.get("type", "")
        errors.each_invalid(f"{here}.type", kind, names.qualified_name(kind))
        _check_word(condition.get("status", ""), STATUSES, f"{here}.status", errors)


def check_success_policy(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check which indexes, or how many, are enough."""
    policy = spec.get("successPolicy")
    if policy is None:
        return
    if spec.get("completionMode") != "Indexed":
        # Shown under the names of the real server's internal types.
        parts = ("succeededIndexes", "succeededCount")
        shown = [
            {part[0].upper() + part[1:]: rule.get(part) for part in parts}
            for rule in policy.get("rules") or ()
        ]
        errors.invalid(path, {"Rules": shown or None}, "requires indexed completion mode")
        return
    rules, path = policy.get("rules") or (), f"{path}.rules"
    if not rules:
        said = "at least one rules must be specified when the successPolicy is specified"
        errors.required(path, said)
    if len(rules) > MOST_RULES:
        errors.too_many(path, len(rules), MOST_RULES)
    for index, rule in enumerate(rules):
        # Without completions, which is another complaint, the real server gives no answer.
        _check_success(rule, spec.get("completions") or 0, f"{path}[{index}]", errors)


def _check_success(rule: Document, completions: int, path: str, errors: FieldErrors) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        said = "at least one of succeededCount or succeededIndexes must be specified"
        errors.required(path, said)
    total = 0
    if indexes is not None:
        here = f"{path}.succeededIndexes"
        if len(indexes.encode()) > LONGEST_INDEXES:
            errors.too_long(here, LONGEST_INDEXES)
        try:
            total = _count_indexes(indexes, completions)
        except ValueError as wrong:
            errors.invalid(here, indexes, f"error parsing succeededIndexes: {wrong}")
    if count is None:
        return
    here = f"{path}.succeededCount"
    if count < 0:
        errors.invalid(here, count, NOT_NEGATIVE)
    if count > completions:
        said = f"must be less than or equal to {completions} (the number of specified completions)"
        errors.invalid(here, count, said)
    if indexes is not None and count > total:
        said = (
            f"must be less than or equal to {total} (the number of indexes in the specified "
            "succeededIndexes field)"
        )
        errors.invalid(here, count, said)


def _count_indexes(text: str, completions: int) -> int:
    total, last = 0, None
    for part in text.split(",") if text else ():
        limits = part.split("-")
        if len(limits) > 2:
            raise ValueError(
                f"the fragment {quoted(part)} violates the requirement that an index interval can "
                "have at most two parts separated by '-'"
            )
        first, *rest = (_index(limit, completions) for limit in limits)
        end = rest[0] if rest else first
        if rest and first >= end:
            raise ValueError(f"non-increasing order, previous: {first}, current: {end}")
        if last is not None and last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total, last = total + end - first + 1, end
    return total


def _index(text: str, completions: int) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"cannot convert string to integer for index: {quoted(text)}")
    if int(text) >= completions:
        raise ValueError(f"too large index: {quoted(text)}")
    return int(text)
