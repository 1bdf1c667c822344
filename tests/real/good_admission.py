"""Webhooks and admission policies that are accepted; what they match is nowhere.

Owns: the manifests.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.certificate_texts import CERTIFICATE
from tests.real.devserver_objects import Case, Manifest, cluster_case

ADMISSION: Final = "admissionregistration.k8s.io/v1"
RULE: Final = {
    "apiGroups": ["nowhere.example"],
    "apiVersions": ["v1"],
    "resources": ["nothings"],
    "operations": ["CREATE"],
}
RICH_RULE: Final = {
    "apiGroups": ["", "nowhere.example"],
    "apiVersions": ["v1", "v1beta1"],
    "resources": ["nothings", "nothings/status", "naughts/*"],
    "operations": ["CREATE", "UPDATE"],
    "scope": "Namespaced",
}
SELECTOR: Final = {
    "matchLabels": {"a": "b", "c": "d"},
    "matchExpressions": [
        {"key": "k", "operator": "In", "values": ["v", "w"]},
        {"key": "example.com/l", "operator": "Exists"},
    ],
}
MUTATING_WEBHOOKS: Final = (
    *(ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
)
VALIDATING_WEBHOOKS: Final = (
    *(ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
)
VALIDATING_POLICIES: Final = (
    *(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
)
VALIDATING_BINDINGS: Final = (
    *(ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
)
MUTATING_POLICIES: Final = (ADMISSION, "mutatingadmissionpolicies", "MutatingAdmissionPolicy")
MUTATING_BINDINGS: Final = (
    *(ADMISSION, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
)


def good_admission() -> Iterator[Case]:
    """Yield a poor and a rich object of each kind."""
    yield from _webhooks()
    yield from _validating_policies()
    yield from _mutating_policies()


def webhook(**fields: Any) -> Manifest:
    service = {"namespace": "nowhere", "name": "hook", "path": "/admit"}
    usual = {
        "name": "hook.nowhere.example",
        "clientConfig": {"service": service},
        "rules": [RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return usual | fields


def _webhooks() -> Iterator[Case]:
    yield cluster_case("mutating webhooks", *MUTATING_WEBHOOKS, webhooks=[webhook()])
    reserved = {"name": "{namespace}.static.k8s.io"}
    yield cluster_case("reserved webhooks", *MUTATING_WEBHOOKS, metadata=reserved)
    service = {"namespace": "nowhere", "name": "hook", "path": "/v1/admit.it/", "port": 8443}
    yield cluster_case(
        "rich mutating webhooks",
        *MUTATING_WEBHOOKS,
        webhooks=[
            webhook(
                clientConfig={"service": service, "caBundle": CERTIFICATE},
                failurePolicy="Ignore",
                matchPolicy="Equivalent",
                reinvocationPolicy="IfNeeded",
                sideEffects="NoneOnDryRun",
                timeoutSeconds=1,
                admissionReviewVersions=["v1", "v1beta1", "v7"],
                namespaceSelector=SELECTOR,
                objectSelector=SELECTOR,
                rules=[RICH_RULE, RULE | {"resources": ["*"], "operations": ["*"]}],
                matchConditions=[
                    {"name": "never", "expression": "false"},
                    {"name": "example.com/or-no", "expression": "1 == 2"},
                ],
            )
        ],
    )
    yield cluster_case(
        "validating webhooks",
        *VALIDATING_WEBHOOKS,
        metadata={
            "annotations": {"cert-manager.io/inject-ca-from": "cert-manager/webhook-ca"},
            "labels": {"app": "webhook"},
            "finalizers": ["any"],
        },
        webhooks=[
            webhook(
                failurePolicy="Ignore",
                timeoutSeconds=30,
                matchPolicy="Exact",
                namespaceSelector={"matchExpressions": [{"key": "a", "operator": "Exists"}]},
                rules=[RULE | {"scope": "Namespaced"}],
                matchConditions=[{"name": "never", "expression": "false"}],
            ),
            webhook(
                name="second.nowhere.example", clientConfig={"url": "https://nowhere.example/"}
            ),
        ],
    )


def _validating_policies() -> Iterator[Case]:
    constraints = {"resourceRules": [RULE]}
    yield cluster_case(
        "validating policy",
        *VALIDATING_POLICIES,
        spec={
            "matchConstraints": constraints,
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "validations": [{"expression": "true"}],
        },
    )
    yield cluster_case(
        "rich validating policy",
        *VALIDATING_POLICIES,
        spec={
            "failurePolicy": "Ignore",
            "paramKind": {"apiVersion": "rules.example.com/v1", "kind": "ReplicaLimit"},
            "matchConstraints": {
                "matchPolicy": "Exact",
                "namespaceSelector": SELECTOR,
                "objectSelector": SELECTOR,
                "resourceRules": [RICH_RULE | {"resourceNames": ["a", "b:c"]}],
                "excludeResourceRules": [RULE | {"operations": ["DELETE"]}],
            },
            "matchConditions": [{"name": "always", "expression": "true"}],
            "variables": [{"name": "one", "expression": "1"}, {"name": "two", "expression": "2"}],
            "validations": [
                {
                    "expression": "true",
                    "message": "must be true",
                    "messageExpression": "'it is not'",
                    "reason": "Forbidden",
                },
                {"expression": "1 < 2"},
            ],
            "auditAnnotations": [{"key": "seen", "valueExpression": "'yes'"}],
        },
    )
    yield cluster_case(
        "validating policy binding",
        *VALIDATING_BINDINGS,
        spec={
            "policyName": "nobody",
            "validationActions": ["Deny"],
            "matchResources": constraints,
            "paramRef": {"name": "p", "parameterNotFoundAction": "Deny"},
        },
    )
    yield cluster_case(
        "rich validating policy binding",
        *VALIDATING_BINDINGS,
        spec={
            "policyName": "no.body",
            "validationActions": ["Warn", "Audit"],
            "matchResources": {
                "namespaceSelector": SELECTOR,
                "excludeResourceRules": [RICH_RULE | {"resourceNames": ["a"]}],
            },
            "paramRef": {
                "namespace": "n",
                "selector": SELECTOR,
                "parameterNotFoundAction": "Allow",
            },
        },
    )


def _mutating_policies() -> Iterator[Case]:
    patch = {"expression": "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}
    yield cluster_case(
        "mutating policy",
        *MUTATING_POLICIES,
        spec={
            "matchConstraints": {"resourceRules": [RULE]},
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": patch}],
        },
    )
    operation = "[JSONPatch{op: 'remove', path: '/metadata/labels/a'}]"
    yield cluster_case(
        "rich mutating policy",
        *MUTATING_POLICIES,
        spec={
            "failurePolicy": "Ignore",
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {"objectSelector": SELECTOR, "resourceRules": [RICH_RULE]},
            "matchConditions": [{"name": "always", "expression": "true"}],
            "variables": [{"name": "one", "expression": "1"}],
            "reinvocationPolicy": "IfNeeded",
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": patch},
                {"patchType": "JSONPatch", "jsonPatch": {"expression": operation}},
            ],
        },
    )
    yield cluster_case(
        "mutating policy binding",
        *MUTATING_BINDINGS,
        spec={
            "policyName": "nobody",
            "paramRef": {"selector": SELECTOR, "parameterNotFoundAction": "Allow"},
        },
    )
    yield cluster_case(
        "rich mutating policy binding",
        *MUTATING_BINDINGS,
        spec={
            "policyName": "no.body",
            "paramRef": {"name": "p", "parameterNotFoundAction": "Deny"},
            "matchResources": {
                "matchPolicy": "Exact",
                "objectSelector": SELECTOR,
                "resourceRules": [RICH_RULE | {"resourceNames": ["a"]}],
            },
        },
    )
