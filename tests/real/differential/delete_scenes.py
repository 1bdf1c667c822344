"""Scenes about deleting.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.real.devserver_objects import config_map, manifest, pod, service, workload
from tests.real.differential.script import (
    APPS,
    CONFIG_MAPS,
    CORE,
    PODS,
    YAML,
    Ask,
    Scene,
    Step,
    delete,
    get,
    patch,
    post,
    scene,
)

GRACE: Final = "pods-go-at-once"
ONE: Final = f"{CONFIG_MAPS}/x"
VERSION: Final = {"version": "metadata.resourceVersion", "uid": "metadata.uid"}


def delete_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _objects()
    yield from _finalizers()
    yield from _pods()
    yield from _collections()


def _objects() -> Iterator[Scene]:
    again = post(CONFIG_MAPS, config_map())
    yield scene(
        "delete",
        again,
        delete(ONE),
        delete(ONE),
        delete("/api/v1/namespaces/no-such/configmaps/x"),
        again,
        delete(ONE, {"kind": "DeleteOptions", "apiVersion": "v1"}),
        again,
        delete(ONE, {"propagationPolicy": "Background"}),
        again,
        delete(f"{ONE}?propagationPolicy=Background&gracePeriodSeconds=0"),
        again,
        delete(ONE, b"propagationPolicy: Background\n", content_type=YAML),
        again,
        delete(ONE, {"propagationPolicy": "Sometimes"}),
        delete(ONE, {"propagationPolicy": "Orphan", "orphanDependents": True}),
        delete(ONE, {"kind": "Nonsense", "apiVersion": "v1"}),
        delete(ONE, {"gracePeriodSeconds": "soon"}),
        delete(ONE, {"gracePeriodSeconds": -1, "dryRun": ["All"]}),
        delete(ONE, b"{"),
        delete(ONE, b"nonsense", content_type="text/plain"),
        delete(f"{ONE}?gracePeriodSeconds=soon"),
        delete(f"{ONE}?dryRun=Some"),
    )
    yield scene(
        "delete with preconditions",
        post(CONFIG_MAPS, config_map(), keep=VERSION),
        delete(ONE, {"preconditions": {"uid": "11111111-1111-1111-1111-111111111111"}}),
        delete(ONE, {"preconditions": {"resourceVersion": "1"}}),
        patch(ONE, {"data": {"a": "b"}}),
        delete(ONE, {"preconditions": {"resourceVersion": "<version>"}}),
        delete(ONE, {"preconditions": {"uid": "<uid>"}}),
        get(ONE),
    )
    yield scene(
        "delete objects of other kinds",
        post(f"{CORE}/secrets", manifest("v1", "Secret")),
        delete(f"{CORE}/secrets/x"),
        post(f"{CORE}/services", service(ports=[{"port": 80}])),
        delete(f"{CORE}/services/x"),
        post(f"{CORE}/serviceaccounts", manifest("v1", "ServiceAccount")),
        delete(f"{CORE}/serviceaccounts/x"),
        post(f"{APPS}/deployments", workload("Deployment")),
        delete(f"{APPS}/deployments/x"),
        post(
            "/apis/coordination.k8s.io/v1/namespaces/<ns>/leases",
            manifest("coordination.k8s.io/v1", "Lease"),
        ),
        delete("/apis/coordination.k8s.io/v1/namespaces/<ns>/leases/x"),
        post("/api/v1/nodes", manifest("v1", "Node", name="<ns>")),
        delete("/api/v1/nodes/<ns>"),
        delete("/api/v1/namespaces/default"),
        delete("/api/v1/namespaces/kube-system"),
    )
    yield scene(
        "delete a namespace",
        post("/api/v1/namespaces", manifest("v1", "Namespace", name="<ns>-gone")),
        delete("/api/v1/namespaces/<ns>-gone"),
        get(
            "/api/v1/namespaces/<ns>-gone",
            differs=dict.fromkeys(("code", "body"), "namespaces-go-at-once"),
        ),
    )


def _finalizers() -> Iterator[Scene]:
    held = config_map(metadata={"finalizers": ["example.com/keep"]})
    yield scene(
        "delete what a finalizer holds",
        post(CONFIG_MAPS, held),
        delete(ONE),
        delete(ONE),
        get(ONE),
        patch(ONE, {"data": {"still": "changes"}}),
        patch(ONE, {"metadata": {"finalizers": ["example.com/keep", "example.com/more"]}}),
        patch(ONE, {"metadata": {"deletionTimestamp": None}}),
        post(CONFIG_MAPS, config_map()),
        patch(ONE, {"metadata": {"finalizers": []}}),
        get(ONE),
    )
    yield scene("delete in other ways", *_propagation())


def _propagation() -> Iterator[Step]:
    """Leave dependents to a collector of garbage, which only the real server waits for."""
    why = "propagation"
    ways: tuple[tuple[str, object], ...] = (
        (ONE, {"propagationPolicy": "Foreground"}),
        (ONE, {"propagationPolicy": "Orphan"}),
        (f"{ONE}?orphanDependents=true", None),
    )
    for path, body in ways:
        yield post(CONFIG_MAPS, config_map())
        yield delete(path, body, differs={"body": why})
        yield get(ONE, differs={"code": why, "body": why})
        yield patch(ONE, {"metadata": {"finalizers": None}}, differs={"code": why, "body": why})
        yield get(ONE)


def _pods() -> Iterator[Scene]:
    bound = pod(metadata={"name": "bound"}, nodeName="n1")
    yield scene(
        "delete pods",
        post(PODS, pod(metadata={"name": "free"})),
        delete(f"{PODS}/free"),
        get(f"{PODS}/free"),
        post(PODS, bound),
        delete(f"{PODS}/bound", {"gracePeriodSeconds": 5}),
        get(f"{PODS}/bound"),
        delete(f"{PODS}/bound", {"gracePeriodSeconds": 10}),
        delete(f"{PODS}/bound", {"gracePeriodSeconds": 2}),
        delete(f"{PODS}/bound", {"gracePeriodSeconds": 0}),
        get(f"{PODS}/bound"),
        post(PODS, bound),
        delete(f"{PODS}/bound?gracePeriodSeconds=7"),
        delete(f"{PODS}/bound?gracePeriodSeconds=0"),
        post(PODS, pod(metadata={"name": "done"}, nodeName="n1")),
        patch(f"{PODS}/done/status", {"status": {"phase": "Succeeded"}}),
        delete(f"{PODS}/done"),
        get(f"{PODS}/done"),
    )
    yield scene(
        "delete a pod that runs, with its usual grace",
        post(PODS, bound),
        delete(f"{PODS}/bound", differs={"body.metadata.deletionGracePeriodSeconds": GRACE}),
        get(f"{PODS}/bound", differs={"code": GRACE, "body": GRACE}),
    )
    yield scene(
        "evict pods",
        post(PODS, pod(metadata={"name": "free"})),
        post(f"{PODS}/free/eviction", manifest("policy/v1", "Eviction", name="free")),
        get(f"{PODS}/free"),
        post(PODS, bound),
        post(f"{PODS}/bound/eviction", manifest("policy/v1", "Eviction", name="other")),
        post(f"{PODS}/bound/eviction", manifest("policy/v1", "Eviction", name="bound")),
        get(f"{PODS}/bound", differs={"code": GRACE, "body": GRACE}),
    )


def _collections() -> Iterator[Scene]:
    three = tuple(
        post(CONFIG_MAPS, config_map(name=name, metadata={"labels": {"a": name}}))
        for name in ("a", "b", "c")
    )
    yield scene(
        "delete collections",
        *three,
        delete(f"{CONFIG_MAPS}?labelSelector=a%3Da"),
        delete(f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Db"),
        delete(f"{CONFIG_MAPS}?labelSelector=a%3Da%3Db"),
        delete(f"{CONFIG_MAPS}?labelSelector=none%3Dnone"),
        get(CONFIG_MAPS),
        delete(CONFIG_MAPS, {"preconditions": {"uid": "x"}}),
        delete(CONFIG_MAPS, {"propagationPolicy": "Background"}),
        get(CONFIG_MAPS),
        delete(CONFIG_MAPS),
        delete("/api/v1/namespaces/no-such/configmaps"),
        post(CONFIG_MAPS, config_map(metadata={"finalizers": ["example.com/keep"]})),
        delete(CONFIG_MAPS),
        get(CONFIG_MAPS),
        patch(ONE, {"metadata": {"finalizers": None}}),
        delete(f"{CONFIG_MAPS}?limit=1"),
        post(CONFIG_MAPS, config_map(name="y")),
        delete(f"{CONFIG_MAPS}?dryRun=All", {"gracePeriodSeconds": 5}),
        delete(f"{CONFIG_MAPS}?gracePeriodSeconds=5", {"gracePeriodSeconds": "x"}),
        delete(f"{CONFIG_MAPS}?watch=true&timeoutSeconds=1"),
        delete(f"{CONFIG_MAPS}?resourceVersion=abc"),
        post(PODS, pod()),
        delete(f"{PODS}?gracePeriodSeconds=0"),
        get(PODS),
        Ask("DELETE", f"{CORE}/services"),
        Ask("DELETE", f"{CORE}/nonsense"),
    )
