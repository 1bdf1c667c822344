from __future__ import annotations

import base64
from typing import Any

import pytest

from reflet.apirules.validation import other_kinds as rules
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints

MEBIBYTE = 1024 * 1024


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def wrong_with(check: Any, *documents: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check(*documents, errors)
    return complaints(errors)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5])
def test_the_length_of_bytes_is_counted_without_decoding_them(length: int) -> None:
    assert rules.decoded_length(encoded(b"x" * length)) == length


def test_a_config_map_may_hold_a_mebibyte_of_values() -> None:
    half = MEBIBYTE // 2
    full = {"data": {"a": "é" * (half // 2)}, "binaryData": {"b": encoded(b"x" * half)}}
    over = {"data": {"a": "x" * (half + 1)}, "binaryData": {"b": encoded(b"x" * half)}}

    assert wrong_with(rules.check_config_map, full) == []
    assert wrong_with(rules.check_config_map, over) == [
        "[]: Too long: may not be more than 1048576 bytes"
    ]


def test_a_key_is_used_once() -> None:
    document = {"data": {"a": ""}, "binaryData": {"a": ""}}

    assert wrong_with(rules.check_config_map, document) == [
        'data[a]: Invalid value: "a": duplicate of key present in binaryData'
    ]


@pytest.mark.parametrize(
    ("new", "fields"),
    [
        ({"immutable": True, "data": {"a": "b"}}, []),
        ({"immutable": True, "data": {"a": "c"}}, ["data"]),
        ({"data": {"a": "b"}}, ["immutable"]),
        ({"immutable": True, "data": {"a": "b"}, "binaryData": {"c": ""}}, ["binaryData"]),
    ],
)
def test_what_is_immutable_stays(new: dict[str, Any], fields: list[str]) -> None:
    old = {"immutable": True, "data": {"a": "b"}}
    errors = FieldErrors()

    rules.check_config_map_update(new, old, errors)

    assert [cause.field for cause in errors.causes] == fields


@pytest.mark.parametrize(
    ("kind", "data", "fields"),
    [
        ("Opaque", {}, []),
        ("kubernetes.io/tls", {"tls.crt": ""}, ["data[tls.key]"]),
        ("kubernetes.io/basic-auth", {"password": ""}, []),
        ("kubernetes.io/basic-auth", {}, ["data[username]", "data[password]"]),
        ("kubernetes.io/ssh-auth", {"ssh-privatekey": ""}, ["data[ssh-privatekey]"]),
        ("kubernetes.io/dockerconfigjson", {".dockerconfigjson": encoded(b"{}")}, []),
        (
            "kubernetes.io/dockerconfigjson",
            {".dockerconfigjson": encoded(b"x")},
            ["data[.dockerconfigjson]"],
        ),
        ("kubernetes.io/dockercfg", {".dockercfg": encoded(b"[]")}, ["data[.dockercfg]"]),
    ],
)
def test_types_of_secrets_require_keys(kind: str, data: dict[str, str], fields: list[str]) -> None:
    errors = FieldErrors()

    rules.check_secret({"metadata": {}, "type": kind, "data": data}, errors)

    assert [cause.field for cause in errors.causes] == fields


def test_a_secret_keeps_its_type() -> None:
    found = wrong_with(rules.check_secret_update, {"type": "a"}, {"type": "b", "immutable": True})

    assert found == [
        'type: Invalid value: "a": field is immutable',
        "immutable: Forbidden: field is immutable when `immutable` is set",
    ]


def test_a_taint_is_there_once() -> None:
    taint = {"key": "a", "effect": "NoSchedule"}

    found = wrong_with(rules.check_node, {"spec": {"taints": [taint, taint, {"key": "b"}]}})

    assert found == [
        'metadata.taints[1]: Duplicate value: {"key":"a","value":"","effect":"NoSchedule"}',
        "metadata.taints[2].effect: Required value",
    ]


def event(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "shop"}, "involvedObject": {"namespace": "shop"}} | fields


def test_an_event_is_in_the_namespace_of_what_it_is_about() -> None:
    elsewhere = event(involvedObject={"namespace": "other"})

    assert wrong_with(rules.check_event, event()) == []
    assert wrong_with(rules.check_event, elsewhere) == [
        'involvedObject.namespace: Invalid value: "other": does not match event.namespace'
    ]


def test_an_event_with_a_time_says_who_reports_it() -> None:
    found = wrong_with(rules.check_event, event(eventTime="2020-01-01T00:00:00.000000Z"))

    assert {complaint.partition(":")[0] for complaint in found} == {
        "reportingComponent",
        "reportingInstance",
        "action",
        "reason",
    }


def test_a_new_event_uses_no_old_fields() -> None:
    document = {
        "metadata": {"namespace": "shop"},
        "regarding": {"namespace": "shop"},
        "type": "Odd",
        "deprecatedCount": 1,
    }

    assert wrong_with(rules.check_new_event, document) == [
        "eventTime: Required value",
        'type: Invalid value: "": has invalid value: Odd',
        'count: Invalid value: "": needs to be unset',
    ]


def test_rules_name_verbs_and_resources() -> None:
    assert wrong_with(
        rules.check_role, {"rules": [{}, {"verbs": ["get"], "nonResourceURLs": ["/x"]}]}
    ) == [
        "rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
        (
            'rules[1].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to '
            "non-resource URLs"
        ),
    ]


def test_a_cluster_binding_binds_a_cluster_role() -> None:
    role = {"apiGroup": rules.RBAC, "kind": "Role", "name": "r"}
    subject = {"kind": "ServiceAccount", "name": "s"}

    assert wrong_with(rules.check_role_binding, {"roleRef": role, "subjects": [subject]}) == []
    assert wrong_with(
        rules.check_cluster_role_binding, {"roleRef": role, "subjects": [subject]}
    ) == [
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
        "subjects[0].namespace: Required value",
    ]


def test_a_binding_keeps_its_role() -> None:
    (complaint,) = wrong_with(rules.check_binding_update, {"roleRef": {"name": "a"}}, {})

    assert complaint.endswith("cannot change roleRef")


def test_a_new_event_keeps_everything_but_its_series() -> None:
    old = {"regarding": {"kind": "Pod", "name": "a"}, "reason": "R", "note": "n"}
    new = {"regarding": {"kind": "Pod", "name": "b"}, "reason": "S", "note": "n"}
    reference = '{"Kind":"Pod","Namespace":"","Name":"b","UID":"","APIVersion":"",'

    wrong = wrong_with(rules.check_new_event_update, new, old)

    # The reason is looked at twice.
    assert [each.partition(":")[0] for each in wrong] == ["involvedObject", "reason", "reason"]
    assert wrong[0].startswith(f"involvedObject: Invalid value: {reference}")
    series = old | {"series": {"count": 2}}
    assert wrong_with(rules.check_new_event_update, series, old) == []


@pytest.mark.parametrize(
    ("networks", "wrong"),
    [
        (["10.0.0.0/24"], []),
        (["10.0.0.0/24", "2001:db8::/64"], []),
        (["10.0.0.1/24"], ["spec.podCIDRs[0]"]),
        (["10.0.0.0/24", "10.1.0.0/24"], ["spec.podCIDRs"]),
        (["10.0.0.0/24", "2001:db8::/64", "2001:db9::/64"], ["spec.podCIDRs"]),
        (["x", "y"], ["spec.podCIDRs[0]", "spec.podCIDRs[1]", "spec.podCIDRs"]),
    ],
)
def test_pods_of_a_node_have_one_network_for_each_family(
    networks: list[str], wrong: list[str]
) -> None:
    found = wrong_with(rules.check_node, {"spec": {"podCIDRs": networks}})

    assert [complaint.partition(": ")[0] for complaint in found] == wrong


def test_a_node_has_no_less_than_nothing_and_no_half_pods() -> None:
    status = {"capacity": {"cpu": "-1", "pods": "1.5", "memory": "0.5"}}
    status["allocatable"] = {"example.com/gpu": "500m"}

    wrong = [
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'status.capacity.pods: Invalid value: "1500m": must be an integer',
        'status.allocatable.example.com/gpu: Invalid value: "500m": must be an integer',
    ]
    assert wrong_with(rules.check_node, {"status": status}) == wrong
    assert wrong_with(rules.check_node_update, {"status": status}, {}) == wrong


def test_a_node_keeps_the_addresses_of_its_pods() -> None:
    none, one, other = ({"spec": {"podCIDRs": networks}} for networks in ([], ["a"], ["b"]))

    assert wrong_with(rules.check_node_update, one, none) == []
    assert wrong_with(rules.check_node_update, other, one) == [
        'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'
    ]
