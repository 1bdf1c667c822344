"""Cells of the kinds that configure a cluster, as the real server prints them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.devserver.printing.cluster_printers import CLUSTER_TABLES

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
METADATA = {"name": "x", "creationTimestamp": "2026-01-01T00:00:00Z"}
ADMISSION = "admissionregistration.k8s.io"
REQUESTS = "certificatesigningrequests.certificates.k8s.io"
SERVICES = "apiservices.apiregistration.k8s.io"
LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
CLAIMS = "resourceclaims.resource.k8s.io"


def conditions(*types: str, **fields: str) -> dict[str, Any]:
    return {"conditions": [{"type": each, "status": "True"} | fields for each in types]}


@pytest.mark.parametrize(
    ("resource", "content", "expected"),
    [
        (SERVICES, {"spec": {}, "status": conditions("Available")}, ["x", "Local", "True", "60m"]),
        (
            SERVICES,
            {
                "spec": {"service": {"namespace": "n", "name": "s"}},
                "status": conditions("Available", status="False", reason="ServiceNotFound"),
            },
            ["x", "n/s", "False (ServiceNotFound)", "60m"],
        ),
        (SERVICES, {"spec": {}}, ["x", "Local", "Unknown", "60m"]),
        ("componentstatuses", conditions("Healthy", message="ok"), ["x", "Healthy", "ok", ""]),
        ("componentstatuses", {}, ["x", "Unknown", "", ""]),
        (
            REQUESTS,
            {"spec": {"signerName": "s", "username": "u", "expirationSeconds": 7200}},
            ["x", "60m", "s", "u", "120m", "Pending"],
        ),
        (
            REQUESTS,
            {"spec": {}, "status": conditions("Approved") | {"certificate": "AA"}},
            ["x", "60m", "<none>", "", "<none>", "Approved,Issued"],
        ),
        (
            REQUESTS,
            {"spec": {}, "status": conditions("Approved", "Denied", "Failed")},
            ["x", "60m", "<none>", "", "<none>", "Denied,Failed"],
        ),
        (f"validatingwebhookconfigurations.{ADMISSION}", {"webhooks": [{}, {}]}, ["x", 2, "60m"]),
        (
            f"mutatingadmissionpolicies.{ADMISSION}",
            {"spec": {"mutations": [{}], "paramKind": {"apiVersion": "v1", "kind": "K"}}},
            ["x", 1, "v1/K", "60m"],
        ),
        (
            f"validatingadmissionpolicybindings.{ADMISSION}",
            {"spec": {"policyName": "p", "paramRef": {"name": "n"}}},
            ["x", "p", "*/n", "60m"],
        ),
        (
            f"mutatingadmissionpolicybindings.{ADMISSION}",
            {"spec": {"policyName": "p"}},
            ["x", "p", "<unset>", "60m"],
        ),
        (
            "csidrivers.storage.k8s.io",
            {"spec": {"tokenRequests": [{"audience": "a"}, {"audience": "b"}]}},
            ["x", True, False, False, "a,b", False, "<none>", "60m"],
        ),
        ("csinodes.storage.k8s.io", {"spec": {"drivers": [{}]}}, ["x", 1, "60m"]),
        (
            "csistoragecapacities.storage.k8s.io",
            {"capacity": "1Gi"},
            ["x", METADATA["creationTimestamp"]],
        ),
        (
            "flowschemas.flowcontrol.apiserver.k8s.io",
            {
                "spec": {
                    "priorityLevelConfiguration": {"name": "l"},
                    "matchingPrecedence": 9,
                    "distinguisherMethod": {"type": "ByUser"},
                },
                "status": conditions("Dangling", status="False"),
            },
            ["x", "l", 9, "ByUser", "60m", "False"],
        ),
        (LEVELS, {"spec": {"type": "Exempt"}}, ["x", "Exempt", *["<none>"] * 4, "60m"]),
        (
            "ipaddresses.networking.k8s.io",
            {"spec": {"parentRef": {"resource": "gateways", "group": "G.io", "name": "n"}}},
            ["x", "gateways.g.io/n", "60m"],
        ),
        ("ipaddresses.networking.k8s.io", {"spec": {}}, ["x", "<none>", "60m"]),
        (CLAIMS, {"spec": {}}, ["x", "pending", "60m"]),
        (
            CLAIMS,
            {"spec": {}, "status": {"allocation": {}, "reservedFor": [{}]}},
            ["x", "allocated,reserved", "60m"],
        ),
        (
            CLAIMS,
            {"metadata": METADATA | {"deletionTimestamp": "t"}},
            ["x", "deleted", "60m"],
        ),
        ("runtimeclasses.node.k8s.io", {"handler": "h"}, ["x", "h", "60m"]),
        (
            "servicecidrs.networking.k8s.io",
            {"spec": {"cidrs": ["10.0.0.0/8", "fd00::/108"]}},
            ["x", "10.0.0.0/8,fd00::/108", "60m"],
        ),
        (
            "volumeattachments.storage.k8s.io",
            {"spec": {"attacher": "a", "nodeName": "n"}, "status": {"attached": True}},
            ["x", "a", "", "n", True, "60m"],
        ),
    ],
)
def test_a_row_says_what_the_real_servers_says(
    resource: str, content: dict[str, Any], expected: list[Any]
) -> None:
    table = CLUSTER_TABLES[resource]

    assert table.cells({"metadata": METADATA} | content, NOW) == expected


@pytest.mark.parametrize("resource", sorted(CLUSTER_TABLES))
def test_every_cell_has_a_heading_but_one_slip_of_the_real_server(resource: str) -> None:
    table = CLUSTER_TABLES[resource]

    count = len(table.cells({"metadata": METADATA, "spec": {}}, NOW))

    assert count == len(table.columns) + resource.startswith("ipaddresses")


def test_a_selector_is_written_in_gos_way() -> None:
    expression = {"key": "k", "operator": "In", "values": ["v", "w"]}
    selector = {"matchLabels": {"c": "d", "a": "b"}, "matchExpressions": [expression]}
    content = {"metadata": METADATA, "spec": {"paramRef": {"selector": selector}}}

    cells = CLUSTER_TABLES[f"validatingadmissionpolicybindings.{ADMISSION}"].cells(content, NOW)

    assert cells[2] == (
        "&LabelSelector{MatchLabels:map[string]string{a: b,c: d,},"
        "MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,"
        "Values:[v w],},},}"
    )
