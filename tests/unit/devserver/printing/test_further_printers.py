"""Cells of the kinds that few programs use, as the real server prints them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.devserver.printing.further_printers import FURTHER_TABLES

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
CREATED = "2026-01-01T00:00:00Z"
METADATA = {"name": "x", "creationTimestamp": CREATED}
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i:1"}, {"name": "d", "image": "j"}]}}


def cells(resource: str, obj: dict[str, Any]) -> list[Any]:
    return FURTHER_TABLES[resource].cells({"metadata": METADATA} | obj, NOW)


def metric(kind: str, target: dict[str, Any], **source: Any) -> dict[str, Any]:
    part = kind[:1].lower() + kind[1:]
    return {"type": kind, part: source | {"target": target}}


@pytest.mark.parametrize(
    ("resource", "content", "expected"),
    [
        ("limitranges", {}, ["x", CREATED]),
        (
            "replicationcontrollers",
            {"spec": {"replicas": 2, "selector": {"a": "b"}, "template": TEMPLATE}},
            ["x", 2, 0, 0, "60m", "c,d", "i:1,j", "a=b"],
        ),
        ("podtemplates", {"template": TEMPLATE}, ["x", "c,d", "i:1,j", "<none>"]),
        ("controllerrevisions.apps", {"revision": 3}, ["x", "<none>", 3, "60m"]),
        (
            "ingresses.networking.k8s.io",
            {"spec": {"rules": [{}]}},
            ["x", "<none>", "*", "", "80", "60m"],
        ),
        (
            "ingressclasses.networking.k8s.io",
            {"spec": {"controller": "c", "parameters": {"kind": "P", "name": "n"}}},
            ["x", "c", "P/n", "60m"],
        ),
        (
            "poddisruptionbudgets.policy",
            {"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 1}},
            ["x", "50%", "N/A", 1, "60m"],
        ),
        (
            "persistentvolumeclaims",
            {"spec": {"storageClassName": "s"}, "status": {"phase": "Pending"}},
            ["x", "Pending", "", "", "", "s", "<unset>", "60m", "<unset>"],
        ),
        (
            "persistentvolumes",
            {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadOnlyMany"]}},
            ["x", "1Gi", "ROX", "", "", "", "", "<unset>", "", "60m", "<unset>"],
        ),
        (
            "storageclasses.storage.k8s.io",
            {"provisioner": "p", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
            ["x", "p", "Delete", "Immediate", False, "60m"],
        ),
        (
            "endpointslices.discovery.k8s.io",
            {"addressType": "IPv4", "ports": [{}, {"port": 80}]},
            ["x", "IPv4", "*,80", "<unset>", "60m"],
        ),
        (
            "resourcequotas",
            {"status": {"hard": {"pods": "2", "limits.cpu": "1"}, "used": {"pods": "1"}}},
            ["x", "pods: 1/2", "limits.cpu: 0/1", "60m"],
        ),
    ],
)
def test_a_kind_is_printed_as_the_real_server_prints_it(
    resource: str, content: dict[str, Any], expected: list[Any]
) -> None:
    assert cells(resource, content) == expected


@pytest.mark.parametrize("resource", FURTHER_TABLES)
def test_there_is_a_cell_for_every_heading_even_of_an_empty_object(resource: str) -> None:
    assert len(cells(resource, {})) == len(FURTHER_TABLES[resource].columns)


def test_what_is_on_its_way_out_says_so() -> None:
    going = {"metadata": METADATA | {"deletionTimestamp": CREATED}}

    assert cells("persistentvolumes", going)[4] == "Terminating"


@pytest.mark.parametrize(
    ("wanted", "report", "text"),
    [
        (metric("Resource", {"averageUtilization": 80}, name="cpu"), {}, "cpu: <unknown>/80%"),
        (metric("Resource", {}, name="cpu"), {}, "cpu: <unknown>/<auto>"),
        (
            metric("Resource", {"averageUtilization": 80}, name="cpu"),
            {"resource": {"current": {"averageUtilization": 20}}},
            "cpu: 20%/80%",
        ),
        (
            metric("External", {"averageValue": "5"}),
            {"external": {"current": {"averageValue": "3"}}},
            "3/5 (avg)",
        ),
        (metric("Object", {"value": "5"}), {}, "<unknown>/5"),
    ],
)
def test_a_target_shows_what_is_measured_and_what_is_aimed_at(
    wanted: dict[str, Any], report: dict[str, Any], text: str
) -> None:
    scaler = {"spec": {"metrics": [wanted]}, "status": {"currentMetrics": [report]}}

    assert cells("horizontalpodautoscalers.autoscaling", scaler)[2] == text
