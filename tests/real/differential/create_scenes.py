"""Scenes about creating objects, and bodies that cannot be read.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import (
    LABELS,
    Case,
    config_map,
    container,
    job,
    manifest,
    pod,
    secret,
    service,
    workload,
)
from tests.real.differential.cluster_scenes import of_conditions
from tests.real.differential.script import (
    APPLY,
    APPS,
    BATCH,
    CONFIG_MAPS,
    CORE,
    PODS,
    TABLE,
    YAML,
    Ask,
    Scene,
    delete,
    get,
    patch,
    post,
    put,
    scene,
)
from tests.real.good_cluster_objects import ONLY_TRIED
from tests.real.good_objects import good_objects

MEBIBYTE: Final = 1024 * 1024
ASKED: Final = "certificate request"  # says who asks; these have scenes of their own


def create_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _every_kind()
    yield from _names()
    yield from _jobs()
    yield from _lists_of_nothing()
    yield from _versions()
    yield from _refused_objects()
    yield from _unknown_fields()
    yield from _bodies()
    yield from _configuration()


def _filled(case: Case) -> tuple[str, str, Any]:
    """Write a case of the other tests with our brackets."""
    name, path, body = case
    text = json.dumps(body).replace("{namespace}", "<ns>")
    return name, path.replace("{namespace}", "<ns>"), json.loads(text)


def _every_kind() -> Iterator[Scene]:
    made = [
        _filled(case)
        for case in good_objects()
        if not case[0].endswith(("definition", ASKED, *ONLY_TRIED))
    ]
    groups: dict[str, list[tuple[str, Any]]] = {}
    for _, path, body in made:
        groups.setdefault(path, []).append((path, body))
    for path, bodies in groups.items():
        table = path if "<ns>" in path else f"{path}/{bodies[0][1]['metadata']['name']}"
        yield scene(
            f"create {path.rpartition('/')[2]} of {'/'.join(path.split('/')[2:4])}",
            *(post(path, body, differs=of_conditions(body)) for path, body in bodies),
            get(table, accept=TABLE, differs=_rows(path, len(bodies))),
        )


def _rows(path: str, rows: int) -> dict[str, str]:
    if path.endswith("/daemonsets"):
        return {
            f"body.rows.{row}.object.metadata.annotations": "daemon-set-rows" for row in range(rows)
        }
    return {}


def _names() -> Iterator[Scene]:
    yield scene(
        "names",
        post(CONFIG_MAPS, {"metadata": {"generateName": "made-"}}),
        post(CONFIG_MAPS, {"metadata": {"generateName": "made-", "name": "mine"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "mine"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "Mine"}}),
        post(CONFIG_MAPS, {"metadata": {}}),
        post(CONFIG_MAPS, {}),
        post(PODS, pod(metadata={"name": "", "generateName": "made-"})),
        post(CONFIG_MAPS, {"metadata": {"name": "x", "namespace": "<ns>"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "y", "namespace": "other"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "y", "resourceVersion": "5"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "y0", "resourceVersion": "0"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "y1", "resourceVersion": "abc"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "y2", "resourceVersion": "-5"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "y3", "resourceVersion": str(2**64)}}),
        post(CONFIG_MAPS, {"metadata": {"name": "y4", "resourceVersion": "9" * 5000}}),
        post(CONFIG_MAPS, {"metadata": {"name": "Bad Name", "resourceVersion": "5"}}),
        post(CONFIG_MAPS, {"metadata": {"name": "y0", "resourceVersion": "5"}}),
        post(f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"name": "y5", "resourceVersion": "5"}}),
        post(f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"name": "y5", "resourceVersion": "x"}}),
        post(
            "/api/v1/namespaces/none/configmaps",
            {"metadata": {"name": "y", "resourceVersion": "5"}},
        ),
        post(CONFIG_MAPS, {"metadata": {"name": "y", "uid": "mine"}}),
        post("/api/v1/namespaces/no-such/configmaps", config_map()),
        post("/api/v1/namespaces/no-such/pods", pod()),
        post("/api/v1/namespaces", manifest("v1", "Namespace", name="<ns>")),
        post("/api/v1/namespaces", manifest("v1", "Namespace", name="A")),
        post("/api/v1/namespaces", {"metadata": {"name": "b", "namespace": "c"}}),
        post("/apis/apps/v1/namespaces/no-such/deployments", workload("Deployment")),
    )
    yield scene(
        "dry runs",
        post(f"{CONFIG_MAPS}?dryRun=All", config_map(name="dry")),
        get(f"{CONFIG_MAPS}/dry"),
        post(CONFIG_MAPS, config_map(name="there")),
        post(f"{CONFIG_MAPS}?dryRun=All", config_map(name="there")),
        patch(f"{CONFIG_MAPS}/there?dryRun=All", {"data": {"a": "b"}}),
        put(f"{CONFIG_MAPS}/there?dryRun=All", config_map(name="there", data={"c": "d"})),
        delete(f"{CONFIG_MAPS}/there?dryRun=All"),
        delete(f"{CONFIG_MAPS}/there", {"dryRun": ["All"]}),
        get(f"{CONFIG_MAPS}/there"),
        post(f"{CONFIG_MAPS}?dryRun=Some", config_map(name="dry")),
        post(f"{CONFIG_MAPS}?dryRun=All&dryRun=All", config_map(name="dry")),
        post(f"{CORE}/services?dryRun=All", service(ports=[{"port": 80}])),
        delete(f"{CONFIG_MAPS}?dryRun=All"),
        get(CONFIG_MAPS),
    )
    yield scene(
        "field managers",
        post(f"{CONFIG_MAPS}?fieldManager=ann", config_map(name="a", data={"a": "b"})),
        patch(f"{CONFIG_MAPS}/a?fieldManager=bob", {"data": {"c": "d"}}),
        post(f"{CONFIG_MAPS}?fieldManager={'x' * 129}", config_map(name="b")),
        post(f"{CONFIG_MAPS}?fieldManager=a%07b", config_map(name="b")),
        put(f"{CONFIG_MAPS}/a?fieldManager=cat", config_map(name="a", data={"a": "new"})),
        post(
            f"{CONFIG_MAPS}?fieldManager=ann", config_map(name="m", metadata={"managedFields": []})
        ),
        post(
            CONFIG_MAPS,
            config_map(name="n", metadata={"managedFields": [{"manager": "x", "operation": "y"}]}),
        ),
    )


def _jobs() -> Iterator[Scene]:
    labels = {"labels": LABELS}
    applied = json.dumps(job() | {"metadata": {"name": "applied"}}).encode()
    yield scene(
        "jobs with labels of their own, and with those of their templates",
        post(f"{BATCH}/jobs", job() | {"metadata": {"name": "own"} | labels}),
        post(f"{BATCH}/jobs", job() | {"metadata": {"name": "shared"}}),
        patch(f"{BATCH}/jobs/applied?fieldManager=ann", applied, APPLY),
        patch(f"{BATCH}/jobs/own", {"metadata": {"labels": None}}),
    )


def _versions() -> Iterator[Scene]:
    five = {"resourceVersion": "5"}
    yield scene(
        "new objects that have a version already",
        post(CONFIG_MAPS, config_map(metadata=five)),
        post(CONFIG_MAPS, config_map(metadata=five | {"labels": {"a b": "c"}})),
        post(f"{CONFIG_MAPS}?dryRun=All", config_map(metadata=five)),
        post(f"{CONFIG_MAPS}?dryRun=All", config_map(metadata={"resourceVersion": "x"})),
        post(CONFIG_MAPS, config_map()),
        post(CONFIG_MAPS, config_map(metadata=five)),
        post(f"{CONFIG_MAPS}?dryRun=All", config_map(metadata=five)),
    )


def _lists_of_nothing() -> Iterator[Scene]:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/<ns>/roles"
    role = manifest("rbac.authorization.k8s.io/v1", "Role", rules=[])
    endpoints = "/apis/discovery.k8s.io/v1/namespaces/<ns>/endpointslices"
    slices = manifest("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4")
    yield scene(
        "lists of nothing",
        post(f"{rbac}?dryRun=All", role),
        post(rbac, role),
        get(f"{rbac}/x"),
        put(f"{rbac}/x", role),
        post(endpoints, slices | {"endpoints": [], "ports": []}),
        post(f"{CORE}/limitranges", manifest("v1", "LimitRange", spec={"limits": []})),
        post(f"{BATCH}/jobs", job(podFailurePolicy={"rules": []})),
    )


def _refused_objects() -> Iterator[Scene]:
    long_label = {"a": "b" * 64}
    yield scene(
        "objects that break rules",
        post(CONFIG_MAPS, config_map(metadata={"labels": {"a b": "c"}})),
        post(CONFIG_MAPS, config_map(metadata={"labels": long_label, "annotations": {"/": ""}})),
        post(CONFIG_MAPS, config_map(data={"a/b": "c"})),
        post(CONFIG_MAPS, config_map(data={"..": "d"})),
        post(CONFIG_MAPS, config_map(data={"a": "b" * (MEBIBYTE + 1)})),
        post(CONFIG_MAPS, config_map(data={"a": "b"}, binaryData={"a": "AA=="})),
        post(PODS, manifest("v1", "Pod")),
        post(PODS, pod(container(name="A_b", image=""))),
        post(PODS, pod(container(env=[{"name": "", "value": "x"}]))),
        post(PODS, pod(container(volumeMounts=[{"name": "none", "mountPath": "/x"}]))),
        post(PODS, pod(container(resources={"limits": {"cpu": "-1"}}))),
        post(f"{CORE}/services", service(ports=[])),
        post(f"{CORE}/services", service(type="Odd", ports=[{"port": 0}])),
        post(f"{APPS}/deployments", workload("Deployment", selector={"matchLabels": {"a": "b"}})),
        post(f"{APPS}/deployments", workload("Deployment", replicas=-1)),
        post(f"{APPS}/deployments", manifest("apps/v1", "Deployment")),
        post(f"{BATCH}/jobs", job(parallelism=-1)),
        post(f"{CORE}/secrets", secret(type="kubernetes.io/tls")),
        post(
            "/apis/coordination.k8s.io/v1/namespaces/<ns>/leases",
            manifest("coordination.k8s.io/v1", "Lease", spec={"leaseDurationSeconds": 0}),
        ),
        post(f"{CORE}/events", manifest("v1", "Event", involvedObject={"namespace": "other"})),
        post(
            "/apis/events.k8s.io/v1/namespaces/<ns>/events",
            manifest("events.k8s.io/v1", "Event", note="x"),
        ),
    )
    yield scene(
        "objects of the wrong type",
        post(CONFIG_MAPS, config_map(data={"a": 1})),
        post(CONFIG_MAPS, config_map(data=["a"])),
        post(CONFIG_MAPS, config_map(immutable="yes")),
        post(CONFIG_MAPS, config_map(binaryData={"a": "not base64!"})),
        post(CONFIG_MAPS, {"metadata": "x"}),
        post(CONFIG_MAPS, {"metadata": {"name": 5}}),
        post(CONFIG_MAPS, {"metadata": {"labels": {"a": None, "b": 1}}}),
        post(PODS, pod(container(ports=[{"containerPort": "80"}]))),
        post(PODS, pod(container(resources={"limits": {"cpu": "much"}}))),
        post(PODS, pod(terminationGracePeriodSeconds=1.5)),
        post(f"{CORE}/secrets", secret(data={"a": "%%%"})),
        post(f"{APPS}/deployments", workload("Deployment", replicas="3")),
        post(f"{APPS}/deployments", workload("Deployment", replicas=4294967296)),
        post(f"{CORE}/events", manifest("v1", "Event", firstTimestamp="yesterday")),
    )
    yield scene(
        "objects of the wrong kind",
        post(CONFIG_MAPS, manifest("v1", "Secret")),
        post(CONFIG_MAPS, manifest("v2", "ConfigMap")),
        post(CONFIG_MAPS, manifest("apps/v1", "ConfigMap")),
        post(CONFIG_MAPS, manifest("v1", "Nonsense")),
        post(CONFIG_MAPS, manifest("v1", "configmap")),
        post(CONFIG_MAPS, manifest("a/b/c", "ConfigMap")),
        post(CONFIG_MAPS, {"kind": "ConfigMap", "metadata": {"name": "only-kind"}}),
        post(CONFIG_MAPS, {"apiVersion": "v1", "metadata": {"name": "only-version"}}),
        post(PODS, manifest("v1", "PodList")),
        post(CONFIG_MAPS, manifest("v1", "List", items=[])),
        post(f"{APPS}/deployments", manifest("v1", "Deployment")),
        post(f"{APPS}/deployments", manifest("apps/v1", "ReplicaSet")),
        put(f"{CONFIG_MAPS}/only-kind", manifest("v1", "Secret", name="only-kind")),
    )


def _unknown_fields() -> Iterator[Scene]:
    odd = config_map(name="odd", nonsense=1, metadata={"more": {"deep": True}})
    odd_pod = pod(container(imagePullPolice="Always", env=[{"name": "A", "valve": "b"}]), speck=1)
    twice = b'{"metadata":{"name":"twice","name":"again"},"data":{"a":"1","a":"2"}}'
    yield scene(
        "unknown fields",
        *(
            post(f"{CONFIG_MAPS}?dryRun=All&fieldValidation={level}", odd)
            for level in ("Strict", "Warn", "Ignore", "", "Nonsense")
        ),
        *(
            post(f"{PODS}?dryRun=All&fieldValidation={level}", odd_pod)
            for level in ("Strict", "Warn")
        ),
        *(
            post(f"{CONFIG_MAPS}?dryRun=All&fieldValidation={level}", twice)
            for level in ("Strict", "Warn", "Ignore")
        ),
        post(f"{CONFIG_MAPS}?dryRun=All", b"metadata:\n  name: y\nodd: 1\n", content_type=YAML),
        post(
            f"{CONFIG_MAPS}?dryRun=All&fieldValidation=Strict",
            b"metadata:\n  name: y\n  name: z\nodd: 1\n",
            content_type=YAML,
            differs={"body.message": "repeated-keys-in-yaml"},
        ),
        post(f"{CONFIG_MAPS}?dryRun=All&fieldValidation=Strict", {"Metadata": {"name": "case"}}),
        post(CONFIG_MAPS, config_map(name="there")),
        patch(f"{CONFIG_MAPS}/there?fieldValidation=Strict", {"odd": 1}),
        patch(f"{CONFIG_MAPS}/there?fieldValidation=Warn", {"odd": 1}),
        put(f"{CONFIG_MAPS}/there?fieldValidation=Strict", config_map(name="there", odd=1)),
    )


def _bodies() -> Iterator[Scene]:
    yield scene(
        "bodies that cannot be read",
        post(CONFIG_MAPS, b"{"),
        post(CONFIG_MAPS, b"{]"),
        post(CONFIG_MAPS, b"{} {}"),
        post(CONFIG_MAPS, b"[]"),
        post(CONFIG_MAPS, b'"text"'),
        post(CONFIG_MAPS, b"null"),
        post(CONFIG_MAPS, b"5"),
        post(CONFIG_MAPS, b""),
        post(CONFIG_MAPS, b" "),
        Ask("POST", CONFIG_MAPS),
        post(CONFIG_MAPS, b'{"metadata":{"name":"a\xff"}}'),
        post(CONFIG_MAPS, b"metadata: {name: x}"),
        post(CONFIG_MAPS, b"metadata: {name: fromyaml}", content_type=YAML),
        post(CONFIG_MAPS, b"metadata: [", content_type=YAML),
        post(CONFIG_MAPS, b"\tmetadata: x", content_type=YAML),
        post(CONFIG_MAPS, b"", content_type=YAML),
        post(CONFIG_MAPS, b"- a", content_type=YAML),
        post(CONFIG_MAPS, b"data: {1: true}\nmetadata: {name: odd}", content_type=YAML),
        post(CONFIG_MAPS, b"<x/>", content_type="application/xml"),
        post(CONFIG_MAPS, b"{}", content_type="text/plain"),
        post(CONFIG_MAPS, b'{"metadata":{"name":"untyped"}}', content_type=""),
        post(CONFIG_MAPS, b"{}", content_type="nonsense"),
        post(CONFIG_MAPS, b"a=b", content_type="application/x-www-form-urlencoded"),
        post(CONFIG_MAPS, b"k8s\x00\x01", content_type="application/vnd.kubernetes.protobuf"),
        post(
            CONFIG_MAPS,
            b'{"metadata":{"name":"charset"}}',
            content_type="application/json; charset=utf-8",
        ),
        post(CONFIG_MAPS, b'{"metadata":{"name":"a"},"data":{"a":' + b"[" * 11000),
        put(f"{CONFIG_MAPS}/x", b""),
        put(f"{CONFIG_MAPS}/x", b"[]"),
    )
    yield scene(
        "bodies that are too large",
        post(CONFIG_MAPS, b'{"data":{"a":"' + b"x" * (3 * MEBIBYTE) + b'"}}'),
        patch(f"{CONFIG_MAPS}/x", b'{"data":{"a":"' + b"x" * (3 * MEBIBYTE) + b'"}}'),
        put(f"{CONFIG_MAPS}/x", b" " * (3 * MEBIBYTE + 1)),
    )


def _configuration() -> Iterator[Scene]:
    secrets = f"{CORE}/secrets"
    yield scene(
        "secrets",
        post(secrets, secret(name="a", stringData={"user": "ann"}, data={"user": "Ym9i", "b": ""})),
        get(f"{secrets}/a"),
        patch(f"{secrets}/a", {"stringData": {"user": "cat"}}),
        patch(f"{secrets}/a", {"type": "example.com/other"}),
        patch(f"{secrets}/a", {"data": {"user": None}}),
        patch(f"{secrets}/a", {"data": {"user": "not base64"}}),
        patch(f"{secrets}/a", {"immutable": True}),
        patch(f"{secrets}/a", {"stringData": {"user": "dan"}}),
        patch(f"{secrets}/a", {"immutable": False}),
        patch(f"{secrets}/a", {"metadata": {"labels": {"still": "allowed"}}}),
        post(
            secrets,
            secret(name="tls", type="kubernetes.io/tls", stringData={"tls.crt": "", "tls.key": ""}),
            differs={"headers.Warning": "certificates-in-secrets"},
        ),
        post(secrets, secret(name="ssh", type="kubernetes.io/ssh-auth", stringData={"x": ""})),
        delete(f"{secrets}/a"),
    )
    yield scene(
        "config maps",
        post(
            CONFIG_MAPS,
            config_map(name="a", data={"a": "é\n\t\u2028<&>"}, binaryData={"b": "/w=="}),
        ),
        get(f"{CONFIG_MAPS}/a", accept=YAML),
        patch(f"{CONFIG_MAPS}/a", {"binaryData": {"a": "AA=="}}),
        patch(f"{CONFIG_MAPS}/a", {"data": None}),
        patch(f"{CONFIG_MAPS}/a", {"immutable": True}),
        patch(f"{CONFIG_MAPS}/a", {"data": {"x": "y"}}),
        patch(f"{CONFIG_MAPS}/a", {"immutable": None}),
        patch(f"{CONFIG_MAPS}/a", {"metadata": {"annotations": {"still": "allowed"}}}),
        post(CONFIG_MAPS, config_map(name="full", data={"a": "b" * (MEBIBYTE - 10)}), view=len),
    )
