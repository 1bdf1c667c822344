"""Kinds that configure a cluster, over the wire: who asks, approvals, old versions, old paths."""

from __future__ import annotations

from typing import Any

import pytest

from tests.certificate_texts import REQUEST
from tests.integration.plain_client import MERGE_PATCH, TABLE, Client, pod

PODS = "/api/v1/namespaces/default/pods"
BINDINGS = "/api/v1/namespaces/default/bindings"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SCALERS = "/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers"
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


def a_request(**spec: Any) -> dict[str, Any]:
    usual = {"request": REQUEST, "signerName": "example.com/s", "usages": ["client auth"]}
    return {"metadata": {"name": "r"}, "spec": usual | spec}


def test_a_certificate_request_names_the_user_of_the_token(client: Client) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    client.create(accounts, {"metadata": {"name": "robot"}})
    token = client.create(f"{accounts}/robot/token", {"spec": {}})["status"]["token"]

    made = client.with_token(token).create(REQUESTS, a_request(username="root"))

    assert made["spec"]["username"] == "system:serviceaccount:default:robot"


def test_a_certificate_request_is_approved_through_its_own_path(client: Client) -> None:
    made = client.create(REQUESTS, a_request())
    approved = {"type": "Approved", "status": "True", "reason": "Yes"}

    change = {**made, "status": {"conditions": [approved], "certificate": "AAAA"}}
    answer = client.request("PUT", f"{REQUESTS}/r/approval", change)
    row = client.get(f"{REQUESTS}/r", **TABLE).body["rows"][0]

    assert answer.code == 200
    assert "certificate" not in answer.body["status"]
    assert row["cells"][-1] == "Approved"


def test_a_pod_is_bound_without_naming_it_in_the_path(client: Client) -> None:
    client.create(PODS, pod("p"))
    target = {"kind": "Node", "name": "node"}

    bound = client.request("POST", BINDINGS, {"metadata": {"name": "p"}, "target": target})
    lost = client.request("POST", BINDINGS, {"metadata": {"name": "q"}, "target": target})

    assert (bound.code, lost.code) == (201, 404)
    assert client.get(f"{PODS}/p").body["spec"]["nodeName"] == "node"
    assert client.get(BINDINGS).code == 405


def test_no_component_has_a_status(client: Client) -> None:
    answer = client.get("/api/v1/componentstatuses")

    assert (answer.code, answer.body["items"]) == (200, [])
    assert client.get("/api/v1/componentstatuses/etcd-0").code == 404
    assert client.request("POST", "/api/v1/componentstatuses", {}).code == 405


def test_an_autoscaler_is_one_object_in_two_versions(client: Client) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    old, new = SCALERS.format(version="v1"), SCALERS.format(version="v2")
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 60}

    client.create(old, {"metadata": {"name": "x"}, "spec": spec})
    stored = client.get(f"{new}/x").body
    memory = {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}
    metrics = [*stored["spec"]["metrics"], {"type": "Resource", "resource": memory}]
    client.request("PUT", f"{new}/x", {**stored, "spec": {**stored["spec"], "metrics": metrics}})
    client.request("PATCH", f"{old}/x", b'{"spec":{"maxReplicas":5}}', MERGE_PATCH)

    after = client.get(f"{new}/x").body
    assert stored["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 60
    assert after["spec"]["maxReplicas"] == 5
    assert {each["resource"]["name"] for each in after["spec"]["metrics"]} == {"cpu", "memory"}
    shown = client.get(old).body["items"][0]
    assert shown["spec"]["targetCPUUtilizationPercentage"] == 60
    assert "autoscaling.alpha.kubernetes.io/metrics" in shown["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("path", "body"),
    [(CLASSES, {"handler": "runc"}), (HOOKS, {"webhooks": []})],
    ids=["runtime class", "webhooks"],
)
def test_an_update_must_say_what_it_replaces(
    client: Client, path: str, body: dict[str, Any]
) -> None:
    whole = {"metadata": {"name": "x"}, **body}
    client.create(path, whole)

    answer = client.request("PUT", f"{path}/x", whole)

    assert answer.code == 422
    assert "metadata.resourceVersion: Invalid value: 0" in answer.message


def test_a_runtime_class_is_made_by_an_update(client: Client) -> None:
    body = {"metadata": {"name": "x"}, "handler": "runc"}

    assert client.request("PUT", f"{CLASSES}/x", body).code == 201


@pytest.mark.parametrize(
    ("selector", "code", "names"),
    [
        ("spec.signerName=example.com/s", 200, ["r"]),
        ("spec.signerName=example.com/t", 200, []),
        ("spec.request=AAAA", 400, []),
    ],
)
def test_certificate_requests_are_selected_by_their_signer(
    client: Client, selector: str, code: int, names: list[str]
) -> None:
    client.create(REQUESTS, a_request())

    answer = client.get(f"{REQUESTS}?fieldSelector={selector}")

    assert answer.code == code
    assert [each["metadata"]["name"] for each in answer.body.get("items", ())] == names
