from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.object_warnings import warnings_of
from tests.unit.devserver.object_scene import created, kind_of

INGRESSES = kind_of("ingresses", "networking.k8s.io")
POLICIES = kind_of("networkpolicies", "networking.k8s.io")
DEFINITIONS = kind_of("customresourcedefinitions", "apiextensions.k8s.io")
OLD_CLASS = {"kubernetes.io/ingress.class": "nginx"}


def ingress(**spec: Any) -> dict[str, Any]:
    return created(INGRESSES, {"metadata": {"name": "x", "annotations": OLD_CLASS}, "spec": spec})


def test_a_new_ingress_with_its_class_in_an_annotation_is_told_the_field() -> None:
    assert warnings_of(INGRESSES, ingress(), is_new=True) == [
        (
            'annotation "kubernetes.io/ingress.class" is deprecated, please use '
            "'spec.ingressClassName' instead"
        )
    ]
    assert warnings_of(INGRESSES, ingress()) == []
    assert warnings_of(INGRESSES, ingress(ingressClassName="nginx"), is_new=True) == []


@pytest.mark.parametrize("rule", [{"ingress": "from"}, {"egress": "to"}])
def test_networks_are_written_the_canonical_way(rule: dict[str, str]) -> None:
    ((direction, peers),) = rule.items()
    block = {"cidr": "2001:DB8::/32", "except": ["2001:db8:1::/48", "2001:db8:0:2::/64"]}
    spec = {direction: [{peers: [{"ipBlock": {"cidr": "10.0.0.0/8"}}, {"ipBlock": block}]}]}
    policy = created(POLICIES, {"metadata": {"name": "x"}, "spec": spec})

    assert warnings_of(POLICIES, policy) == [
        (
            f'spec.{direction}[0].{peers}[1].ipBlock.cidr: IPv6 CIDR value "2001:DB8::/32" should '
            'be in RFC 5952 canonical format ("2001:db8::/32")'
        )
    ]


def test_addresses_of_a_status_are_written_the_canonical_way() -> None:
    points = [{"hostname": "a.b"}, {"ip": "10.0.0.1"}, {"ip": "2001:DB8::1"}]
    document = ingress() | {"status": {"loadBalancer": {"ingress": points}}}

    assert warnings_of(INGRESSES, document, subresource="status") == [
        (
            'status.loadBalancer.ingress[2]: IPv6 address "2001:DB8::1" should be in RFC 5952 '
            'canonical format ("2001:db8::1")'
        )
    ]
    assert warnings_of(INGRESSES, document) == []


def definition(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}


@pytest.mark.parametrize(
    ("schema", "is_known"),
    [
        ({"type": "string", "format": "date-time"}, True),
        ({"type": "string", "format": "k8s-short-name"}, True),
        ({"type": "string", "format": "int64"}, False),
        ({"type": "integer", "format": "int64"}, True),
        ({"type": "integer", "format": "uint32"}, False),
        ({"type": "number", "format": "double"}, True),
        ({"type": "array", "format": "cidr", "items": {"type": "string"}}, False),
        ({"type": "array", "items": {"type": "string", "format": "nope"}}, False),
        ({"additionalProperties": {"type": "string", "format": "nope"}}, False),
        ({"anyOf": [{"format": "nope"}]}, False),
        ({"not": {"format": "nope"}}, False),
    ],
)
def test_a_format_that_nothing_checks_is_told(schema: dict[str, Any], is_known: bool) -> None:
    told = warnings_of(DEFINITIONS, definition(spec=schema), is_new=True)

    assert [text.split('"')[0] for text in told] == ([] if is_known else ["unrecognized format "])


def test_a_format_is_told_once_and_not_again_when_it_stays() -> None:
    first = definition(a={"format": "x"}, b={"format": "x"})
    second = definition(a={"format": "x"}, b={"format": "y"})

    assert warnings_of(DEFINITIONS, first, is_new=True) == ['unrecognized format "x"']
    assert warnings_of(DEFINITIONS, second, old=first) == ['unrecognized format "y"']
    assert warnings_of(DEFINITIONS, second, old=first, subresource="status") == []


def test_other_kinds_have_none() -> None:
    pods = kind_of("pods")

    assert warnings_of(pods, {"metadata": {"name": "x"}}, is_new=True) == []


@pytest.mark.parametrize(
    ("plural", "subresource"),
    [
        ("mutatingwebhookconfigurations", ""),
        ("validatingadmissionpolicybindings", ""),
        ("validatingadmissionpolicies", "status"),
    ],
)
def test_names_for_configurations_in_files_are_told_to_be_reserved(
    plural: str, subresource: str
) -> None:
    kind = kind_of(plural, "admissionregistration.k8s.io")
    reserved, usual = (
        warnings_of(kind, {"metadata": {"name": name}}, subresource=subresource)
        for name in ("hooks.static.k8s.io", "static.k8s.io")
    )

    assert usual == []
    assert reserved == [
        (
            'metadata.name: names ending with ".static.k8s.io" are reserved for static '
            "manifest-based configurations and cannot be managed via the API"
        )
    ]


@pytest.mark.parametrize("sort", ["mutating", "validating"])
def test_conditions_of_webhooks_are_said_not_to_be_evaluated(sort: str) -> None:
    kind = kind_of(f"{sort}webhookconfigurations", "admissionregistration.k8s.io")
    conditions = [{"name": "n", "expression": "true"}]
    document = {
        "metadata": {"name": "x"},
        "webhooks": [{"name": "a"}, {"name": "b", "matchConditions": conditions}],
    }

    (said,) = warnings_of(kind, document, is_new=True)

    assert said.startswith("webhooks[1].matchConditions: ")
