"""The defaults of what configures the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.devserver.object_scene import created, kind_of

ADMISSION = "admissionregistration.k8s.io"
MATCHING = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}


def made(plural: str, group: str, **fields: Any) -> dict[str, Any]:
    return created(kind_of(plural, group), {"metadata": {"name": "x"}, **fields})


@pytest.mark.parametrize(
    ("plural", "more"),
    [
        ("mutatingwebhookconfigurations", {"reinvocationPolicy": "Never"}),
        ("validatingwebhookconfigurations", {}),
    ],
)
def test_a_webhook_fails_closed_within_ten_seconds(plural: str, more: dict[str, str]) -> None:
    config = {"service": {"namespace": "n", "name": "s"}}
    hook = {"name": "h.example.com", "clientConfig": config, "rules": [{"operations": ["*"]}]}

    filled = made(plural, ADMISSION, webhooks=[hook])["webhooks"][0]

    usual = MATCHING | {"failurePolicy": "Fail", "timeoutSeconds": 10} | more
    assert {name: filled[name] for name in usual} == usual
    assert ("reinvocationPolicy" in filled) is bool(more)
    assert filled["rules"][0]["scope"] == "*"
    assert filled["clientConfig"]["service"]["port"] == 443


@pytest.mark.parametrize("plural", ["validatingadmissionpolicies", "mutatingadmissionpolicies"])
def test_a_policy_fails_closed_for_every_scope(plural: str) -> None:
    rules = [{"operations": ["*"], "resources": ["pods"]}]

    spec = made(plural, ADMISSION, spec={"matchConstraints": {"resourceRules": rules}})["spec"]

    assert spec["failurePolicy"] == "Fail"
    assert spec["matchConstraints"]["resourceRules"][0]["scope"] == "*"
    assert {name: spec["matchConstraints"][name] for name in MATCHING} == MATCHING


def test_a_driver_needs_attaching_and_nothing_else() -> None:
    assert made("csidrivers", "storage.k8s.io", spec={})["spec"] == {
        "attachRequired": True,
        "podInfoOnMount": False,
        "volumeLifecycleModes": ["Persistent"],
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "requiresRepublish": False,
        "seLinuxMount": False,
    }


def test_a_flow_comes_late_and_a_level_queues() -> None:
    group = "flowcontrol.apiserver.k8s.io"
    limited = {"limitResponse": {"type": "Queue", "queuing": {"queues": 16}}}

    flow = made("flowschemas", group, spec={"priorityLevelConfiguration": {"name": "l"}})
    level = made("prioritylevelconfigurations", group, spec={"type": "Limited", "limited": limited})
    exempt = made("prioritylevelconfigurations", group, spec={"type": "Exempt", "exempt": {}})

    assert flow["spec"]["matchingPrecedence"] == 1000
    assert level["spec"]["limited"] == {
        "nominalConcurrencyShares": 30,
        "limitResponse": {
            "type": "Queue",
            "queuing": {"queues": 16, "handSize": 8, "queueLengthLimit": 50},
        },
        "lendablePercent": 0,
    }
    assert exempt["spec"]["exempt"] == {"nominalConcurrencyShares": 0, "lendablePercent": 0}


def test_a_claim_asks_for_one_device_unless_it_says_all() -> None:
    requests = [
        {"name": "a", "exactly": {"deviceClassName": "c"}},
        {"name": "b", "exactly": {"deviceClassName": "c", "allocationMode": "All"}},
        {"name": "c", "firstAvailable": [{"name": "d", "deviceClassName": "c"}]},
    ]

    found = made("resourceclaims", "resource.k8s.io", spec={"devices": {"requests": requests}})

    one, every, any_of = found["spec"]["devices"]["requests"]
    assert (one["exactly"]["allocationMode"], one["exactly"]["count"]) == ("ExactCount", 1)
    assert "count" not in every["exactly"]
    assert any_of["firstAvailable"][0]["count"] == 1


@pytest.mark.parametrize(
    ("annotations", "percentage"),
    [({}, 80), ({"autoscaling.alpha.kubernetes.io/metrics": "[]"}, None)],
)
def test_an_old_autoscaler_watches_processors_unless_it_notes_other_metrics(
    annotations: dict[str, str], percentage: int | None
) -> None:
    target = {"kind": "Deployment", "name": "w"}
    body = {
        "metadata": {"name": "x", "annotations": annotations},
        "spec": {"scaleTargetRef": target, "maxReplicas": 3},
    }

    spec = created(kind_of("horizontalpodautoscalers", "autoscaling"), body)["spec"]

    assert spec.get("targetCPUUtilizationPercentage") == percentage
    assert spec["minReplicas"] == 1
