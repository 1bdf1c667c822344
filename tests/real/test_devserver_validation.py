"""The development server refuses what the real server refuses, with the same words."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.real.availability_objects import TARGET, autoscaler, budget
from tests.real.bad_objects import bad_objects
from tests.real.devserver_objects import (
    LABELS,
    Case,
    config_map,
    container,
    job,
    pod,
    secret,
    service,
    workload,
)
from tests.real.devserver_side import DevServerSide, comparable
from tests.real.kube_server import KubeServer
from tests.real.traffic_objects import backend, block, ingress, path, policy, routed

# What differs, and why.
KNOWN_DIFFERENCES = {
    "bad priority class": "whether the class exists is not looked up",
    "privileged and not": "privileged containers are allowed, as in most clusters",
    "node port out of range": "the real server does not look in a dry run",
}


@pytest.mark.parametrize(
    "case",
    [case for case in bad_objects() if case[0] not in KNOWN_DIFFERENCES],
    ids=lambda case: case[0],
)
def test_an_object_is_refused_as_the_real_server_refuses_it(
    kube: KubeServer, namespace: str, case: Case
) -> None:
    _, path, body = case
    body = json.loads(json.dumps(body).replace("{namespace}", namespace))
    path = path.replace("{namespace}", namespace)

    real = kube.request("POST", f"{path}?dryRun=All", body)
    ours = DevServerSide().create(path, body)

    assert ours.code == real.code
    assert comparable(_what_counts(ours.body)) == comparable(_what_counts(real.body))


def _what_counts(body: Any) -> Any:
    if body.get("kind") != "Status":
        return {}
    return {name: body.get(name) for name in ("code", "reason", "message", "details", "status")}


Change = Callable[[Any], object]


def _set(*path: str | int, to: Any) -> Change:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to

    return change


INGRESSES = "networking.k8s.io/v1 ingresses"
POLICIES = "networking.k8s.io/v1 networkpolicies"
BUDGETS = "policy/v1 poddisruptionbudgets"
AUTOSCALERS = "autoscaling/v2 horizontalpodautoscalers"
FROZEN = {"data": {"a": "b"}, "immutable": True}
UPDATES: list[tuple[str, str, Any, Change]] = [
    ("label", "api/v1 configmaps", config_map(), _set("metadata", "labels", to={"a b": "c"})),
    ("annotation", "api/v1 pods", pod(), _set("metadata", "annotations", to={"a b": "c"})),
    (
        "finalizer",
        "api/v1 configmaps",
        config_map(),
        _set("metadata", "finalizers", to=["a b"]),
    ),
    (
        "deployment label",
        "apis/apps/v1 deployments",
        workload("Deployment"),
        _set("metadata", "labels", to={"a": "b c"}),
    ),
    ("key", "api/v1 configmaps", config_map(), _set("data", to={"a/b": "c"})),
    ("frozen data", "api/v1 configmaps", config_map(**FROZEN), _set("data", to={"a": "c"})),
    ("thawing", "api/v1 configmaps", config_map(**FROZEN), _set("immutable", to=None)),
    (
        "frozen secret",
        "api/v1 secrets",
        secret(immutable=True, stringData={"a": "b"}),
        _set("data", to={}),
    ),
    ("secret type", "api/v1 secrets", secret(), _set("type", to="example.com/other")),
    (
        "one more container",
        "api/v1 pods",
        pod(),
        lambda made: made["spec"]["containers"].append(container(name="more")),
    ),
    ("deadline", "api/v1 pods", pod(), _set("spec", "activeDeadlineSeconds", to=-1)),
    ("image", "api/v1 pods", pod(), _set("spec", "containers", 0, "image", to="other")),
    ("tolerations", "api/v1 pods", pod(), _set("spec", "tolerations", to=[])),
    (
        "selector",
        "apis/apps/v1 deployments",
        workload("Deployment"),
        _set("spec", "selector", to={"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
    ),
    (
        "scaled",
        "apis/apps/v1 deployments",
        workload("Deployment"),
        _set("spec", "replicas", to=3),
    ),
    (
        "annotated deployment",
        "apis/apps/v1 deployments",
        workload("Deployment"),
        _set("metadata", "annotations", to={"a": "b"}),
    ),
    (
        "labelled deployment",
        "apis/apps/v1 deployments",
        workload("Deployment"),
        _set("metadata", "labels", to={"a": "b"}),
    ),
    (
        "stateful set service",
        "apis/apps/v1 statefulsets",
        workload("StatefulSet", serviceName="a"),
        _set("spec", "serviceName", to="b"),
    ),
    (
        "daemon set template",
        "apis/apps/v1 daemonsets",
        workload("DaemonSet"),
        _set("spec", "template", "spec", "containers", 0, "image", to="other"),
    ),
    ("job completions", "apis/batch/v1 jobs", job(), _set("spec", "completions", to=7)),
    (
        "cluster address",
        "api/v1 services",
        service(ports=[{"port": 80}]),
        _set("spec", "clusterIPs", to=["10.0.0.250"]),
    ),
    (
        "cluster address alone",
        "api/v1 services",
        service(ports=[{"port": 80}]),
        _set("spec", "clusterIP", to="10.0.0.250"),
    ),
    (
        "address left out",
        "api/v1 services",
        service(ports=[{"port": 80}], selector=LABELS),
        lambda made: [made["spec"].pop(name) for name in ("clusterIP", "clusterIPs")],
    ),
    (
        "service of another type",
        "api/v1 services",
        service(ports=[{"port": 80}]),
        lambda made: made["spec"].update(type="NodePort", ports=[{"port": 80}]),
    ),
    ("status by the way", "api/v1 pods", pod(), _set("status", "phase", to="Failed")),
    (
        "generation",
        "apis/apps/v1 deployments",
        workload("Deployment"),
        _set("metadata", "generation", to=9),
    ),
    *(
        (title, f"apis/{place}", body, change)
        for title, place, body, change in (
            ("ingress class", INGRESSES, ingress(), _set("spec", "ingressClassName", to="A_")),
            ("ingress rules", INGRESSES, routed(), _set("spec", "rules", 0, "host", to="1.2.3.4")),
            (
                "ingress label",
                INGRESSES,
                ingress(),
                lambda made: made.update(
                    metadata=made["metadata"] | {"labels": {"a b": "c"}}, spec={}
                ),
            ),
            (
                # Compared only when an ingress is new.
                "ingress annotation",
                INGRESSES,
                ingress(defaultBackend=ingress()["spec"]["defaultBackend"], ingressClassName="a"),
                _set("metadata", "annotations", to={"kubernetes.io/ingress.class": "b"}),
            ),
            ("network", POLICIES, block("10.0.0.0/8"), _set("spec", "egress", 0, "to", to=[{}])),
            ("policy types", POLICIES, policy(), _set("spec", "policyTypes", to=["Sideways"])),
            ("policy types left out", POLICIES, policy(), _set("spec", "policyTypes", to=None)),
            ("budget", BUDGETS, budget(minAvailable=1), _set("spec", "maxUnavailable", to=-1)),
            ("budget grows", BUDGETS, budget(minAvailable=1), _set("spec", "minAvailable", to=2)),
            ("budget label", BUDGETS, budget(), _set("metadata", "labels", to={"a b": "c"})),
            ("budget finalizer", BUDGETS, budget(), _set("metadata", "finalizers", to=["x"])),
            ("autoscaler", AUTOSCALERS, autoscaler(), _set("spec", "maxReplicas", to=-1)),
            ("autoscaler metrics", AUTOSCALERS, autoscaler(), _set("spec", "metrics", to=[{}])),
            (
                "target of the core group",
                AUTOSCALERS,
                autoscaler(),
                _set("spec", "scaleTargetRef", to=TARGET | {"apiVersion": "v1"}),
            ),
        )
    ),
    (
        "tolerated for longer",
        "api/v1 pods",
        pod(),
        _set("spec", "tolerations", 0, "tolerationSeconds", to=7),
    ),
    (
        "tolerated more oddly",
        "api/v1 pods",
        pod(),
        lambda made: made["spec"]["tolerations"].append({"key": "a b", "operator": "Near"}),
    ),
    ("tolerated less", "api/v1 pods", pod(), _set("spec", "tolerations", 0, "key", to="other")),
    (
        "balanced no more",
        "api/v1 services",
        service(type="LoadBalancer", ports=[{"port": 80}]),
        _set("spec", "type", to="ClusterIP"),
    ),
    *(
        (f"service with {name} {value}", "api/v1 services", body, _set("spec", name, to=value))
        for body in (service(ports=[{"port": 80}]),)
        for name, value in (
            ("ipFamilyPolicy", "Odd"),
            ("ipFamilyPolicy", "RequireDualStack"),
            ("ipFamilies", ["IPv6"]),
            ("ipFamilies", ["IPv4", "IPv4"]),
        )
    ),
    (
        "service of one family",
        "api/v1 services",
        service(clusterIP="None"),
        _set("spec", "ipFamilies", to=["IPv4"]),
    ),
    ("job replaced", "apis/batch/v1 jobs", job(), _set("spec", "podReplacementPolicy", to="x")),
    ("job managed", "apis/batch/v1 jobs", job(), _set("spec", "managedBy", to="a.b/c")),
    (
        # The real server takes the old rule for one that was always wrong.
        "paths of a service with a newer name",
        f"apis/{INGRESSES}",
        routed(path(backend=backend("1-web")), host="*.a.b"),
        _set("spec", "rules", 0, "http", "paths", 0, "path", to="x"),
    ),
    ("creation", "api/v1 configmaps", config_map(), _set("metadata", "creationTimestamp", to=None)),
]


@pytest.mark.parametrize("update", UPDATES, ids=lambda update: update[0])
def test_an_update_ends_as_on_the_real_server(
    kube: KubeServer, namespace: str, update: tuple[str, str, Any, Change]
) -> None:
    _, place, body, change = update
    group, plural = place.split(" ")
    path = f"/{group}/namespaces/{namespace}/{plural}"
    created = kube.request("POST", path, body)
    assert created.code == 201, created.body
    wanted = copy.deepcopy(created.body)
    change(wanted)

    real = kube.request("PUT", f"{path}/x", wanted)
    ours = DevServerSide().update(path, created.body, wanted)

    assert ours.code == real.code, real.body
    if real.code == 422:
        assert comparable(_what_counts(ours.body)) == comparable(_what_counts(real.body))
    else:
        assert comparable(ours.body) == comparable(real.body)


def test_a_pod_that_changes_too_much_is_refused_but_for_the_difference(
    kube: KubeServer, namespace: str
) -> None:
    """The real server shows its internal types; we show the fields that differ."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    created = kube.request("POST", path, pod()).body
    wanted = copy.deepcopy(created)
    wanted["spec"]["restartPolicy"] = "Never"

    real = kube.request("PUT", f"{path}/x", wanted)
    ours = DevServerSide().update(path, created, wanted)

    assert ours.code == real.code == 422
    assert ours.body["message"].splitlines()[0] == real.body["message"].splitlines()[0]
    assert "restartPolicy" in ours.body["message"].splitlines()[1]


POINTS = [{"ip": "010.1.1.1"}, {"ip": "::ffff:1.2.3.4"}, {"ip": "x", "hostname": "10.1.1.1"}]
CONDITION = {"type": "a b", "status": "Maybe", "observedGeneration": -1, "reason": "1"}
STATUSES: list[tuple[str, Any, Any]] = [
    ("api/v1 pods", pod(), {"phase": "Running", "podIP": "10.1.1.1"}),
    ("api/v1 pods", pod(), {"qosClass": "Guaranteed"}),
    (f"apis/{INGRESSES}", ingress(), {"loadBalancer": {"ingress": [{"hostname": "a.b"}]}}),
    (f"apis/{INGRESSES}", ingress(), {"loadBalancer": {"ingress": POINTS}}),
    (f"apis/{BUDGETS}", budget(), {"disruptionsAllowed": 1, "expectedPods": 2}),
    (f"apis/{BUDGETS}", budget(), {"disruptionsAllowed": -1, "expectedPods": -2}),
    (f"apis/{BUDGETS}", budget(), {"conditions": [CONDITION, CONDITION | {"reason": ""}]}),
    (
        f"apis/{BUDGETS}",
        budget(),
        {"conditions": [CONDITION | {"reason": "r" * 1025, "message": "m" * 32769}]},
    ),
    (f"apis/{AUTOSCALERS}", autoscaler(), {"currentReplicas": -1, "desiredReplicas": -2}),
]


@pytest.mark.parametrize("update", STATUSES, ids=lambda update: f"{update[0]} {len(str(update))}")
def test_a_status_update_ends_as_on_the_real_server(
    kube: KubeServer, namespace: str, update: tuple[str, Any, Any]
) -> None:
    place, body, status = update
    group, plural = place.split(" ")
    path = f"/{group}/namespaces/{namespace}/{plural}"
    created = kube.request("POST", path, body).body
    wanted = copy.deepcopy(created)
    wanted["status"].update(status)
    wanted["metadata"]["labels"] = {"a": "b"}
    if plural == "pods":
        wanted["spec"]["restartPolicy"] = "Never"

    real = kube.request("PUT", f"{path}/x/status", wanted)
    ours = DevServerSide().update(path, created, wanted, subresource="status")

    assert ours.code == real.code, real.body
    if real.code == 422:
        assert comparable(_what_counts(ours.body)) == comparable(_what_counts(real.body))
    else:
        assert comparable(ours.body) == comparable(real.body)
