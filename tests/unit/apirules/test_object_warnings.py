from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.object_warnings import warnings_of
from tests.unit.devserver.object_scene import created, kind_of

INGRESSES = kind_of("ingresses", "networking.k8s.io")
POLICIES = kind_of("networkpolicies", "networking.k8s.io")
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
