from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.cluster.admission_policies import (
    check_mutating_binding,
    check_mutating_policy,
    check_policy_status,
    check_validating_binding,
    check_validating_policy,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of

GROUP = "admissionregistration.k8s.io"
RULE: dict[str, Any] = {
    "operations": ["CREATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
}
CHECKS: dict[str, Any] = {
    "validatingadmissionpolicies": check_validating_policy,
    "mutatingadmissionpolicies": check_mutating_policy,
    "validatingadmissionpolicybindings": check_validating_binding,
    "mutatingadmissionpolicybindings": check_mutating_binding,
}
USUAL: dict[str, Any] = {
    "validatingadmissionpolicies": {
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [{"expression": "true"}],
    },
    "mutatingadmissionpolicies": {
        "matchConstraints": {"resourceRules": [RULE]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}],
        "reinvocationPolicy": "Never",
    },
    "validatingadmissionpolicybindings": {"policyName": "p", "validationActions": ["Deny"]},
    "mutatingadmissionpolicybindings": {"policyName": "p"},
}
VALIDATING, MUTATING, BINDING, MUTATING_BINDING = USUAL


def wrong_with(plural: str, **spec: Any) -> list[str]:
    kind, errors = kind_of(plural, GROUP), FieldErrors()
    made = created(kind, {"metadata": {"name": "x"}, "spec": USUAL[plural] | spec})
    CHECKS[plural](kind, made, errors)
    return [each.removeprefix("spec.") for each in complaints(errors)]


@pytest.mark.parametrize("plural", CHECKS)
def test_usual_policies_and_bindings_are_fine(plural: str) -> None:
    assert wrong_with(plural) == []


@pytest.mark.parametrize(
    ("plural", "spec", "wrong"),
    [
        (
            VALIDATING,
            {"validations": []},
            [
                f"{name}: Required value: validations or auditAnnotations must contain at least "
                "one item"
                for name in ("validations", "auditAnnotations")
            ],
        ),
        (
            VALIDATING,
            {"paramKind": {"apiVersion": "a/b/c", "kind": ""}},
            [
                (
                    'paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: '
                    "a/b/c"
                ),
                "paramKind.kind: Required value",
            ],
        ),
        (
            VALIDATING,
            {"paramKind": {"apiVersion": "/", "kind": "K"}},
            ['paramKind.apiVersion: Invalid value: "/": version must be specified'],
        ),
        (
            VALIDATING,
            {"matchConstraints": {}},
            ["matchConstraints.resourceRules: Required value"],
        ),
        (
            VALIDATING,
            {"variables": [{"name": "in", "expression": "1"}, {"name": " "}]},
            [
                'variables[0].name: Invalid value: "in": must be a valid CEL identifier',
                "variables[1].name: Required value: name is not specified",
                "variables[1].expression: Required value: expression is not specified",
            ],
        ),
        (
            VALIDATING,
            {"validations": [{"expression": "true", "message": "a\nb", "reason": "Odd"}]},
            [
                r'validations[0].message: Invalid value: "a\nb": must not contain line breaks',
                (
                    'validations[0].reason: Unsupported value: "Odd": supported values: '
                    '"Forbidden", "Invalid", "RequestEntityTooLarge"'
                ),
            ],
        ),
        (
            VALIDATING,
            {"auditAnnotations": [{"key": "k", "valueExpression": "1" * 5121}, {"key": "k"}]},
            [
                (
                    "auditAnnotations[0].valueExpression: Required value: must not exceed 5120 "
                    "bytes in length"
                ),
                (
                    "auditAnnotations[1].valueExpression: Required value: valueExpression is not "
                    "specified"
                ),
                'auditAnnotations[1].key: Duplicate value: "k"',
            ],
        ),
        (
            MUTATING,
            {"mutations": [{"patchType": "JSONPatch", "applyConfiguration": {}}, {}]},
            [
                (
                    "mutations[0].jsonPatch: Required value: must be specified when patchType is "
                    "JSONPatch"
                ),
                (
                    'mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must '
                    "not be specified when patchType is JSONPatch"
                ),
                "mutations[1].patchType: Required value",
            ],
        ),
        (
            MUTATING,
            {"matchConstraints": {"resourceRules": [RULE | {"operations": ["DELETE"]}]}},
            [
                (
                    'matchConstraints.resourceRules.operations: Unsupported value: "DELETE": '
                    'supported values: "*", "CONNECT", "CREATE", "UPDATE"'
                )
            ],
        ),
        (
            BINDING,
            {"validationActions": ["Deny", "Warn", "Warn"]},
            [
                'validationActions[2]: Duplicate value: "Warn"',
                (
                    'validationActions: Invalid value: ["Deny","Warn","Warn"]: must not contain '
                    "both Deny and Warn (repeating the same validation failure information in the "
                    "API response and headers serves no purpose)"
                ),
            ],
        ),
        (
            BINDING,
            {"validationActions": [], "policyName": ""},
            [
                "policyName: Required value",
                "validationActions: Required value: at least one validation action is required",
            ],
        ),
        (
            MUTATING_BINDING,
            {"paramRef": {"name": "a/b", "selector": {}}},
            [
                "paramRef.name: Invalid value: \"a/b\": may not contain '/'",
                "paramRef.name: Forbidden: name and selector are mutually exclusive",
                "paramRef.selector: Forbidden: name and selector are mutually exclusive",
                "paramRef.parameterNotFoundAction: Required value",
            ],
        ),
    ],
)
def test_policies_and_bindings_that_could_not_work_are_refused(
    plural: str, spec: dict[str, Any], wrong: list[str]
) -> None:
    assert wrong_with(plural, **spec) == wrong


def test_warnings_about_expressions_name_the_field() -> None:
    errors = FieldErrors()
    warnings = [{"fieldRef": "spec.x", "warning": "w"}, {"fieldRef": " "}]
    document = {"status": {"typeChecking": {"expressionWarnings": warnings}}}
    check_policy_status(document, document, errors)

    assert complaints(errors) == [
        "status.typeChecking.expressionWarnings[1].warning: Required value",
        "status.typeChecking.expressionWarnings[1].fieldRef: Required value",
    ]
