"""Scenes about subresources, and about kinds with a life of their own: events, leases, nodes.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import config_map, manifest, pod, workload
from tests.real.differential.script import (
    APPS,
    CONFIG_MAPS,
    CORE,
    JSON_PATCH,
    PODS,
    STRATEGIC,
    TABLE,
    Edited,
    Scene,
    get,
    patch,
    post,
    put,
    scene,
)

NEW_EVENTS: Final = "/apis/events.k8s.io/v1/namespaces/<ns>/events"
LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/<ns>/leases"
KEPT: Final = {"made": ""}


def subresource_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _status()
    yield from _scale()
    yield from _tokens_and_bindings()
    yield from _events_and_leases()
    yield from _nodes_and_namespaces()


def _status() -> Iterator[Scene]:
    yield scene(
        "status",
        post(PODS, pod() | {"status": {"phase": "Failed"}}, keep=KEPT),
        get(f"{PODS}/x/status"),
        put(f"{PODS}/x/status", Edited("made", {"status.phase": "Running"}), keep=KEPT),
        put(f"{PODS}/x/status", Edited("made", {"metadata.labels": {"a": "b"}}), keep=KEPT),
        put(f"{PODS}/x/status", Edited("made", {"metadata.annotations": {"a": "b"}}), keep=KEPT),
        put(f"{PODS}/x/status", Edited("made", {"spec.nodeName": "n1"}), keep=KEPT),
        put(f"{PODS}/x", Edited("made", {"status.phase": "Pending"}), keep=KEPT),
        put(f"{PODS}/x/status", Edited("made", {"metadata.resourceVersion": "1"})),
        patch(f"{PODS}/x/status", {"status": {"message": "hello"}}),
        patch(f"{PODS}/x/status", {"spec": {"nodeName": "n2"}}),
        patch(
            f"{PODS}/x/status", [{"op": "add", "path": "/status/reason", "value": "R"}], JSON_PATCH
        ),
        patch(f"{PODS}/x/status", {"status": {"qosClass": "Guaranteed"}}, view=_reason),
        patch(f"{PODS}/none/status", {"status": {}}),
        get(f"{PODS}/x/nonsense"),
        get(f"{CONFIG_MAPS}/x/status"),
        patch(f"{CONFIG_MAPS}/x/status", {}),
        get(f"{PODS}/x"),
    )


def _reason(body: Any) -> Any:
    return {name: body.get(name) for name in ("code", "reason")}


def _scale() -> Iterator[Scene]:
    one = f"{APPS}/deployments/x/scale"
    yield scene(
        "scale",
        post(f"{APPS}/deployments", workload("Deployment")),
        get(one, keep=KEPT),
        put(one, Edited("made", {"spec.replicas": 3}), keep=KEPT),
        put(one, Edited("made", {"spec.replicas": 4, "metadata.resourceVersion": "1"})),
        put(one, Edited("made", {"spec.replicas": -1})),
        patch(one, {"spec": {"replicas": 5}}),
        patch(one, [{"op": "replace", "path": "/spec/replicas", "value": 6}], JSON_PATCH),
        patch(one, {"spec": {"replicas": 7}}, STRATEGIC),
        patch(
            one,
            {"spec": {"replicas": "x"}},
            differs=dict.fromkeys(
                ("body.message", "body.details.causes.0.message"), "managers-in-scales"
            ),
        ),
        put(one, workload("Deployment")),
        get(f"{APPS}/deployments/none/scale"),
        get(f"{APPS}/daemonsets/x/scale"),
        get(one, accept=TABLE, differs={"body": "tables-of-scales"}),
        get(f"{APPS}/deployments/x"),
        post(f"{APPS}/statefulsets", workload("StatefulSet", serviceName="s")),
        get(f"{APPS}/statefulsets/x/scale"),
        patch(f"{APPS}/statefulsets/x/scale", {"spec": {"replicas": 0}}),
        post(f"{APPS}/replicasets", workload("ReplicaSet")),
        get(f"{APPS}/replicasets/x/scale"),
    )


def _tokens_and_bindings() -> Iterator[Scene]:
    accounts = f"{CORE}/serviceaccounts"
    yield scene(
        "service account tokens",
        post(accounts, manifest("v1", "ServiceAccount", name="robot")),
        post(f"{accounts}/robot/token", {"spec": {"expirationSeconds": 600}}),
        post(
            f"{accounts}/robot/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"audiences": ["a", "b"], "expirationSeconds": 3600},
            },
        ),
        post(f"{accounts}/robot/token", {"spec": {"expirationSeconds": 5}}),
        post(f"{accounts}/robot/token", {"spec": {"expirationSeconds": 2**40}}),
        post(f"{accounts}/robot/token", {}),
        post(f"{accounts}/none/token", {"spec": {"expirationSeconds": 600}}),
        post(f"{accounts}/robot/token", config_map()),
        post(f"{accounts}/robot/token", {"metadata": {"name": "other"}, "spec": {}}),
        post(f"{accounts}/robot/token?dryRun=All", {"spec": {}}),
    )
    binding = manifest("v1", "Binding", name="p", target={"kind": "Node", "name": "n1"})
    yield scene(
        "bindings",
        post(PODS, pod(metadata={"name": "p"})),
        post(f"{PODS}/p/binding", manifest("v1", "Binding", name="p", target={})),
        post(f"{PODS}/p/binding", binding),
        get(f"{PODS}/p"),
        post(f"{PODS}/p/binding", binding),
        post(f"{PODS}/none/binding", binding | {"metadata": {"name": "none"}}),
        post(f"{PODS}/none/binding", binding),
        post(f"{PODS}/p/binding", config_map()),
        get(f"{PODS}/p/log"),
        get(f"{PODS}/none/log"),
        post(f"{PODS}/none/eviction", manifest("policy/v1", "Eviction", name="none")),
        post(f"{PODS}/p/eviction", config_map()),
        post(f"{PODS}/p/eviction?dryRun=All", manifest("policy/v1", "Eviction", name="p")),
    )


def _events_and_leases() -> Iterator[Scene]:
    about = {"kind": "Pod", "name": "web", "namespace": "<ns>"}
    old = manifest("v1", "Event", name="old", involvedObject=about, reason="R", message="m")
    new = manifest(
        "events.k8s.io/v1",
        "Event",
        name="new",
        eventTime="2024-01-01T00:00:00.000000Z",
        regarding=about,
        reason="R",
        note="n",
        type="Normal",
        action="A",
        reportingController="example.com/c",
        reportingInstance="c-1",
    )
    yield scene(
        "events of both groups",
        post(f"{CORE}/events", old),
        get(f"{NEW_EVENTS}/old"),
        post(NEW_EVENTS, new),
        get(f"{CORE}/events/new"),
        get(f"{CORE}/events"),
        get(NEW_EVENTS),
        get(NEW_EVENTS, accept=TABLE),
        get(f"{CORE}/events", accept=TABLE),
        patch(f"{CORE}/events/old", {"count": 5, "lastTimestamp": "2024-01-01T00:00:00Z"}),
        patch(
            f"{NEW_EVENTS}/new",
            {"series": {"count": 2, "lastObservedTime": "2024-01-01T00:00:00.000000Z"}},
        ),
        patch(f"{NEW_EVENTS}/new", {"note": "other"}),
        get(f"{NEW_EVENTS}?fieldSelector=regarding.name%3Dweb"),
        get(f"{NEW_EVENTS}?fieldSelector=involvedObject.name%3Dweb"),
        post(NEW_EVENTS, new | {"metadata": {"name": "bad"}, "reportingController": ""}),
        post(NEW_EVENTS, new | {"metadata": {"name": "bad"}, "eventTime": None}),
    )
    yield scene(
        "leases",
        post(
            LEASES,
            manifest(
                "coordination.k8s.io/v1",
                "Lease",
                spec={
                    "holderIdentity": "me",
                    "leaseDurationSeconds": 15,
                    "acquireTime": "2024-01-01T00:00:00.000000Z",
                    "renewTime": "2024-01-01T00:00:00.000000Z",
                },
            ),
            keep=KEPT,
        ),
        put(f"{LEASES}/x", Edited("made", {"spec.leaseTransitions": 1})),
        put(f"{LEASES}/x", Edited("made", {"spec.leaseTransitions": 2})),
        patch(f"{LEASES}/x", {"spec": {"leaseDurationSeconds": -1}}),
        patch(f"{LEASES}/x", {"spec": {"leaseTransitions": -1}}),
        patch(f"{LEASES}/x", {"spec": {"renewTime": "now"}}),
        patch(f"{LEASES}/x", {"spec": {"holderIdentity": ""}}),
        patch(f"{LEASES}/x", {"spec": {"strategy": "Odd"}}),
        get(LEASES, accept=TABLE),
    )


def _nodes_and_namespaces() -> Iterator[Scene]:
    nodes = "/api/v1/nodes"
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "lastHeartbeatTime": "2024-01-01T00:00:00Z",
    }
    yield scene(
        "nodes",
        post(nodes, manifest("v1", "Node", name="<ns>", metadata={"labels": {"a": "b"}})),
        patch(f"{nodes}/<ns>/status", {"status": {"conditions": [condition]}}, STRATEGIC),
        patch(f"{nodes}/<ns>", {"spec": {"unschedulable": True}}, STRATEGIC),
        patch(
            f"{nodes}/<ns>", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, STRATEGIC
        ),
        patch(f"{nodes}/<ns>", {"spec": {"podCIDR": "192.168.0.0/24"}}),
        patch(f"{nodes}/<ns>", {"spec": {"podCIDR": "192.168.1.0/24"}}),
        patch(f"{nodes}/<ns>", {"status": {"phase": "Running"}}),
        get(f"{nodes}/<ns>", accept=TABLE),
        get(f"{nodes}?fieldSelector=spec.unschedulable%3Dtrue,metadata.name%3D<ns>"),
    )
    yield scene(
        "namespaces",
        get("/api/v1/namespaces/<ns>"),
        get("/api/v1/namespaces/<ns>", accept=TABLE),
        patch("/api/v1/namespaces/<ns>", {"metadata": {"labels": {"a": "b"}}}),
        patch(
            "/api/v1/namespaces/<ns>",
            {"metadata": {"labels": {"kubernetes.io/metadata.name": "x"}}},
        ),
        patch("/api/v1/namespaces/<ns>", {"spec": {"finalizers": []}}),
        patch("/api/v1/namespaces/<ns>/status", {"status": {"phase": "Active"}}),
        get("/api/v1/namespaces/<ns>/status"),
        get("/api/v1/namespaces/<ns>/finalize"),
        get("/api/v1/namespaces?labelSelector=kubernetes.io/metadata.name%3D<ns>"),
        get("/api/v1/namespaces/<ns>", keep=KEPT),
        put("/api/v1/namespaces/<ns>/finalize", Edited("made", {"spec.finalizers": ["a.b/c"]})),
        put("/api/v1/namespaces/<ns>/status", Edited("made", {"status.phase": "Odd"})),
        put("/api/v1/namespaces/<ns>", Edited("made", {"metadata.labels": {"c": "d"}})),
        get("/api/v1/namespaces/<ns>"),
    )
