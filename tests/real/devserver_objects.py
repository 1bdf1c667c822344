"""Objects that the development server must treat as the real server does, good and bad ones.

Owns: the manifests, each with the path to which it is posted.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

CORE: Final = "/api/v1/namespaces/{namespace}"
APPS: Final = "/apis/apps/v1/namespaces/{namespace}"
BATCH: Final = "/apis/batch/v1/namespaces/{namespace}"

Manifest = dict[str, Any]
Case = tuple[str, str, Manifest]  # a name, the path, the body

LABELS: Final = {"app": "web"}


def manifest(api_version: str, kind: str, /, name: str = "x", **fields: Any) -> Manifest:
    metadata = {"name": name} | fields.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def config_map(**fields: Any) -> Manifest:
    return manifest("v1", "ConfigMap", **fields)


def secret(**fields: Any) -> Manifest:
    return manifest("v1", "Secret", **fields)


def pod(*containers: Manifest, metadata: Manifest | None = None, **spec: Any) -> Manifest:
    used = list(containers) or [container()]
    return manifest("v1", "Pod", metadata=metadata or {}, spec={"containers": used} | spec)


def container(**fields: Any) -> Manifest:
    return {"name": "web", "image": "nginx"} | fields


def service(**spec: Any) -> Manifest:
    return manifest("v1", "Service", spec=spec)


def template(**spec: Any) -> Manifest:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [container()]} | spec}


def workload(kind: str, **spec: Any) -> Manifest:
    usual = {"selector": {"matchLabels": LABELS}, "template": template()}
    return manifest("apps/v1", kind, spec=usual | spec)


def job(**spec: Any) -> Manifest:
    return manifest("batch/v1", "Job", spec={"template": template(restartPolicy="Never")} | spec)


def cron_job(**spec: Any) -> Manifest:
    job_template = {"spec": {"template": template(restartPolicy="OnFailure")}}
    usual = {"schedule": "*/5 * * * *", "jobTemplate": job_template}
    return manifest("batch/v1", "CronJob", spec=usual | spec)


def definition(**changes: Any) -> Manifest:
    names = {"plural": "gears", "kind": "Gear"} | changes.pop("names", {})
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    } | changes.pop("version", {})
    name = changes.pop("name", "gears.example.org")
    spec = {"group": "example.org", "scope": "Namespaced", "names": names, "versions": [version]}
    return manifest(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", name=name, spec=spec | changes
    )


def good_objects() -> Iterator[Case]:
    """Yield objects that are accepted; what is stored shows the defaults."""
    yield from _good_core()
    yield from _good_pods()
    yield from _good_workloads()
    yield from _good_others()


def _good_core() -> Iterator[Case]:
    yield "plain config map", f"{CORE}/configmaps", config_map(data={"a": "1", "b": ""})
    yield (
        "config map with everything",
        f"{CORE}/configmaps",
        config_map(
            name="all",
            metadata={
                "labels": {"a": "b"},
                "annotations": {},
                "finalizers": ["example.com/keep"],
                "generation": 7,
                "uid": "mine",
                "creationTimestamp": "2001-01-01T00:00:00Z",
                "deletionGracePeriodSeconds": 5,
                "selfLink": "/here",
            },
            data={"a": None},
            binaryData={"b": "AAE="},
            immutable=False,
        ),
    )
    yield (
        "config map without kind",
        f"{CORE}/configmaps",
        {"metadata": {"name": "nokind", "labels": None}, "data": {}, "immutable": True},
    )
    yield (
        "generated name",
        f"{CORE}/configmaps",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-"}},
    )
    yield "secret", f"{CORE}/secrets", secret(data={"a": "YQ=="}, stringData={"a": "b", "c": "d"})
    yield "typed secret", f"{CORE}/secrets", secret(name="typed", type="example.com/thing")
    yield "service account", f"{CORE}/serviceaccounts", manifest("v1", "ServiceAccount")
    yield (
        "service",
        f"{CORE}/services",
        service(selector=LABELS, ports=[{"port": 80}]),
    )
    yield (
        "headless service",
        f"{CORE}/services",
        manifest("v1", "Service", name="headless", spec={"clusterIP": "None"}),
    )
    yield (
        "external service",
        f"{CORE}/services",
        manifest(
            "v1",
            "Service",
            name="external",
            spec={"type": "ExternalName", "externalName": "example.com"},
        ),
    )
    yield (
        "sticky service",
        f"{CORE}/services",
        manifest(
            "v1",
            "Service",
            name="sticky",
            spec={
                "sessionAffinity": "ClientIP",
                "ports": [
                    {"name": "a", "port": 80, "targetPort": "http"},
                    {"name": "b", "port": 53, "protocol": "UDP", "targetPort": 5353},
                ],
            },
        ),
    )
    yield (
        "node port service",
        f"{CORE}/services",
        manifest(
            "v1",
            "Service",
            name="outside",
            spec={"type": "NodePort", "ports": [{"port": 80, "nodePort": 30123}]},
        ),
    )
    yield (
        "balanced service",
        f"{CORE}/services",
        manifest(
            "v1",
            "Service",
            name="balanced",
            spec={"type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 30124}]},
        ),
    )
    yield (
        "endpoints",
        f"{CORE}/endpoints",
        manifest(
            "v1",
            "Endpoints",
            subsets=[{"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 80}]}],
        ),
    )
    yield (
        "event",
        f"{CORE}/events",
        manifest(
            "v1",
            "Event",
            involvedObject={"kind": "Pod", "name": "x", "namespace": "{namespace}"},
            reason="Because",
            message="it is so",
            type="Normal",
        ),
    )
    yield (
        "namespace",
        "/api/v1/namespaces",
        manifest("v1", "Namespace", name="{namespace}-more", metadata={"labels": {"a": "b"}}),
    )
    yield (
        "node",
        "/api/v1/nodes",
        manifest(
            "v1",
            "Node",
            name="{namespace}-node",
            spec={"podCIDR": "10.4.0.0/24"},
            status={"capacity": {"cpu": "2", "memory": "1024Ki"}},
        ),
    )


def _good_pods() -> Iterator[Case]:
    yield "plain pod", f"{CORE}/pods", pod(metadata={"name": "plain"})
    yield (
        "pod with everything",
        f"{CORE}/pods",
        pod(
            container(
                image="nginx:1.25",
                env=[
                    {"name": "A", "value": ""},
                    {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    {"name": "C", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                    {"name": "D", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                ],
                envFrom=[{"configMapRef": {"name": "c"}}],
                ports=[{"containerPort": 80, "name": "http"}, {"containerPort": 443}],
                resources={
                    "limits": {"cpu": 0.5, "memory": "1024Mi"},
                    "requests": {"cpu": "100m"},
                },
                livenessProbe={"httpGet": {"port": 80}},
                readinessProbe={"tcpSocket": {"port": "http"}, "periodSeconds": 3},
                startupProbe={"exec": {"command": ["true"]}},
                lifecycle={"preStop": {"httpGet": {"port": 80, "scheme": "HTTPS"}}},
                volumeMounts=[{"name": "config", "mountPath": "/c", "readOnly": False}],
                securityContext={"runAsUser": 0, "capabilities": {"add": ["NET_ADMIN"]}},
            ),
            container(name="side", image="busybox:latest", command=[], args=["a"]),
            metadata={"name": "full", "labels": LABELS},
            initContainers=[container(name="first", image="host:5000/a/b@sha256:" + "0" * 64)],
            volumes=[
                {"name": "config", "configMap": {"name": "c"}},
                {"name": "secret", "secret": {"secretName": "s", "optional": True}},
                {"name": "scratch"},
                {"name": "host", "hostPath": {"path": "/tmp"}},
                {
                    "name": "down",
                    "downwardAPI": {
                        "items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]
                    },
                },
                {
                    "name": "projected",
                    "projected": {
                        "sources": [{"configMap": {"name": "c"}}, {"secret": {"name": "s"}}]
                    },
                },
                {"name": "ram", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
                {"name": "claim", "persistentVolumeClaim": {"claimName": "p"}},
            ],
            restartPolicy="OnFailure",
            terminationGracePeriodSeconds=0,
            hostAliases=[{"ip": "127.0.0.1", "hostnames": ["a.b"]}],
            nodeSelector={},
            tolerations=[{"operator": "Exists"}],
        ),
    )
    yield (
        "pod on the host network",
        f"{CORE}/pods",
        pod(
            container(ports=[{"containerPort": 8080}]),
            metadata={"name": "host"},
            hostNetwork=True,
            hostPID=True,
            serviceAccountName="builder",
            nodeName="n1",
        ),
    )
    yield (
        "pod with a status",
        f"{CORE}/pods",
        manifest(
            "v1",
            "Pod",
            name="sick",
            spec={
                "containers": [
                    container(
                        resources={
                            "limits": {"cpu": "1", "memory": "1Gi"},
                            "requests": {"cpu": "1", "memory": "1Gi"},
                        }
                    )
                ]
            },
            status={"phase": "Running", "podIP": "1.2.3.4"},
        ),
    )


def _good_workloads() -> Iterator[Case]:
    yield "deployment", f"{APPS}/deployments", workload("Deployment")
    yield (
        "recreating deployment",
        f"{APPS}/deployments",
        workload("Deployment", strategy={"type": "Recreate"}, replicas=0)
        | {"metadata": {"name": "again", "generation": 4}},
    )
    yield "replica set", f"{APPS}/replicasets", workload("ReplicaSet")
    yield (
        "stateful set",
        f"{APPS}/statefulsets",
        workload(
            "StatefulSet",
            serviceName="s",
            volumeClaimTemplates=[
                {
                    "metadata": {"name": "data"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    },
                }
            ],
        ),
    )
    yield "daemon set", f"{APPS}/daemonsets", workload("DaemonSet")
    yield "job", f"{BATCH}/jobs", job()
    yield "cron job", f"{BATCH}/cronjobs", cron_job()
    yield (
        "replication controller",
        f"{CORE}/replicationcontrollers",
        manifest("v1", "ReplicationController", spec={"template": template()}),
    )


def _good_others() -> Iterator[Case]:
    group = "/apis/{}/namespaces/{{namespace}}/{}".format
    yield (
        "lease",
        group("coordination.k8s.io/v1", "leases"),
        manifest(
            "coordination.k8s.io/v1",
            "Lease",
            spec={"holderIdentity": "me", "renewTime": "2020-01-01T00:00:00.000000Z"},
        ),
    )
    yield (
        "new event",
        group("events.k8s.io/v1", "events"),
        manifest(
            "events.k8s.io/v1",
            "Event",
            name="new",
            eventTime="2020-01-01T00:00:00.000000Z",
            regarding={"kind": "Pod", "name": "x", "namespace": "{namespace}"},
            reason="Because",
            note="it is so",
            type="Normal",
            action="Made",
            reportingController="example.com/c",
            reportingInstance="c-1",
        ),
    )
    yield (
        "role",
        group("rbac.authorization.k8s.io/v1", "roles"),
        manifest(
            "rbac.authorization.k8s.io/v1",
            "Role",
            name="a:b",
            rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
        ),
    )
    yield (
        "role binding",
        group("rbac.authorization.k8s.io/v1", "rolebindings"),
        manifest(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            roleRef={"kind": "Role", "name": "a:b"},
            subjects=[{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s"}],
        ),
    )
    yield (
        "ingress",
        group("networking.k8s.io/v1", "ingresses"),
        manifest(
            "networking.k8s.io/v1",
            "Ingress",
            spec={
                "rules": [
                    {
                        "host": "a.example.com",
                        "http": {
                            "paths": [
                                {
                                    "path": "/",
                                    "pathType": "Prefix",
                                    "backend": {"service": {"name": "s", "port": {"number": 80}}},
                                }
                            ]
                        },
                    }
                ]
            },
        ),
    )
    yield (
        "network policy",
        group("networking.k8s.io/v1", "networkpolicies"),
        manifest(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            spec={"podSelector": {}, "egress": [{"ports": [{"port": 53}]}]},
        ),
    )
    yield (
        "disruption budget",
        group("policy/v1", "poddisruptionbudgets"),
        manifest(
            "policy/v1",
            "PodDisruptionBudget",
            spec={"minAvailable": "50%", "selector": {"matchLabels": LABELS}},
        ),
    )
    yield (
        "autoscaler",
        group("autoscaling/v2", "horizontalpodautoscalers"),
        manifest(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            spec={
                "maxReplicas": 3,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"},
            },
        ),
    )
    yield (
        "volume claim",
        f"{CORE}/persistentvolumeclaims",
        manifest(
            "v1",
            "PersistentVolumeClaim",
            spec={
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1024Mi"}},
            },
        ),
    )
    yield (
        "volume",
        "/api/v1/persistentvolumes",
        manifest(
            "v1",
            "PersistentVolume",
            name="{namespace}-volume",
            spec={
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/tmp"},
            },
        ),
    )
    yield (
        "storage class",
        "/apis/storage.k8s.io/v1/storageclasses",
        manifest(
            "storage.k8s.io/v1",
            "StorageClass",
            name="{namespace}-class",
            provisioner="example.com/p",
        ),
    )
    yield (
        "priority class",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        manifest("scheduling.k8s.io/v1", "PriorityClass", name="{namespace}-priority", value=1000),
    )
    yield (
        "endpoint slice",
        group("discovery.k8s.io/v1", "endpointslices"),
        manifest(
            "discovery.k8s.io/v1",
            "EndpointSlice",
            addressType="IPv4",
            endpoints=[{"addresses": ["10.1.1.1"]}],
            ports=[{"port": 80}],
        ),
    )
    yield (
        "quota",
        f"{CORE}/resourcequotas",
        manifest("v1", "ResourceQuota", spec={"hard": {"pods": 1000}}),
    )
    yield (
        "limit range",
        f"{CORE}/limitranges",
        manifest(
            "v1",
            "LimitRange",
            spec={"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "100m"}}]},
        ),
    )
    yield (
        "custom resource definition",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        definition(),
    )
