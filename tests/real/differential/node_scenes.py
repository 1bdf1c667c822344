"""Scenes in which a node asks: what it may read, and what it is told.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.devserver_objects import manifest
from tests.real.differential.impersonation_scenes import WHO_AM_I
from tests.real.differential.node_objects import (
    ACCOUNTS,
    AUTHORIZATION,
    CLAIMS,
    DEVICES,
    LEASES,
    NAMELESS,
    NODE,
    NODES,
    ONE,
    SECRETS,
    STORAGE,
    UNKNOWN,
    VOLUMES,
    asked_as,
    code_only,
    names,
    planted,
    planted_storage,
    refusal,
    resource_slice,
)
from tests.real.differential.script import (
    CONFIG_MAPS,
    CORE,
    PODS,
    Ask,
    Scene,
    Step,
    WaitUntilGone,
    Watch,
    delete,
    get,
    patch,
    post,
    put,
    scene,
)


def node_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield scene("what a node may read", *planted(), *asked_as(NODE, *_reads()), *_watches())
    yield scene("what a node may read of volumes", *planted_storage(), *asked_as(NODE, *_volumes()))
    yield scene("what an unknown node may do", *planted(), *asked_as(UNKNOWN, *_strange()))
    yield scene("what a node without a name may do", *asked_as(NAMELESS, *_strange()))
    yield scene("pages that a node may read", *asked_as(NODE, *_pages()))
    yield scene("what a node may do with everything else", *asked_as(NODE, *_others()))
    yield scene("questions about a node", *planted(), *_reviews())


def _reads() -> Iterator[Ask]:
    for kind in (SECRETS, CONFIG_MAPS):
        for name in ("mine", "theirs", "loose", "missing"):
            yield get(f"{kind}/{name}")
        yield get(f"{kind}?{ONE}mine")
        yield get(f"{kind}?{ONE}theirs")
        yield get(f"{kind}?{ONE}mine,metadata.namespace=<ns>")
        yield get(f"{kind}?fieldSelector=metadata.name!=theirs")
        yield get(f"{kind}?{ONE}mine&labelSelector=a=b")
        yield get(f"{kind}?fieldSelector=metadata.name")
        yield get(kind)
        yield post(kind, {"metadata": {"name": "x"}})
        yield put(f"{kind}/mine", {"metadata": {"name": "mine"}})
        yield patch(f"{kind}/mine", {})
        yield delete(f"{kind}/mine")
        yield delete(f"{kind}?{ONE}mine")
        yield get(f"{kind}/mine/status")
    yield get("/api/v1/secrets")
    yield get(f"/api/v1/secrets?{ONE}mine")
    yield get(f"/api/v1/watch/namespaces/<ns>/secrets?{ONE}mine")
    for name in ("mine", "theirs", "unbound", "mirror", "missing"):
        yield get(f"{PODS}/{name}", view=code_only)
    for selector in ("<ns>", "other.<ns>", ""):
        yield get(f"{PODS}?fieldSelector=spec.nodeName={selector}", view=names)
    yield get("/api/v1/pods?fieldSelector=spec.nodeName=<ns>", view=names)
    yield get("/api/v1/pods?fieldSelector=spec.nodeName!=<ns>")
    yield get(PODS)
    yield get(f"{PODS}?{ONE}mine", view=names)
    yield get(f"{PODS}?{ONE}theirs")
    yield get(f"{PODS}/mine/log")
    yield get(f"{PODS}/mine/status")
    for name in ("mine", "theirs"):
        yield get(f"{ACCOUNTS}/{name}")
    yield get(ACCOUNTS)
    yield delete(f"{ACCOUNTS}/mine")


def _watches() -> Iterator[Step]:
    """A watch that is open when the last pod leaves goes on, and cannot be renewed."""
    watch = f"{SECRETS}?watch=1&{ONE}mine&timeoutSeconds=30"
    yield get(f"{SECRETS}?watch=1&timeoutSeconds=1", headers=NODE)
    yield get(f"{SECRETS}?watch=1&{ONE}theirs", headers=NODE)
    change = patch(f"{SECRETS}/mine", {"stringData": {"a": "b"}}, view=code_only)
    gone = delete(f"{PODS}/mine?gracePeriodSeconds=0", view=code_only)
    yield Watch(watch, events=2, during=(gone, change), headers=NODE, view=_event_types)
    yield WaitUntilGone(f"{SECRETS}/mine", NODE)
    yield get(watch, headers=NODE)


def _event_types(events: Any) -> Any:
    return [each["type"] for each in events]


def _volumes() -> Iterator[Ask]:
    for name in ("nodepublishsecretref", "nodestagesecretref", "controllerpublishsecretref"):
        yield get(f"{SECRETS}/{name}")
    yield get(f"{SECRETS}/nodeexpandsecretref")
    for kind in (VOLUMES, f"{STORAGE}/volumeattachments", f"{DEVICES}/resourceslices"):
        yield get(f"{kind}/mine.<ns>", view=code_only)
        yield get(f"{kind}/theirs.<ns>")
        yield get(kind)
        yield get(f"{kind}?{ONE}mine.<ns>")
        yield patch(f"{kind}/theirs.<ns>", {})
        yield patch(f"{kind}/mine.<ns>", {}, view=code_only)
        yield get(f"{kind}/mine.<ns>/status")
    for name in ("mine", "theirs", "x-scratch", "missing"):
        yield get(f"{CLAIMS}/{name}", view=None if name != "mine" else code_only)
    yield get(CLAIMS)
    yield get(f"{CLAIMS}/mine/status")
    claims = f"{DEVICES}/namespaces/<ns>/resourceclaims"
    for name in ("gpu", "other"):
        yield get(f"{claims}/{name}")
    yield get(claims)
    yield patch(f"{claims}/gpu/status", {})
    slices = f"{DEVICES}/resourceslices"
    yield get(f"{slices}?fieldSelector=spec.nodeName=<ns>", view=names)
    yield get(f"{slices}?fieldSelector=spec.nodeName=other.<ns>")
    yield delete(f"{slices}?fieldSelector=spec.driver=d.example")
    yield post(slices, resource_slice("new.<ns>", "<ns>"), view=code_only)
    yield post(slices, resource_slice("bad.<ns>", "other.<ns>"))
    yield delete(f"{slices}/theirs.<ns>")
    yield delete(f"{slices}/mine.<ns>", view=code_only)
    yield delete(f"{slices}?fieldSelector=spec.nodeName=<ns>", view=names)


def _strange() -> Iterator[Ask]:
    """What most nodes may do, asked by one that nobody knows."""
    for path in (
        *(f"{SECRETS}/mine", f"{SECRETS}?{ONE}mine", f"{CONFIG_MAPS}/mine", f"{PODS}/mine"),
        *(PODS, f"{PODS}?fieldSelector=spec.nodeName=nobody.<ns>", NODES, f"{NODES}/nobody.<ns>"),
        *(f"{LEASES}/nobody.<ns>", "/api/v1/services?limit=1&fieldSelector=metadata.name=x"),
        *("/version", "/api", "/healthz"),
    ):
        yield get(path, view=names if "items" in path else refusal)
    yield post(f"{ACCOUNTS}/mine/token", {"spec": {}})
    yield post(LEASES, manifest("coordination.k8s.io/v1", "Lease", "nobody.<ns>"), view=refusal)
    yield post(WHO_AM_I, {})
    yield post(f"{PODS}/mine/eviction", manifest("policy/v1", "Eviction", "mine"))
    yield delete(f"{PODS}/mine")


def _pages() -> Iterator[Ask]:
    for path in (
        *("/", "/api", "/apis", "/api/", "/api/v1", "/apis/apps", "/apis/apps/v1", "/apis/none"),
        *("/healthz", "/livez", "/readyz", "/livez/ping", "/healthz/", "/version", "/version/"),
        *("/openapi/v2", "/openapi", "/metrics", "/nonsense", "/logs", "/<b>&"),
    ):
        yield get(path, view=refusal)
    yield Ask("HEAD", "/version", view=code_only)
    yield post("/version", {})
    yield delete("/api")


def _others() -> Iterator[Ask]:
    for path in (
        *("/api/v1/services", f"{CORE}/services/x", f"{CORE}/endpoints/x", f"{CORE}/endpoints"),
        *(f"{CORE}/events", "/api/v1/namespaces", "/api/v1/namespaces/<ns>", f"{CORE}/nothing"),
        *("/api/v1/namespaces/<ns>/status", f"{STORAGE}/csidrivers", f"{STORAGE}/storageclasses"),
        *("/apis/node.k8s.io/v1/runtimeclasses", "/apis/apps/v1/deployments", "/apis/no/v1/thing"),
        *("/apis/rbac.authorization.k8s.io/v1/clusterroles", "/api/v1/componentstatuses"),
        *("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", f"{CORE}/services/x/status"),
        *("/apis/certificates.k8s.io/v1beta1/podcertificaterequests", f"{CORE}/services/x/proxy/a"),
        *("/apis/certificates.k8s.io/v1beta1/clustertrustbundles", "/api/v2/pods"),
    ):
        yield get(path, view=refusal)
    event = manifest(
        "v1",
        "Event",
        "e",
        involvedObject={"kind": "Pod", "name": "x", "namespace": "<ns>"},
        reason="r",
        message="m",
    )
    yield post(f"{CORE}/events", event, view=code_only)
    yield patch(f"{CORE}/events/e", {"message": "n"}, view=code_only)
    yield get(f"{CORE}/events/e")
    yield delete(f"{CORE}/events/e")
    for path in (f"{CORE}/services", "/api/v1/namespaces", f"{CORE}/pods/x/binding"):
        yield post(path, {"metadata": {"name": "x"}})
    yield patch(f"{CORE}/pods/x/ephemeralcontainers", {})
    yield put("/api/v1/namespaces/<ns>/finalize", {})
    yield post("/apis/apps/v1/namespaces/<ns>/deployments", {})


def _reviews() -> Iterator[Ask]:
    node = {"user": "system:node:<ns>", "groups": ["system:nodes"]}
    known = {"user": "system:node:<ns>", "groups": ["system:nodes", "system:authenticated"]}
    questions = [
        {"verb": "get", "resource": "secrets", "namespace": "<ns>", "name": "mine"},
        {"verb": "get", "resource": "secrets", "namespace": "<ns>", "name": "theirs"},
        {"verb": "list", "resource": "secrets", "namespace": "<ns>"},
        {"verb": "watch", "resource": "secrets", "namespace": "<ns>", "name": "mine"},
        {"verb": "get", "resource": "secrets", "name": "mine"},
        {"verb": "delete", "resource": "nodes", "name": "<ns>"},
        {"verb": "list", "resource": "pods"},
        {
            "verb": "list",
            "resource": "pods",
            "fieldSelector": {"rawSelector": "spec.nodeName=<ns>"},
        },
        {
            "verb": "list",
            "resource": "pods",
            "fieldSelector": {
                "requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["<ns>"]}]
            },
        },
        {
            "verb": "list",
            "resource": "pods",
            "fieldSelector": {
                "requirements": [{"key": "spec.nodeName", "operator": "NotIn", "values": ["<ns>"]}]
            },
        },
        {"verb": "*", "group": "*", "resource": "*"},
        {"verb": "create", "resource": "serviceaccounts", "subresource": "token"},
        {"verb": "create", "group": "authorization.k8s.io", "resource": "subjectaccessreviews"},
        {"verb": "create", "group": "authorization.k8s.io", "resource": "selfsubjectaccessreviews"},
    ]
    for question in questions:
        for who in (node, known):
            spec = {**who, "resourceAttributes": question}
            yield post(f"{AUTHORIZATION}/subjectaccessreviews", {"spec": spec})
        own = {"spec": {"resourceAttributes": question}}
        yield post(f"{AUTHORIZATION}/selfsubjectaccessreviews", own, headers=NODE)
    for path in ("/version", "/metrics", "/api/v1"):
        page = {"nonResourceAttributes": {"verb": "get", "path": path}}
        yield post(f"{AUTHORIZATION}/subjectaccessreviews", {"spec": {**node, **page}})
        if path != "/version":  # two roles grant it, and the real server names either
            yield post(f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": page}, headers=NODE)
    rules = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    yield post(rules, {"spec": {"namespace": "<ns>"}}, headers=NODE, view=_in_order)
    yield post(WHO_AM_I, {}, headers=NODE)
    local = f"{AUTHORIZATION}/namespaces/<ns>/localsubjectaccessreviews"
    yield post(local, {"spec": {**node, "resourceAttributes": questions[0]}})
    yield post(local, {"spec": {**node, "resourceAttributes": questions[1]}}, headers=NODE)
    masters = {"user": "system:node:<ns>", "groups": ["system:nodes", "system:masters"]}
    spec = {**masters, "resourceAttributes": questions[1]}
    yield post(f"{AUTHORIZATION}/subjectaccessreviews", {"spec": spec}, headers=NODE)


def _in_order(review: Any) -> Any:
    """Put the rules of a review in order: the real server has none."""
    for rules in ("resourceRules", "nonResourceRules"):
        for rule in review["status"][rules]:
            for values in rule.values():
                values.sort()
        review["status"][rules].sort(key=str)
    return review
