from __future__ import annotations

from typing import Any

import pytest

from tests.unit.devserver.object_scene import created, kind_of


def made(plural: str, group: str = "", version: str = "v1", /, **body: Any) -> dict[str, Any]:
    kind = kind_of(plural, group, version)
    return created(kind, {"metadata": {"name": "x"}} | body)


def test_a_secret_is_opaque() -> None:
    assert made("secrets")["type"] == "Opaque"


def test_a_service_has_its_usual_policies() -> None:
    spec = made("services", spec={"ports": [{"port": 80}]})["spec"]

    assert spec["ports"] == [{"protocol": "TCP", "port": 80, "targetPort": 80}]
    assert (spec["type"], spec["sessionAffinity"]) == ("ClusterIP", "None")
    assert spec["internalTrafficPolicy"] == "Cluster"


def test_a_sticky_service_sticks_for_three_hours() -> None:
    spec = made("services", spec={"ports": [{"port": 80}], "sessionAffinity": "ClientIP"})["spec"]

    assert spec["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}


def test_amounts_are_rounded_up_to_thousandths() -> None:
    body = {"spec": {"hard": {"cpu": "1u", "pods": "3"}}}

    assert made("resourcequotas", **body)["spec"]["hard"] == {"cpu": "1m", "pods": "3"}


def test_a_limit_range_derives_what_it_leaves_out() -> None:
    item = {"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Gi"}}

    (filled,) = made("limitranges", spec={"limits": [item]})["spec"]["limits"]

    assert filled["default"] == {"cpu": "2"}
    assert filled["defaultRequest"] == {"cpu": "2", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("egress", "types"), [([], ["Ingress"]), ([{"ports": [{"port": 53}]}], ["Ingress", "Egress"])]
)
def test_a_network_policy_is_about_what_it_mentions(egress: Any, types: list[str]) -> None:
    body = {"spec": {"podSelector": {}, "egress": egress}}

    policy = made("networkpolicies", "networking.k8s.io", **body)

    assert policy["spec"]["policyTypes"] == types


def test_a_port_of_a_network_policy_without_protocol_is_of_tcp_and_an_empty_one_stays() -> None:
    rule = {"ports": [{"port": 53}, {"port": 53, "protocol": ""}]}

    policy = made("networkpolicies", "networking.k8s.io", spec={"ingress": [rule]})

    protocols = [port["protocol"] for port in policy["spec"]["ingress"][0]["ports"]]
    assert protocols == ["TCP", ""]


def test_subjects_get_the_group_of_their_kind() -> None:
    binding = made(
        "rolebindings",
        "rbac.authorization.k8s.io",
        roleRef={"kind": "Role", "name": "r"},
        subjects=[{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s"}],
    )

    assert binding["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"
    assert [subject.get("apiGroup") for subject in binding["subjects"]] == [
        "rbac.authorization.k8s.io",
        None,
    ]


def test_a_definition_gets_the_names_it_leaves_out() -> None:
    spec = {
        "group": "example.org",
        "scope": "Cluster",
        "names": {"plural": "gears", "kind": "Gear"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    }

    definition = made("customresourcedefinitions", "apiextensions.k8s.io", spec=spec)

    assert definition["spec"]["names"]["singular"] == "gear"
    assert definition["spec"]["names"]["listKind"] == "GearList"
    assert definition["spec"]["conversion"] == {"strategy": "None"}
    assert definition["status"]["storedVersions"] == ["v1"]


def test_storage_and_priorities_have_their_usual_policies() -> None:
    storage = made("storageclasses", "storage.k8s.io", provisioner="p")
    priority = made("priorityclasses", "scheduling.k8s.io", value=1)

    assert (storage["reclaimPolicy"], storage["volumeBindingMode"]) == ("Delete", "Immediate")
    assert priority["preemptionPolicy"] == "PreemptLowerPriority"


@pytest.mark.parametrize(
    "spec",
    [
        {"podCIDR": "a"},
        {"podCIDRs": ["a"]},
        {"podCIDR": "a", "podCIDRs": ["b"]},
    ],
)
def test_both_names_of_a_nodes_network_say_the_same(spec: dict[str, Any]) -> None:
    filled = made("nodes", spec=spec)["spec"]

    assert (filled["podCIDR"], filled["podCIDRs"]) == ("a", ["a"])


def test_what_may_be_empty_is_filled_only_where_nothing_is_said() -> None:
    disk = {"diskName": "d", "diskURI": "u", "cachingMode": ""}

    volume = created(kind_of("persistentvolumes"), {"spec": {"azureDisk": disk}})
    claim = created(kind_of("persistentvolumeclaims"), {"spec": {"volumeMode": ""}})

    assert volume["spec"]["azureDisk"] == disk | {
        "fsType": "ext4",
        "readOnly": False,
        "kind": "Shared",
    }
    assert claim["spec"]["volumeMode"] == ""
