"""Scenes about replacing and patching.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import (
    config_map,
    container,
    job,
    manifest,
    pod,
    service,
    workload,
)
from tests.real.differential.script import (
    ABSENT,
    APPS,
    BATCH,
    CONFIG_MAPS,
    CORE,
    JSON,
    JSON_PATCH,
    PODS,
    STRATEGIC,
    YAML,
    Ask,
    Edited,
    Scene,
    get,
    patch,
    post,
    put,
    scene,
)

KEPT: Final = {"made": ""}
DEPLOYMENT: Final = f"{APPS}/deployments"


def change_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _replaces()
    yield from _made_by_replacing()
    yield from _immutable()
    yield from _patches()
    yield from _strategic()
    yield scene("complaints about a change come in order", *_complaints())


def _complaints() -> Iterator[Ask]:
    wrong = {"metadata.resourceVersion": "", "metadata.labels": {"bad label!": "x"}}
    other = {"spec.selector": {"matchLabels": {"x": "y"}}, "spec.replicas": -1, **wrong}
    for kind in ("Deployment", "ReplicaSet", "StatefulSet"):
        path = f"{APPS}/{kind.lower()}s"
        yield post(path, workload(kind), keep=KEPT)
        yield put(f"{path}/x", Edited("made", other))
        yield put(f"{path}/x", Edited("made", {"spec.template.spec.containers": [], **other}))
    daemons = f"{APPS}/daemonsets"
    yield post(daemons, workload("DaemonSet"), keep=KEPT)
    selector = {"spec.selector": {"matchLabels": {"x": "y"}}, "spec.minReadySeconds": -1}
    yield put(f"{daemons}/x", Edited("made", selector | wrong))
    yield post(PODS, pod(initContainers=[container(name="first")]), keep=KEPT)
    image = "spec.containers.0.image"
    for change in (
        {image: " a", "spec.activeDeadlineSeconds": -1},
        {image: "", "spec.initContainers.0.image": " ", **wrong},
        {image: " a", "spec.initContainers": []},
    ):
        yield put(f"{PODS}/x", Edited("made", {"metadata.resourceVersion": "", **change}))
    jobs, template = f"{BATCH}/jobs", {"restartPolicy": "Never", "containers": [container()]}
    made = manifest("batch/v1", "Job", spec={"template": {"spec": template}})
    yield post(jobs, made, keep=KEPT)
    unconditional = {"metadata.resourceVersion": "", "spec.parallelism": 3}
    yield put(f"{jobs}/x", Edited("made", unconditional))
    budgets = "/apis/policy/v1/namespaces/<ns>/poddisruptionbudgets"
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {}}
    for prefix in ("..made-", "A.made-", "a/made-", "a%made-"):
        yield post(budgets, budget | {"metadata": {"generateName": prefix}})


def _replaces() -> Iterator[Scene]:
    one = f"{CONFIG_MAPS}/a"
    yield scene(
        "replace",
        post(CONFIG_MAPS, config_map(name="a", data={"x": "1"}), keep=KEPT),
        put(one, Edited("made", {"data": {"x": "2"}})),
        put(one, Edited("made", {"data": {"x": "3"}})),
        put(one, config_map(name="a", data={"x": "4"}), keep={"made": ""}),
        put(one, Edited("made", {})),
        put(one, Edited("made", {"metadata.resourceVersion": "0"})),
        put(one, Edited("made", {"metadata.resourceVersion": "abc"})),
        put(one, Edited("made", {"metadata.uid": "11111111-1111-1111-1111-111111111111"})),
        put(one, Edited("made", {"metadata.name": "b"})),
        put(one, Edited("made", {"metadata.name": ABSENT})),
        put(one, Edited("made", {"metadata.namespace": "other"})),
        put(one, Edited("made", {"metadata.namespace": ABSENT})),
        put(f"{CONFIG_MAPS}/none", config_map(name="none")),
        put(f"{CONFIG_MAPS}/none", Edited("made", {"metadata.name": "none"})),
        put("/api/v1/namespaces/no-such/configmaps/a", config_map(name="a")),
        put(one, config_map(name="a", metadata={"creationTimestamp": "2001-01-01T00:00:00Z"})),
        put(one, config_map(name="a", metadata={"labels": {"a b": "c"}})),
        put(one, config_map(name="a", metadata={"finalizers": ["example.com/x"]})),
        put(one, config_map(name="a", metadata={"deletionTimestamp": "2001-01-01T00:00:00Z"})),
        put(one, b"metadata: {name: a}\ndata: {from: yaml}\n", content_type=YAML),
        get(one),
    )
    yield scene(
        "generations",
        post(DEPLOYMENT, workload("Deployment"), keep=KEPT),
        put(f"{DEPLOYMENT}/x", Edited("made", {"metadata.labels": {"a": "b"}}), keep=KEPT),
        put(f"{DEPLOYMENT}/x", Edited("made", {"spec.replicas": 3}), keep=KEPT),
        put(f"{DEPLOYMENT}/x", Edited("made", {"metadata.generation": 9}), keep=KEPT),
        put(f"{DEPLOYMENT}/x", Edited("made", {"status": {"replicas": 5}}), keep=KEPT),
        put(f"{DEPLOYMENT}/x/status", Edited("made", {"status": {"replicas": 5}}), keep=KEPT),
        put(f"{DEPLOYMENT}/x/status", Edited("made", {"spec.replicas": 9}), keep=KEPT),
        put(f"{DEPLOYMENT}/x/status", workload("Deployment")),
        put(f"{DEPLOYMENT}/none/status", workload("Deployment")),
        put(
            f"{DEPLOYMENT}/x/status",
            workload("Deployment") | {"status": {"replicas": -5}},
            differs=dict.fromkeys(("code", "body"), "numbers-in-status"),
        ),
    )


def _made_by_replacing() -> Iterator[Scene]:
    def places() -> Iterator[Any]:
        lease = manifest("coordination.k8s.io/v1", "Lease", spec={"holderIdentity": "me"})
        role = manifest("rbac.authorization.k8s.io/v1", "Role")
        rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/<ns>"
        yield put("/apis/coordination.k8s.io/v1/namespaces/<ns>/leases/x", lease)
        yield put(f"{rbac}/roles/x", role)
        yield put(f"{CORE}/services/x", service(ports=[{"port": 80}]))
        yield put(f"{CORE}/endpoints/x", manifest("v1", "Endpoints"))
        yield put(f"{CORE}/limitranges/x", manifest("v1", "LimitRange"))
        yield put(f"{CORE}/serviceaccounts/x", manifest("v1", "ServiceAccount"))
        yield put(f"{CORE}/secrets/x", manifest("v1", "Secret"))
        yield put(PODS + "/x", pod())
        yield put(f"{DEPLOYMENT}/x", workload("Deployment"))
        yield put(f"{BATCH}/jobs/x", job())
        yield put("/api/v1/nodes/<ns>", manifest("v1", "Node", name="<ns>"))

    yield scene("replace what is not there", *places(), *places())


def _immutable() -> Iterator[Scene]:
    pods, services = f"{PODS}/x", f"{CORE}/services/x"
    yield scene(
        "fields that stay",
        post(PODS, pod(), keep=KEPT),
        put(pods, Edited("made", {"spec.containers.0.image": "other"}), keep=KEPT),
        put(pods, Edited("made", {"spec.activeDeadlineSeconds": 60}), keep=KEPT),
        post(DEPLOYMENT, workload("Deployment"), keep=KEPT),
        put(
            f"{DEPLOYMENT}/x",
            Edited(
                "made",
                {
                    "spec.selector.matchLabels": {"b": "c"},
                    "spec.template.metadata.labels": {"b": "c"},
                },
            ),
        ),
        post(f"{APPS}/statefulsets", workload("StatefulSet", serviceName="s"), keep=KEPT),
        put(f"{APPS}/statefulsets/x", Edited("made", {"spec.serviceName": "t"})),
        post(f"{BATCH}/jobs", job(), keep=KEPT),
        put(f"{BATCH}/jobs/x", Edited("made", {"spec.completions": 2})),
        put(f"{BATCH}/jobs/x", Edited("made", {"spec.parallelism": 2})),
        post(f"{CORE}/services", service(ports=[{"port": 80}]), keep=KEPT),
        put(services, Edited("made", {"spec.clusterIPs": ["192.168.1.1"]})),
        put(
            services,
            Edited("made", {"spec.clusterIP": ABSENT, "spec.clusterIPs": ABSENT}),
            keep=KEPT,
        ),
        put(services, Edited("made", {"spec.type": "NodePort"}), keep=KEPT),
        put(services, Edited("made", {"spec.type": "ExternalName", "spec.externalName": "a.b"})),
        get(services),
    )


def _patches() -> Iterator[Scene]:
    one = f"{CONFIG_MAPS}/a"

    def operations(*items: Any) -> list[Any]:
        return list(items)

    start = post(CONFIG_MAPS, config_map(name="a", data={"x": "1", "y": "2"}))
    yield scene(
        "json patches",
        start,
        patch(one, operations({"op": "add", "path": "/data/z", "value": "3"}), JSON_PATCH),
        patch(one, operations({"op": "remove", "path": "/data/x"}), JSON_PATCH),
        patch(one, operations({"op": "replace", "path": "/data/y", "value": "n"}), JSON_PATCH),
        patch(one, operations({"op": "move", "from": "/data/y", "path": "/data/m"}), JSON_PATCH),
        patch(one, operations({"op": "copy", "from": "/data/m", "path": "/data/c"}), JSON_PATCH),
        patch(one, operations({"op": "test", "path": "/data/m", "value": "n"}), JSON_PATCH),
        patch(one, operations({"op": "test", "path": "/data/m", "value": "o"}), JSON_PATCH),
        patch(one, operations({"op": "remove", "path": "/data/none"}), JSON_PATCH),
        patch(one, operations({"op": "replace", "path": "/none/x", "value": 1}), JSON_PATCH),
        patch(
            one, operations({"op": "add", "path": "/metadata/labels/a", "value": "b"}), JSON_PATCH
        ),
        patch(one, operations({"op": "jump", "path": "/data/m"}), JSON_PATCH),
        patch(one, operations({"op": "add", "path": "data", "value": {}}), JSON_PATCH),
        patch(one, operations({"op": "add", "path": "/data/w", "value": 5}), JSON_PATCH),
        patch(
            one, operations({"op": "replace", "path": "/metadata/name", "value": "b"}), JSON_PATCH
        ),
        patch(one, operations(), JSON_PATCH),
        patch(one, {"op": "add"}, JSON_PATCH),
        patch(one, b"nonsense", JSON_PATCH),
        patch(one, operations({"path": "/data/m", "value": "x"}), JSON_PATCH),
        patch(f"{CONFIG_MAPS}/none", operations(), JSON_PATCH),
        get(one),
    )
    yield scene(
        "merge patches",
        start,
        patch(one, {"data": {"x": None, "z": "3"}}),
        patch(one, {}),
        patch(one, {"metadata": {"labels": {"a": "b"}}}),
        patch(one, {"metadata": {"labels": {"a b": "c"}}}),
        patch(one, {"metadata": {"labels": None}}),
        patch(one, {"metadata": {"name": "b"}}),
        patch(one, {"metadata": {"resourceVersion": "1"}}),
        patch(one, {"metadata": {"uid": "other"}}),
        patch(one, {"metadata": {"namespace": "other"}}),
        patch(one, {"kind": "Secret", "data": None}),
        patch(one, {"apiVersion": "v2"}),
        patch(one, {"data": "text"}),
        patch(one, []),
        patch(one, b"{"),
        patch(one, b""),
        patch(one, b"null"),
        patch(f"{CONFIG_MAPS}/none", {"data": {}}),
        patch("/api/v1/namespaces/no-such/configmaps/a", {"data": {}}),
        patch(one, {"data": {}}, JSON),
        patch(one, {"data": {}}, "text/plain"),
        patch(one, {"data": {}}, ""),
        patch(one, b"data: {a: b}", YAML),
        patch(f"{one}?force=true", {"data": {}}),
        get(one),
    )


def _strategic() -> Iterator[Scene]:
    start = post(
        DEPLOYMENT,
        workload(
            "Deployment",
            template={
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [
                        container(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]),
                        container(name="side", image="side:1"),
                    ],
                    "volumes": [{"name": "v", "emptyDir": {}}],
                },
            },
        ),
    )
    one = f"{DEPLOYMENT}/x"

    def containers(*items: Any) -> dict[str, Any]:
        return {"spec": {"template": {"spec": {"containers": list(items)}}}}

    def change(body: Any, *differs: str) -> Any:
        return patch(
            one, body, STRATEGIC, differs=dict.fromkeys(differs, "strategic-patch-messages")
        )

    yield scene(
        "strategic merge patches",
        start,
        change(containers({"name": "web", "image": "nginx:2"})),
        change(containers({"name": "new", "image": "new:1"})),
        change(containers({"name": "web", "env": [{"name": "B", "value": "3"}]})),
        change(containers({"name": "web", "env": [{"name": "A", "$patch": "delete"}]})),
        change(containers({"name": "new", "$patch": "delete"})),
        change(containers({"$patch": "replace"}, {"name": "only", "image": "only:1"})),
        change({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
        change({"spec": {"template": {"spec": {"volumes": [{"name": "v", "emptyDir": None}]}}}}),
        change({"metadata": {"finalizers": ["example.com/a", "example.com/b"]}}),
        change({"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}}),
        change({"metadata": {"labels": {"$patch": "replace", "a": "b"}}}),
        change({"metadata": {"finalizers": None}}),
        change({"spec": {"replicas": 7}, "$setElementOrder/x": ["a"]}, "body.message"),
        change(containers({"image": "no name"})),
        change(containers({"name": "only", "$patch": "explode"})),
        change(
            {"spec": {"template": {"spec": {"containers": {"name": "x"}}}}},
            *("body.message", "body.details.causes.0.message"),
        ),
        change({"spec": {"replicas": "x"}}, "body.message", "body.details.causes.0.message"),
        change([]),
        get(one),
    )
    yield scene(
        "strategic merge patches of pods and services",
        post(PODS, pod(metadata={"name": "p"})),
        patch(f"{PODS}/p", {"spec": {"tolerations": [{"operator": "Exists"}]}}, STRATEGIC),
        patch(f"{PODS}/p", {"spec": {"containers": [{"name": "web", "image": "n:2"}]}}, STRATEGIC),
        patch(
            f"{PODS}/p",
            {"spec": {"containers": [{"name": "web", "tty": True}]}},
            STRATEGIC,
            view=_reason,
        ),
        patch(
            f"{PODS}/p/status",
            {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
            STRATEGIC,
        ),
        patch(
            f"{PODS}/p/status",
            {"status": {"conditions": [{"type": "Other", "status": "False"}]}},
            STRATEGIC,
        ),
        post(f"{CORE}/services", service(ports=[{"name": "a", "port": 80}])),
        patch(f"{CORE}/services/x", {"spec": {"ports": [{"name": "b", "port": 443}]}}, STRATEGIC),
        patch(
            f"{CORE}/services/x",
            {"spec": {"ports": [{"port": 80, "$patch": "delete"}]}},
            STRATEGIC,
        ),
    )


def _reason(body: Any) -> Any:
    return {name: body.get(name) for name in ("code", "reason", "status")}
