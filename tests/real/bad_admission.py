"""Webhooks and admission policies that are refused because of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.devserver_objects import Case, cluster_case
from tests.real.good_admission import (
    MUTATING_BINDINGS,
    MUTATING_POLICIES,
    MUTATING_WEBHOOKS,
    RULE,
    VALIDATING_BINDINGS,
    VALIDATING_POLICIES,
    VALIDATING_WEBHOOKS,
    webhook,
)

BAD_SELECTOR = {
    "matchLabels": {"a b": "c d"},
    "matchExpressions": [
        {"key": "k", "operator": "In"},
        {"key": "k", "operator": "Near"},
        {"key": "k", "operator": "Exists", "values": ["v"]},
    ],
}
URLS = {
    "http://a.example": "not encrypted",
    "https:///path": "nowhere",
    "https://u%41:p@a.example/": "with a user",
    "https://a.example/?q=1&r=<x>": "with a query",
    "https://a.example/#frag%20ment": "with a fragment",
    "ftp://u@/?q#f": "with everything wrong",
    "": "of nothing",
    ":": "without a scheme",
    "1:2": "of numbers",
    "https://a b/": "with a space",
    "https://a:b/": "with a bad port",
    "https://a:1:2/": "with two ports",
    "https://[::1/": "with half a literal",
    "https://[::1]:443/": "of a literal with a port",
    "https://a/%zz": "with a bad escape",
    "https://a%41/": "with an escape in its host",
    "https://a/\t": "with a tab",
    "mailto:someone": "of another sort",
    "a.example/path": "that is relative",
    "https://x[1]/": "with a bracket",
    "https://<x>/": "that is odd and fine",
}


def bad_admission() -> Iterator[Case]:
    """Yield configurations of webhooks, policies and bindings."""
    yield from _bad_webhooks()
    yield from _bad_rules()
    yield from _bad_clients()
    yield from _bad_policies()
    yield from _bad_mutations()
    yield from _bad_bindings()


def _hooks(title: str, /, *hooks: Any, **metadata: Any) -> Case:
    return cluster_case(title, *VALIDATING_WEBHOOKS, webhooks=list(hooks), metadata=metadata)


def _bad_webhooks() -> Iterator[Case]:
    def case(title: str, /, **fields: Any) -> Case:
        made = webhook(**fields)
        return _hooks(title, {name: each for name, each in made.items() if each is not None})

    yield _hooks("webhook of nothing", {})
    yield _hooks("webhooks twice", webhook(), webhook())
    yield _hooks("webhooks with bad metadata", webhook(), name="A_", labels={"a b": ""})
    yield case("webhook with a short name", name="a.b")
    yield case("webhook with a bad name", name="A_." + "a" * 300)
    yield case("webhook with unknown words", failurePolicy="", matchPolicy="<x>")
    yield case("webhook with side effects", sideEffects="Some")
    yield case("webhook of unknown side effects", sideEffects=None)
    yield case("webhook that takes long", timeoutSeconds=31)
    yield case("webhook that takes no time", timeoutSeconds=0)
    yield case("webhook of bad selectors", namespaceSelector=BAD_SELECTOR, objectSelector=None)
    yield case("webhook of bad objects", objectSelector=BAD_SELECTOR)
    yield case("webhook of no version", admissionReviewVersions=[])
    yield case("webhook of odd versions", admissionReviewVersions=["v2", "v2", "V 3", "v2"])
    conditions: list[Any] = [{"name": "", "expression": " "}, {"name": "a b"}]
    conditions += [{"name": "a", "expression": "true"}] * 2
    yield case("webhook on bad conditions", matchConditions=conditions)
    many = [{"name": f"n{number}", "expression": "true"} for number in range(65)]
    yield case("webhook on many conditions", matchConditions=many)
    hooks = [webhook(reinvocationPolicy="Always")]
    yield cluster_case("webhook called again", *MUTATING_WEBHOOKS, webhooks=hooks)


def _bad_rules() -> Iterator[Case]:
    def case(title: str, /, **rule: Any) -> Case:
        return _hooks(title, webhook(rules=[RULE | rule]))

    yield _hooks("webhook of an empty rule", webhook(rules=[{}]))
    yield case("rule of all and more operations", operations=["*", "CREATE", "<x>"])
    yield case("rule of all and more groups", apiGroups=["*", ""])
    yield case("rule of all and more versions", apiVersions=["*", ""])
    yield case("rule in an unknown scope", scope="Somewhere")
    yield case("rule of an empty resource", resources=["", "a/*", "a/b", "*/b", "c/b"])
    yield case("rule of all and more resources", resources=["*", "a"])
    yield case("rule of a resource and all", resources=["a", "*"])
    yield case("rule of everything and more", resources=["*/*", "a", "a/b"])


def _bad_clients() -> Iterator[Case]:
    def case(title: str, /, **client: Any) -> Case:
        return _hooks(title, webhook(clientConfig=client))

    def service(title: str, /, **fields: Any) -> Case:
        return case(title, service={"name": "s", "namespace": "n"} | fields)

    for url, title in URLS.items():
        yield case(f"webhook at a URL {title}", url=url)
    yield case("webhook nowhere")
    yield case("webhook at two places", url="https://a", service={"name": "s", "namespace": "n"})
    yield case("webhook of an unnamed service", service={"namespace": "n"})
    yield case("webhook of a service nowhere", service={"name": "s"})
    yield case("webhook of an empty service", service={"port": 0})
    yield service("webhook at a high port", port=65536)
    for path in ("a", "//", "/a//b", "/A/b_c/", "/a/" + "b" * 300, "a//"):
        yield service(f"webhook at the path {path[:9]}", path=path)


def _bad_policies() -> Iterator[Case]:
    usual: Any = {
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [{"expression": "true"}],
    }

    def case(title: str, /, **spec: Any) -> Case:
        return cluster_case(title, *VALIDATING_POLICIES, spec=usual | spec)

    yield cluster_case("policy of nothing", *VALIDATING_POLICIES, spec={})
    yield cluster_case("policy without a spec", *VALIDATING_POLICIES, metadata={"name": "A_"})
    yield case("policy that fails oddly", failurePolicy="Never")
    for version in ("", "v1", "/", "a/b/c", "A_/V 1", "example.com/", "/v1"):
        kind = "K" if version else "a_b"
        parameter = {"apiVersion": version, "kind": kind}
        yield case(f"policy with parameters of {version}", paramKind=parameter | {"kind": "1-"})
    yield case("policy with parameters of no kind", paramKind={})
    yield case("policy for nothing", matchConstraints={"matchPolicy": "Odd"})
    bad_rule = RULE | {"resourceNames": ["a/b", "c", "c", "."], "operations": []}
    constraints = {"resourceRules": [bad_rule], "excludeResourceRules": [{}]}
    yield case("policy for bad resources", matchConstraints=constraints)
    selectors = {"namespaceSelector": BAD_SELECTOR, "objectSelector": BAD_SELECTOR}
    yield case("policy for bad selectors", matchConstraints=usual["matchConstraints"] | selectors)
    yield case("policy on bad conditions", matchConditions=[{}])
    variables: list[Any] = [{}, {"name": "a b", "expression": "1"}, {"name": "in"}]
    yield case("policy with bad variables", variables=variables)
    yield case("policy that says nothing", validations=[{}])
    texts = {"expression": "true", "message": "a\nb", "messageExpression": " ", "reason": "Why"}
    yield case("policy that says odd things", validations=[texts, texts | {"message": " "}])
    notes = [{"key": "a b", "valueExpression": ""}, {"key": "a b", "valueExpression": "'x'"}]
    yield case("policy with bad annotations", validations=[], auditAnnotations=notes)
    many = [{"key": f"k{number}", "valueExpression": "'<x>'"} for number in range(21)]
    yield case("policy with many annotations", auditAnnotations=many)
    long = [{"key": "k", "valueExpression": f"'{'x' * 5120}'"}]
    yield case("policy with a long annotation", auditAnnotations=long)


def _bad_mutations() -> Iterator[Case]:
    usual: Any = {"matchConstraints": {"resourceRules": [RULE]}, "reinvocationPolicy": "Never"}

    def case(title: str, /, *mutations: Any, **spec: Any) -> Case:
        made = usual | {"mutations": list(mutations)} | spec
        return cluster_case(title, *MUTATING_POLICIES, spec=made)

    patch = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}
    yield cluster_case("mutation of nothing", *MUTATING_POLICIES, spec={})
    yield case("no mutation")
    yield case("mutations that are none", {}, {"patchType": "Merge"})
    yield case("mutation without a patch", {"patchType": "JSONPatch"})
    yield case("mutation with an empty patch", {"patchType": "JSONPatch", "jsonPatch": {}})
    other = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": ""}}
    yield case("mutation with the wrong patch", other | {"jsonPatch": {"expression": "x"}})
    yield case("mutation called oddly", {"patchType": "ApplyConfiguration"}, reinvocationPolicy="x")
    deleted = {"resourceRules": [RULE | {"operations": ["DELETE", "CREATE", "x"]}]}
    yield case("mutation of what goes", {"patchType": "JSONPatch"}, matchConstraints=deleted)
    yield case("mutation never called", patch | {"jsonPatch": None}, reinvocationPolicy="")


def _bad_bindings() -> Iterator[Case]:
    def case(title: str, /, **spec: Any) -> Case:
        usual = {"policyName": "p", "validationActions": ["Deny"]}
        return cluster_case(title, *VALIDATING_BINDINGS, spec=usual | spec)

    def parameter(title: str, /, **fields: Any) -> Case:
        return case(title, paramRef={"parameterNotFoundAction": "Deny"} | fields)

    yield cluster_case("binding of nothing", *VALIDATING_BINDINGS, spec={})
    yield cluster_case("mutating binding of nothing", *MUTATING_BINDINGS, spec={})
    yield case("binding of a bad policy", policyName="A_")
    yield case("binding that does odd things", validationActions=["Deny", "Warn", "<x>", "<x>"])
    yield parameter("binding with an unnamed parameter")
    yield parameter("binding with a bad parameter", name="a/b", selector=BAD_SELECTOR)
    yield parameter("binding that fails oddly", name="a", parameterNotFoundAction="<x>")
    yield parameter("binding that fails somehow", name="a", parameterNotFoundAction="")
    yield case("binding to bad resources", matchResources={"resourceRules": [{}]})
    deleted = {"resourceRules": [RULE | {"operations": ["DELETE"]}]}
    spec = {"policyName": "A_", "matchResources": deleted}
    yield cluster_case("mutating binding to what goes", *MUTATING_BINDINGS, spec=spec)
