"""Objects that are refused because of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.availability_objects import bad_availability
from tests.real.bad_admission import bad_admission
from tests.real.bad_devices import bad_devices
from tests.real.bad_drivers import bad_drivers
from tests.real.bad_flows import bad_flows
from tests.real.bad_pod_parts import bad_pod_parts
from tests.real.bad_pods import bad_containers, bad_pods, bad_volumes
from tests.real.bad_shares import bad_shares
from tests.real.bad_storage import bad_storage
from tests.real.devserver_objects import (
    APPS,
    BATCH,
    CORE,
    LABELS,
    Case,
    config_map,
    cron_job,
    definition,
    job,
    manifest,
    secret,
    service,
    template,
    workload,
)
from tests.real.traffic_objects import bad_traffic


def bad_objects() -> Iterator[Case]:
    """Yield objects that are refused because of what they say."""
    yield from _bad_metadata()
    yield from _bad_config()
    yield from bad_pods()
    yield from bad_containers()
    yield from bad_volumes()
    yield from _bad_services()
    yield from _bad_workloads()
    yield from _bad_others()
    yield from bad_traffic()
    yield from bad_availability()
    yield from bad_storage()
    yield from bad_shares()
    yield from _bad_strategies()
    yield from bad_admission()
    yield from bad_flows()
    yield from bad_drivers()
    yield from bad_devices()
    yield from bad_pod_parts()


def _bad_metadata() -> Iterator[Case]:
    def case(title: str, /, **metadata: Any) -> Case:
        return title, f"{CORE}/configmaps", config_map(metadata=metadata)

    yield case("no name", name="")
    yield case("name with capitals", name="Upper")
    yield case("name with underscore", name="a_b")
    yield case("name that is too long", name="a" * 254)
    yield case("name with a slash", name="a/b")
    yield case("generated name with capitals", name="", generateName="Upper-")
    yield case("label with a space", labels={"a b": "c"})
    yield case("label with two slashes", labels={"a/b/c": "c"})
    yield case("label without a name", labels={"example.com/": "c"})
    yield case("label with an empty prefix", labels={"/a": "c"})
    yield case("label with a bad prefix", labels={"Ex_ample/a": "c"})
    yield case("label that is too long", labels={"a" * 64: "c"})
    yield case("label value with a space", labels={"a": "b c"})
    yield case("label value that is too long", labels={"a": "b" * 64})
    yield case("annotation with a bad key", annotations={"a b": "c"})
    yield case("annotations that are too long", annotations={"a": "b" * 262145})
    yield case("finalizer without a domain", finalizers=["a b"])
    yield case("negative generation", generation=-1)
    yield case(
        "owner without anything",
        ownerReferences=[{"apiVersion": "", "kind": "", "name": "", "uid": ""}],
    )
    yield case(
        "two controllers",
        ownerReferences=[
            {"apiVersion": "v1", "kind": "A", "name": n, "uid": n, "controller": True}
            for n in ("a", "b")
        ],
    )
    yield "namespace with dots", "/api/v1/namespaces", manifest("v1", "Namespace", name="a.b")
    yield (
        "service name with digits",
        f"{CORE}/services",
        service(ports=[{"port": 1}]) | {"metadata": {"name": "1abc"}},
    )
    yield (
        "role with a slash",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
        manifest("rbac.authorization.k8s.io/v1", "Role", name="a/b"),
    )


def _bad_config() -> Iterator[Case]:
    path = f"{CORE}/configmaps"
    yield "key with a slash", path, config_map(data={"a/b": "c"})
    yield "key that is two dots", path, config_map(data={"..": "c"})
    yield "key that begins with two dots", path, config_map(data={"..a": "c"})
    yield "empty key", path, config_map(data={"": "c"})
    yield "long key", path, config_map(data={"a" * 254: "c"})
    yield "bad binary key", path, config_map(binaryData={"a b": ""})
    yield "key in both", path, config_map(data={"a": "b"}, binaryData={"a": ""})
    yield "more than a mebibyte", path, config_map(data={"a": "b" * (1024 * 1024 + 1)})
    path = f"{CORE}/secrets"
    yield "secret key with a space", path, secret(stringData={"a b": "c"})
    yield "token secret without account", path, secret(type="kubernetes.io/service-account-token")
    yield "docker secret without config", path, secret(type="kubernetes.io/dockercfg")
    yield "docker secret without json", path, secret(type="kubernetes.io/dockerconfigjson")
    yield "basic secret without anything", path, secret(type="kubernetes.io/basic-auth")
    yield "ssh secret without key", path, secret(type="kubernetes.io/ssh-auth")
    yield "tls secret without anything", path, secret(type="kubernetes.io/tls")
    yield "secret of more than a mebibyte", path, secret(stringData={"a": "b" * (1024 * 1024 + 1)})


def _bad_services() -> Iterator[Case]:
    def case(name: str, **spec: Any) -> Case:
        return name, f"{CORE}/services", service(**spec)

    port = {"port": 80}
    yield case("service without ports")
    yield case("service with a bad port", ports=[{"port": 0}])
    yield case("service with a bad target", ports=[{"port": 1, "targetPort": "A_"}])
    yield case("service with a bad protocol", ports=[{"port": 1, "protocol": "X"}])
    yield case("ports without names", ports=[{"port": 1}, {"port": 2}])
    yield case("ports of one name", ports=[{"port": 1, "name": "a"}, {"port": 2, "name": "a"}])
    yield case("the same port twice", ports=[{"port": 1, "name": "a"}, {"port": 1, "name": "b"}])
    yield case("bad service type", type="Magic", ports=[port])
    yield case("bad affinity", sessionAffinity="Glue", ports=[port])
    yield case("bad cluster address", clusterIP="x", ports=[port])
    yield case("cluster address outside", clusterIP="1.2.3.4", ports=[port])
    yield case("external name missing", type="ExternalName")
    yield case("external name malformed", type="ExternalName", externalName="A_b")
    yield case("node port on a cluster service", ports=[{"port": 80, "nodePort": 30001}])
    yield case("node port out of range", type="NodePort", ports=[{"port": 80, "nodePort": 80}])
    yield case("bad selector", selector={"a b": "c d"}, ports=[port])
    yield case("headless node port", type="NodePort", clusterIP="None", ports=[port])
    yield case("bad internal policy", internalTrafficPolicy="No", ports=[port])
    yield case("bad external policy", type="NodePort", externalTrafficPolicy="No", ports=[port])
    yield case("bad external address", externalIPs=["x"], ports=[port])


def _bad_workloads() -> Iterator[Case]:
    for kind, plural in (
        ("Deployment", "deployments"),
        ("ReplicaSet", "replicasets"),
        ("StatefulSet", "statefulsets"),
        ("DaemonSet", "daemonsets"),
    ):
        path = f"{APPS}/{plural}"
        yield f"{kind} without selector", path, workload(kind, selector=None)
        yield f"{kind} with an empty selector", path, workload(kind, selector={})
        yield (
            f"{kind} that selects others",
            path,
            workload(kind, selector={"matchLabels": {"a": "b"}}),
        )
        yield f"{kind} without template", path, manifest("apps/v1", kind, spec={})
        yield (
            f"{kind} with a bad restart policy",
            path,
            workload(kind, template=template(restartPolicy="Never")),
        )
        yield f"{kind} with a bad pod", path, workload(kind, template=template(containers=[{}]))
        if kind != "DaemonSet":
            yield f"{kind} with fewer than no replicas", path, workload(kind, replicas=-1)
    path = f"{APPS}/deployments"
    yield "bad strategy", path, workload("Deployment", strategy={"type": "Hope"})
    yield (
        "recreate with numbers",
        path,
        workload("Deployment", strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
    )
    yield (
        "nothing may move",
        path,
        workload("Deployment", strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
    )
    yield (
        "bad percent",
        path,
        workload("Deployment", strategy={"rollingUpdate": {"maxSurge": "x"}}),
    )
    yield "deadline before ready", path, workload("Deployment", progressDeadlineSeconds=0)
    yield (
        "bad selector operator",
        path,
        workload("Deployment", selector={"matchExpressions": [{"key": "a", "operator": "Like"}]}),
    )
    path = f"{BATCH}/jobs"
    yield "job that always restarts", path, job(template=template(restartPolicy="Always"))
    yield "job with a selector", path, job(selector={"matchLabels": LABELS})
    yield "job with negative numbers", path, job(parallelism=-1, completions=-1, backoffLimit=-1)
    path = f"{BATCH}/cronjobs"
    yield "cron job without schedule", path, cron_job(schedule="")
    yield "cron job with a bad schedule", path, cron_job(schedule="soon")
    yield "cron job with a bad policy", path, cron_job(concurrencyPolicy="Maybe")
    yield "cron job with a long name", path, cron_job() | {"metadata": {"name": "a" * 53}}


def _bad_strategies() -> Iterator[Case]:
    def daemon(title: str, /, **rolling: Any) -> Case:
        strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
        return title, f"{APPS}/daemonsets", workload("DaemonSet", updateStrategy=strategy)

    def stateful(title: str, /, **spec: Any) -> Case:
        return title, f"{APPS}/statefulsets", workload("StatefulSet", serviceName="s", **spec)

    def converted(title: str, strategy: str, /, **webhook: Any) -> Case:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        conversion = {"strategy": strategy} | ({"webhook": webhook} if webhook else {})
        return title, path, definition(conversion=conversion)

    yield daemon("daemons that never leave", maxUnavailable=0)
    yield daemon("daemons twice at once", maxUnavailable="x", maxSurge=-1)
    yield daemon("daemons more than there are", maxUnavailable="101%", maxSurge="300%")
    odd = workload("DaemonSet", updateStrategy={"type": "<x>"})
    yield "daemons updated oddly", f"{APPS}/daemonsets", odd
    behind = {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}}
    yield stateful("stateful set before the first", updateStrategy=behind)
    yield stateful("stateful set updated oddly", updateStrategy=behind | {"type": "<x>"})
    yield stateful("stateful set not updated", updateStrategy=behind | {"type": "OnDelete"})
    kept = {"whenDeleted": "Keep", "whenScaled": "Retain"}
    yield stateful("stateful set with odd claims", persistentVolumeClaimRetentionPolicy=kept)
    yield "job replaced oddly", f"{BATCH}/jobs", job(podReplacementPolicy="Always")
    families: Any = {"ports": [{"port": 80}], "ipFamilies": ["IPv4", "IPv4", "x"]}
    yield "service of odd families", f"{CORE}/services", service(**families, ipFamilyPolicy="x")
    yield converted("definition converted oddly", "<x>", conversionReviewVersions=["v1"])
    client: Any = {"clientConfig": {"url": "http://a"}, "conversionReviewVersions": ["v3", "v3"]}
    yield converted("definition converted elsewhere", "Webhook", **client)
    yield converted("definition converted nowhere", "Webhook")
    yield converted("definition not converted", "None", **client)


def _bad_others() -> Iterator[Case]:
    yield (
        "event elsewhere",
        f"{CORE}/events",
        manifest("v1", "Event", involvedObject={"namespace": "elsewhere"}),
    )
    yield (
        "lease with bad numbers",
        "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
        manifest(
            "coordination.k8s.io/v1",
            "Lease",
            spec={"leaseDurationSeconds": 0, "leaseTransitions": -1, "holderIdentity": ""},
        ),
    )
    yield (
        "node with a bad taint",
        "/api/v1/nodes",
        manifest("v1", "Node", name="n-bad", spec={"taints": [{"key": "a b", "effect": "Soon"}]}),
    )
    yield (
        "endpoints with bad values",
        f"{CORE}/endpoints",
        manifest("v1", "Endpoints", subsets=[{"addresses": [{"ip": "x"}], "ports": [{"port": 0}]}]),
    )
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    yield "definition with another name", path, definition(name="wheels.example.org")
    yield "definition without group", path, definition(group="", name="gears.")
    yield "definition with a bad scope", path, definition(scope="Galaxy")
    yield "definition without versions", path, definition(versions=[])
    yield "definition without schema", path, definition(version={"schema": None})
    yield "definition without storage", path, definition(version={"storage": False})
    yield "definition with a bad version", path, definition(version={"name": "V1"})
    yield "definition without kind", path, definition(names={"kind": ""})
    yield (
        "definition without structure",
        path,
        definition(version={"schema": {"openAPIV3Schema": {"properties": {"a": {}}}}}),
    )
