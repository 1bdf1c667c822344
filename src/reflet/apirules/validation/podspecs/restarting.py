"""The rules of when containers are started again, and whether for other resources.

Upstream: pkg/apis/core/validation/validation.go, validateContainerRestartPolicy and
validateResizePolicy
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation.field_errors import FieldErrors, Named

Document = Mapping[str, Any]

POLICIES: Final = ("Always", "Never", "OnFailure")
ACTIONS: Final = ("Restart", "RestartAllContainers")
OPERATORS: Final = ("In", "NotIn")
RESIZABLE: Final = ("cpu", "memory")
RESIZE_POLICIES: Final = ("NotRequired", "RestartContainer")
MOST_RULES: Final = 20
MOST_CODES: Final = 255


def check_restart_policy(container: Document, path: str, errors: FieldErrors) -> None:
    """Check when a container is started again."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None:
        if not rules:
            return
        said = "must specify restartPolicy when restart rules are used"
        errors.required(f"{path}.restartPolicy", said)
    elif policy not in POLICIES:
        errors.not_supported(f"{path}.restartPolicy", policy, POLICIES)
    if len(rules) > MOST_RULES:
        errors.too_many(f"{path}.restartPolicyRules", len(rules), MOST_RULES)
    for index, rule in enumerate(rules):
        _check_rule(rule, f"{path}.restartPolicyRules[{index}]", errors)


def check_init_restart_policy(container: Document, path: str, errors: FieldErrors) -> None:
    """Check the same of a container that runs before the others; rules need a policy there."""
    if container.get("restartPolicy") is not None:
        check_restart_policy(container, path, errors)
    elif container.get("restartPolicyRules"):
        said = "must specify restartPolicy when restart rules are used"
        errors.required(f"{path}.restartPolicy", said)


def _check_rule(rule: Document, path: str, errors: FieldErrors) -> None:
    action, codes = rule.get("action", ""), rule.get("exitCodes")
    if action not in ACTIONS:
        errors.not_supported(f"{path}.action", action, ACTIONS)
    if codes is None:
        errors.required(f"{path}.exitCodes", "must be specified")
        return
    operator, values = codes.get("operator", ""), codes.get("values") or ()
    if operator not in OPERATORS:
        errors.not_supported(f"{path}.exitCodes.operator", operator, OPERATORS)
    if len(values) > MOST_CODES:
        errors.too_many(f"{path}.exitCodes.values", len(values), MOST_CODES)


def check_resize_policies(
    container: Document, restart_policy: str, path: str, errors: FieldErrors
) -> None:
    """Check what becomes of a container that gets more or less; so too in a pod never restarted."""
    here = f"{path}.resizePolicy"
    seen: set[str] = set()
    for index, each in enumerate(container.get("resizePolicy") or ()):
        name, policy = each.get("resourceName", ""), each.get("restartPolicy", "")
        if name in seen:
            errors.duplicate(f"{here}[{index}]", Named(name))
        seen.add(name)
        for value, known in ((name, RESIZABLE), (policy, RESIZE_POLICIES)):
            if not value:
                errors.required(here)
            elif value not in known:
                errors.not_supported(here, value, known)
        if restart_policy == "Never" and policy != "NotRequired":
            said = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            errors.invalid(here, Named(policy), said)


def check_init_resize_policies(container: Document, path: str, errors: FieldErrors) -> None:
    """Check that a container that ends before the others is not restarted for resources."""
    if container.get("restartPolicy") == "Always":
        return
    for index, each in enumerate(container.get("resizePolicy") or ()):
        if each.get("restartPolicy") == "RestartContainer":
            here = f"{path}.resizePolicy[{index}].restartPolicy"
            said = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            errors.invalid(here, Named("RestartContainer"), said)
