"""Cells of the built-in kinds, as the real server prints them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.devserver.printing.columns import COLUMNS
from reflet.devserver.printing.printers import PRINTERS, selector_text

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
METADATA = {"name": "x", "creationTimestamp": "2026-01-01T00:00:00Z"}
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i:1"}, {"name": "d", "image": "j"}]}}
SELECTOR = {"matchLabels": {"a": "b"}}


@pytest.mark.parametrize(
    ("resource", "content", "cells"),
    [
        ("configmaps", {"data": {"a": ""}, "binaryData": {"b": ""}}, ["x", 2, "60m"]),
        ("secrets", {"type": "Opaque", "data": {"a": ""}}, ["x", "Opaque", 1, "60m"]),
        ("namespaces", {"status": {"phase": "Active"}}, ["x", "Active", "60m"]),
        (
            "services",
            {
                "spec": {
                    "type": "NodePort",
                    "clusterIP": "10.0.0.2",
                    "externalIPs": ["1.2.3.4"],
                    "ports": [
                        {"port": 80, "protocol": "TCP", "nodePort": 30001},
                        {"port": 53, "protocol": "UDP"},
                    ],
                    "selector": {"b": "2", "a": "1"},
                }
            },
            ["x", "NodePort", "10.0.0.2", "1.2.3.4", "80:30001/TCP,53/UDP", "60m", "a=1,b=2"],
        ),
        (
            "services",
            {"spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.2"}},
            ["x", "LoadBalancer", "10.0.0.2", "<pending>", "<none>", "60m", "<none>"],
        ),
        (
            "services",
            {"spec": {"type": "ExternalName", "externalName": "a.b"}},
            ["x", "ExternalName", "<none>", "a.b", "<none>", "60m", "<none>"],
        ),
        (
            "endpoints",
            {
                "subsets": [
                    {
                        "addresses": [{"ip": f"1.1.1.{index}"} for index in range(5)],
                        "ports": [{"port": 80}],
                    }
                ]
            },
            ["x", "1.1.1.0:80,1.1.1.1:80,1.1.1.2:80 + 2 more...", "60m"],
        ),
        (
            "deployments.apps",
            {
                "spec": {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE},
                "status": {"readyReplicas": 1, "updatedReplicas": 2},
            },
            ["x", "1/2", 2, 0, "60m", "c,d", "i:1,j", "a=b"],
        ),
        (
            "replicasets.apps",
            {"spec": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE}},
            ["x", 1, 0, 0, "60m", "c,d", "i:1,j", "a=b"],
        ),
        (
            "statefulsets.apps",
            {"spec": {"replicas": 1, "template": TEMPLATE}},
            ["x", "0/1", "60m", "c,d", "i:1,j"],
        ),
        (
            "daemonsets.apps",
            {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
            ["x", 0, 0, 0, 0, 0, "<none>", "60m", "c,d", "i:1,j", "a=b"],
        ),
        (
            "jobs.batch",
            {
                "spec": {"completions": 2, "template": TEMPLATE},
                "status": {
                    "succeeded": 2,
                    "startTime": "2026-01-01T00:00:00Z",
                    "completionTime": "2026-01-01T00:00:30Z",
                    "conditions": [{"type": "Complete", "status": "True"}],
                },
            },
            ["x", "Complete", "2/2", "30s", "60m", "c,d", "i:1,j", "<none>"],
        ),
        (
            "jobs.batch",
            {"spec": {"parallelism": 3, "template": TEMPLATE}},
            ["x", "Running", "0/1 of 3", "", "60m", "c,d", "i:1,j", "<none>"],
        ),
        (
            "cronjobs.batch",
            {
                "spec": {
                    "schedule": "* * * * *",
                    "suspend": True,
                    "jobTemplate": {"spec": {"template": TEMPLATE}},
                }
            },
            ["x", "* * * * *", "<none>", "True", 0, "<none>", "60m", "c,d", "i:1,j", "<none>"],
        ),
        ("leases.coordination.k8s.io", {"spec": {"holderIdentity": "me"}}, ["x", "me", "60m"]),
        (
            "customresourcedefinitions.apiextensions.k8s.io",
            {},
            ["x", "2026-01-01T00:00:00Z"],
        ),
    ],
)
def test_a_kind_prints_its_columns(resource: str, content: Any, cells: list[Any]) -> None:
    assert PRINTERS[resource]({"metadata": METADATA, **content}, NOW) == cells


def test_a_node_says_whether_it_is_ready_and_what_for() -> None:
    node = {
        "metadata": {
            **METADATA,
            "labels": {"node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "edge"},
        },
        "spec": {"unschedulable": True},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.36"},
            "addresses": [{"type": "InternalIP", "address": "1.1.1.1"}],
        },
    }

    assert PRINTERS["nodes"](node, NOW)[1:6] == [
        "Ready,SchedulingDisabled",
        "control-plane,edge",
        "60m",
        "v1.36",
        "1.1.1.1",
    ]


def test_an_event_says_when_what_and_about_whom() -> None:
    event = {
        "metadata": METADATA,
        "involvedObject": {"kind": "Pod", "name": "p"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:50:00Z",
        "count": 3,
        "type": "Normal",
        "reason": "Pulled",
        "message": " done\n",
        "source": {"component": "kubelet", "host": "n"},
    }

    assert PRINTERS["events"](event, NOW) == [
        *("10m", "Normal", "Pulled", "pod/p", "", "kubelet, n", "done", "60m", 3, "x")
    ]


def test_every_printer_fills_its_columns() -> None:
    bare = {"metadata": METADATA, "spec": {}, "status": {}}

    assert {name: len(printer(bare, NOW)) for name, printer in PRINTERS.items()} == {
        name: len(columns) for name, columns in COLUMNS.items()
    }


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, "<none>"),
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x", "y"]}]},
            "a in (x,y)",
        ),
        ({"matchExpressions": [{"key": "a", "operator": "Like"}]}, "<error>"),
    ],
)
def test_a_selector_is_one_line(selector: Any, text: str) -> None:
    assert selector_text(selector) == text
