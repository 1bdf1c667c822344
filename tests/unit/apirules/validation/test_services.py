from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.services import (
    check_endpoints,
    check_service,
    check_service_update,
)
from tests.unit.devserver.object_scene import complaints, created, kind_of

PORT = {"port": 80}


def service(**spec: Any) -> dict[str, Any]:
    body = {"metadata": {"name": "x"}, "spec": {"ports": [PORT]} | spec}
    return created(kind_of("services"), body)


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_service(service(**spec), errors)
    return complaints(errors)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"type": "NodePort"},
        {"type": "LoadBalancer"},
        {"clusterIP": "None", "ports": []},
        {"type": "ExternalName", "externalName": "example.com.", "ports": []},
        {"sessionAffinity": "ClientIP"},
    ],
)
def test_usual_services_are_fine(spec: dict[str, Any]) -> None:
    assert wrong_with(**spec) == []


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"ports": []}, "spec.ports: Required value"),
        ({"ports": [PORT, {"port": 81}]}, "spec.ports[0].name: Required value"),
        ({"type": "ExternalName"}, "spec.externalName: Required value"),
        (
            {"ports": [PORT | {"nodePort": 30000}]},
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
        ),
        (
            {"type": "NodePort", "clusterIP": "None"},
            (
                "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for "
                "NodePort services"
            ),
        ),
        (
            {
                "sessionAffinity": "ClientIP",
                "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}},
            },
            (
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be "
                "greater than 0 and less than 86400"
            ),
        ),
        (
            {"allocateLoadBalancerNodePorts": True},
            (
                "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is "
                "'LoadBalancer'"
            ),
        ),
        (
            {"externalTrafficPolicy": "Local"},
            (
                'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for '
                "externally-accessible services"
            ),
        ),
        ({"ports": [PORT | {"appProtocol": "a b"}]}, "spec.ports[0].appProtocol: Invalid value"),
    ],
)
def test_services_have_their_rules(spec: dict[str, Any], wrong: str) -> None:
    assert any(complaint.startswith(wrong) for complaint in wrong_with(**spec))


def test_a_service_keeps_its_address_unless_it_becomes_a_name() -> None:
    old = service()
    new = service()
    new["spec"] |= {"clusterIP": "10.96.9.9", "clusterIPs": ["10.96.9.9"]}
    named = service(type="ExternalName", externalName="example.com")
    errors = FieldErrors()

    check_service_update(named, old, errors)
    check_service_update(new, old, errors)

    assert complaints(errors) == [
        'spec.clusterIPs[0]: Invalid value: ["10.96.9.9"]: may not change once set'
    ]


def test_endpoints_have_addresses() -> None:
    errors = FieldErrors()

    check_endpoints({"subsets": [{}, {"addresses": [{"ip": "10.1.1.1"}]}]}, errors)

    assert complaints(errors) == [
        "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"
    ]
