"""What a node may do, held to the recorded decisions of the real implementation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api.selectors.fields import FieldRequirement
from reflet.devserver.authorization.access_attributes import AccessAttributes
from reflet.devserver.authorization.node_authorizer import AccessDecision, node_decision, node_of
from reflet.devserver.authorization.node_graph import NodeGraph
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.storage.stored import Key

DATA = Path(__file__).parents[3] / "conformance" / "data" / "scenarios.json"
RECORDED = json.loads(DATA.read_text())["node_authorizer"]["cases"]


def graph() -> NodeGraph:
    """Give the recorded graph, and a claim, a volume and an account for the pod of node0."""
    made = NodeGraph()
    for node in ("node0", "node1"):
        name = f"pod0-{node}"
        sources = [
            {"configMapRef": {"name": f"configmap0-{name}"}},
            {"secretRef": {"name": f"secret0-{name}"}},
            {"secretRef": {"name": "secret0-shared"}},
        ]
        spec: dict[str, Any] = {
            "nodeName": node,
            "serviceAccountName": f"account-{node}",
            "containers": [{"name": "c", "envFrom": sources}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": f"claim-{node}"}}],
        }
        made.put(Key("pods", "ns0", name), {"metadata": {"name": name}, "spec": spec})
        sliced = {"metadata": {}, "spec": {"nodeName": node}}
        made.put(Key("resourceslices.resource.k8s.io", "", f"slice-{node}"), sliced)
    return made


def decision(verb: str, resource: str, **asked: Any) -> AccessDecision:
    plural, _, group = resource.partition(".")
    plural, _, subresource = plural.partition("/")
    fields = tuple(
        FieldRequirement(field, value) for field, value in asked.pop("selects", {}).items()
    )
    attributes = AccessAttributes(
        verb, group=group, resource=plural, subresource=subresource, fields=fields, **asked
    )
    return node_decision("node0", attributes, graph())


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: " ".join(map(str, case.values())))
def test_recorded_decisions(case: dict[str, Any]) -> None:
    found = decision(case["verb"], case["resource"], namespace=case["namespace"], name=case["name"])

    assert found == AccessDecision(case["allow"], case.get("reason", ""))


@pytest.mark.parametrize(
    ("verb", "resource", "asked"),
    [
        ("get", "persistentvolumeclaims", {"namespace": "ns0", "name": "claim-node0"}),
        ("patch", "persistentvolumeclaims/status", {"namespace": "ns0", "name": "claim-node0"}),
        ("get", "serviceaccounts", {"namespace": "ns0", "name": "account-node0"}),
        ("create", "serviceaccounts/token", {"namespace": "ns0", "name": "account-node0"}),
        ("get", "resourceslices.resource.k8s.io", {"name": "slice-node0"}),
        ("create", "resourceslices.resource.k8s.io", {}),
        (
            "deletecollection",
            "resourceslices.resource.k8s.io",
            {"selects": {"spec.nodeName": "node0"}},
        ),
        ("get", "pods", {"namespace": "ns0", "name": "pod0-node0"}),
        ("watch", "pods", {"selects": {"spec.nodeName": "node0"}}),
        ("list", "pods", {"namespace": "ns0", "name": "pod0-node0"}),
        ("create", "pods", {"namespace": "ns0"}),
        ("delete", "pods", {"namespace": "ns0", "name": "anybody's"}),
        ("update", "pods/status", {"namespace": "ns0", "name": "anybody's"}),
        ("create", "pods/eviction", {"namespace": "ns0", "name": "anybody's"}),
        ("get", "nodes", {"name": "node0"}),
        ("watch", "nodes", {"name": "node0"}),
        ("create", "nodes", {}),
        ("patch", "nodes/status", {"name": "node1"}),
        ("get", "leases.coordination.k8s.io", {"namespace": "kube-node-lease", "name": "node0"}),
        ("create", "leases.coordination.k8s.io", {"namespace": "kube-node-lease"}),
        ("update", "csinodes.storage.k8s.io", {"name": "node0"}),
        ("list", "services", {}),
        ("get", "endpoints", {"namespace": "ns0", "name": "x"}),
        ("create", "events.events.k8s.io", {"namespace": "ns0"}),
        ("create", "tokenreviews.authentication.k8s.io", {}),
        ("watch", "runtimeclasses.node.k8s.io", {}),
    ],
)
def test_allowed(verb: str, resource: str, asked: Any) -> None:
    assert decision(verb, resource, **asked) == AccessDecision(is_allowed=True)


UNRELATED = "no relationship found between node 'node0' and this object"


@pytest.mark.parametrize(
    ("verb", "resource", "asked", "reason"),
    [
        ("update", "secrets", {}, "can only read resources of this type"),
        ("get", "secrets/x", {}, "cannot read subresource"),
        ("list", "persistentvolumes", {}, "can only get individual resources of this type"),
        ("get", "persistentvolumes/status", {"name": "a"}, "cannot get subresource"),
        ("get", "persistentvolumes", {"name": "a"}, UNRELATED),
        ("get", "persistentvolumeclaims/status", {}, "can only get/update/patch this type"),
        (
            "create",
            "serviceaccounts/token",
            {"namespace": "ns0", "name": "account-node1"},
            UNRELATED,
        ),
        (
            "list",
            "serviceaccounts",
            {},
            "can only create tokens for individual service accounts",
        ),
        (
            "create",
            "serviceaccounts/other",
            {"name": "a"},
            "can only create token subresource of serviceaccount",
        ),
        ("get", "resourceslices.resource.k8s.io", {"name": "slice-node1"}, UNRELATED),
        (
            "list",
            "resourceslices.resource.k8s.io",
            {"selects": {"spec.nodeName": "node1"}},
            "can only list/watch/deletecollection resourceslices with nodeName field selector",
        ),
        ("list", "pods", {}, "can only list/watch pods with spec.nodeName field selector"),
        ("list", "pods", {"namespace": "ns0", "name": "pod0-node1"}, UNRELATED),
        ("update", "pods", {"name": "a"}, ""),
        ("get", "pods/log", {"name": "a"}, ""),
        ("list", "nodes", {}, "node 'node0' cannot read all nodes, only its own Node object"),
        (
            "get",
            "nodes",
            {"name": "node1"},
            "node 'node0' cannot read 'node1', only its own Node object",
        ),
        ("delete", "nodes", {"name": "node0"}, ""),
        (
            "list",
            "leases.coordination.k8s.io",
            {},
            "can only get, create, update, patch, or delete a node lease",
        ),
        (
            "get",
            "leases.coordination.k8s.io",
            {"namespace": "ns0"},
            'can only access leases in the "kube-node-lease" system namespace',
        ),
        (
            "get",
            "leases.coordination.k8s.io",
            {"namespace": "kube-node-lease", "name": "node1"},
            "can only access node lease with the same name as the requesting node",
        ),
        (
            "get",
            "csinodes.storage.k8s.io",
            {"name": "node1"},
            "can only access CSINode with the same name as the requesting node",
        ),
        ("get", "csinodes/a.storage.k8s.io", {}, "cannot authorize CSINode subresources"),
        ("create", "services", {}, ""),
        ("get", "services/status", {"name": "a"}, ""),
        ("list", "deployments.apps", {}, ""),
        ("list", "secrets.example.com", {}, ""),
    ],
)
def test_refused(verb: str, resource: str, asked: Any, reason: str) -> None:
    assert decision(verb, resource, **asked) == AccessDecision(is_allowed=False, reason=reason)


def test_a_node_without_a_name_may_nothing() -> None:
    found = node_decision("", AccessAttributes("list", resource="services"), graph())

    assert found == AccessDecision(is_allowed=False, reason='unknown node for user "system:node:"')


@pytest.mark.parametrize(
    ("name", "group", "node"),
    [
        ("system:node:a", "system:nodes", "a"),
        ("system:node:", "system:nodes", ""),
        ("system:node:a", "dev", None),
        ("a", "system:nodes", None),
    ],
)
def test_a_node_is_known_by_its_name_and_its_group(name: str, group: str, node: str | None) -> None:
    assert node_of(UserInfo(name, groups=("x", group))) == node
