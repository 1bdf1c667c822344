from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.network_policies import (
    check_network_policy,
    check_network_policy_update,
)
from tests.unit.devserver.object_scene import complaints, created, kind_of


def policy(**spec: Any) -> dict[str, Any]:
    body = {"metadata": {"name": "x"}, "spec": spec}
    return created(kind_of("networkpolicies", "networking.k8s.io"), body)


def port(**fields: Any) -> dict[str, Any]:
    return policy(ingress=[{"ports": [fields]}])


def block(cidr: str, *excepted: str) -> dict[str, Any]:
    return policy(egress=[{"to": [{"ipBlock": {"cidr": cidr, "except": list(excepted)}}]}])


def wrong_with(document: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_network_policy(document, errors)
    return complaints(errors)


@pytest.mark.parametrize(
    "document",
    [
        policy(),
        policy(ingress=[{}], egress=[{}], policyTypes=["Egress", "Ingress"]),
        port(),
        port(port=80, endPort=80, protocol="SCTP"),
        port(port="http"),
        block("10.0.0.0/8", "10.1.0.0/16"),
        policy(ingress=[{"from": [{"podSelector": {}, "namespaceSelector": {}}]}]),
    ],
)
def test_usual_policies_are_fine(document: dict[str, Any]) -> None:
    assert wrong_with(document) == []


PORT = "spec.ingress[0].ports[0]"
PEER = "spec.egress[0].to[0]"


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        (
            port(protocol=""),
            f'{PORT}.protocol: Unsupported value: "": supported values: "TCP", "UDP", "SCTP"',
        ),
        (port(port=0), f"{PORT}.port: Invalid value: 0: must be between 1 and 65535, inclusive"),
        (
            port(port=9, endPort=8),
            f"{PORT}.endPort: Invalid value: 9: must be greater than or equal to `port`",
        ),
        (
            port(port=9, endPort=70000),
            f"{PORT}.endPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
        ),
        (
            port(port="http", endPort=8),
            f"{PORT}.endPort: Invalid value: 8: may not be specified when `port` is non-numeric",
        ),
        (
            port(endPort=8),
            f"{PORT}.endPort: Invalid value: 8: may not be specified when `port` is not specified",
        ),
        (
            port(port="-a"),
            f'{PORT}.port: Invalid value: "-a": must not begin or end with a hyphen',
        ),
        (policy(egress=[{"to": [{}]}]), f"{PEER}: Required value: must specify a peer"),
        (
            policy(egress=[{"to": [{"ipBlock": {"cidr": "::/0"}, "podSelector": {}}]}]),
            f"{PEER}: Forbidden: may not specify both ipBlock and another peer",
        ),
        (block(""), f"{PEER}.ipBlock.cidr: Required value"),
        (
            block("10.0.0.0/8", "10.0.0.0/8"),
            (
                f'{PEER}.ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset '
                "of `cidr`"
            ),
        ),
        (
            policy(policyTypes=["A"]),
            ('spec.policyTypes[0]: Unsupported value: "A": supported values: "Ingress", "Egress"'),
        ),
        (
            policy(policyTypes=["A", "B", "C"]),
            (
                'spec.policyTypes: Invalid value: ["A","B","C"]: may not specify more than two '
                "policyTypes"
            ),
        ),
        (
            policy(podSelector={"matchExpressions": [{"key": "a", "operator": "Near"}]}),
            (
                'spec.podSelector.matchExpressions[0].operator: Invalid value: "Near": not a '
                "valid selector operator"
            ),
        ),
    ],
)
def test_policies_have_their_rules(document: dict[str, Any], wrong: str) -> None:
    assert wrong_with(document) == [wrong]


def test_nothing_can_be_taken_from_a_network_that_cannot_be_read() -> None:
    found = wrong_with(block("10.0.0.0/99", "x"))

    assert [complaint.partition(":")[0] for complaint in found] == [f"{PEER}.ipBlock.cidr"]


def test_an_update_may_keep_the_networks_and_the_selector_values_that_it_had() -> None:
    def selecting(value: str, **spec: Any) -> dict[str, Any]:
        expression = {"key": "a", "operator": "In", "values": [value]}
        return policy(podSelector={"matchExpressions": [expression]}, **spec)

    old, errors = block("10.0.0.1/8", "10.1.0.1/16"), FieldErrors()
    check_network_policy_update(block("10.0.0.1/8", "10.1.0.1/16", "10.2.0.1/16"), old, errors)
    check_network_policy_update(selecting("c d"), selecting("a b"), errors)
    check_network_policy_update(selecting("c d"), selecting("a"), errors)

    assert [complaint.partition(":")[0] for complaint in complaints(errors)] == [
        f"{PEER}.ipBlock.except[1]",
        "spec.podSelector.matchExpressions[0].values[0]",
    ]
