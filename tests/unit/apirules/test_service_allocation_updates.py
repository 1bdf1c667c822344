from __future__ import annotations

import copy
from typing import Any

import pytest

from reflet.apirules.service_allocation import (
    ServiceAddresses,
    prepare_service,
    prepare_service_update,
)
from reflet.errors import Invalid
from tests.unit.devserver.object_scene import created, kind_of, surroundings

SERVICES = kind_of("services")
PORT = {"port": 80, "protocol": "TCP", "targetPort": 80}


def service(**spec: Any) -> dict[str, Any]:
    return created(SERVICES, {"metadata": {"name": "x"}, "spec": {"ports": [dict(PORT)]} | spec})


def updated(old: dict[str, Any], addresses: ServiceAddresses | None = None, /, **spec: Any) -> Any:
    new = copy.deepcopy(old)
    new["spec"].update(spec)
    prepare_service_update(old, new, surroundings(addresses))
    return new["spec"]


def test_a_service_gets_an_address_of_one_family() -> None:
    spec = service()["spec"]

    assert (spec["clusterIP"], spec["clusterIPs"]) == ("10.96.0.1", ["10.96.0.1"])
    assert (spec["ipFamilyPolicy"], spec["ipFamilies"]) == ("SingleStack", ["IPv4"])


def test_a_service_for_other_names_gets_none() -> None:
    spec = service(type="ExternalName", externalName="example.com")["spec"]

    assert "clusterIP" not in spec


def test_a_service_without_address_and_selector_may_be_of_both_families() -> None:
    spec = service(clusterIP="None")["spec"]

    assert (spec["clusterIPs"], spec["ipFamilies"]) == (["None"], ["IPv4", "IPv6"])


def test_node_ports_are_chosen_for_those_that_need_them() -> None:
    assert service(type="NodePort")["spec"]["ports"][0]["nodePort"] == 30000
    assert "nodePort" not in service()["spec"]["ports"][0]


def test_an_update_without_addresses_keeps_them() -> None:
    old = service(type="NodePort")

    spec = updated(old, clusterIP="", clusterIPs=[], ports=[dict(PORT)])

    assert spec["clusterIP"] == old["spec"]["clusterIP"]
    assert spec["ports"] == old["spec"]["ports"]


def test_an_update_to_a_plain_service_gives_its_ports_back() -> None:
    old = service(type="NodePort")

    spec = updated(old, type="ClusterIP")

    assert "nodePort" not in spec["ports"][0]


def test_an_update_to_a_plain_service_gives_up_what_is_for_balancers() -> None:
    old = service(type="LoadBalancer", loadBalancerClass="a.b/c")

    spec = updated(old, type="ClusterIP")

    assert not {"allocateLoadBalancerNodePorts", "loadBalancerClass"} & spec.keys()


def test_an_update_to_another_name_gives_its_address_back() -> None:
    spec = updated(service(), type="ExternalName", externalName="example.com")

    assert spec.keys().isdisjoint({"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"clusterIP": "1.2.3.4"}, "is not in the valid range. The range of valid IPs is 10.96"),
        ({"clusterIP": "10.96.0.9"}, "provided IP is already allocated"),
        (
            {"type": "NodePort", "ports": [PORT | {"nodePort": 80}]},
            "provided port is not in the valid range",
        ),
        (
            {"type": "NodePort", "ports": [PORT | {"nodePort": 30009}]},
            "provided port is already allocated",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(spec: dict[str, Any], message: str) -> None:
    addresses = ServiceAddresses()
    addresses.note({"spec": {"clusterIPs": ["10.96.0.9"], "ports": [{"nodePort": 30009}]}})
    document = {
        "metadata": {"name": "x"},
        "spec": {"type": "ClusterIP", "ports": [dict(PORT)]} | spec,
    }

    with pytest.raises(Invalid) as caught:
        prepare_service(document, surroundings(addresses))

    assert message in caught.value.message
