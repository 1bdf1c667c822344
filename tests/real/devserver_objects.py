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
    yield "bytes that are null", f"{CORE}/configmaps", config_map(binaryData={"b": None})
    yield "secret that is null", f"{CORE}/secrets", secret(data={"a": None, "b": ""})
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
            spec={"type": "NodePort", "ports": [{"port": 80}]},
        ),
    )
    yield (
        "balanced service",
        f"{CORE}/services",
        manifest(
            "v1",
            "Service",
            name="balanced",
            spec={"type": "LoadBalancer", "ports": [{"port": 80}]},
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


def bad_objects() -> Iterator[Case]:
    """Yield objects that are refused because of what they say."""
    yield from _bad_metadata()
    yield from _bad_config()
    yield from _bad_pods()
    yield from _bad_containers()
    yield from _bad_volumes()
    yield from _bad_services()
    yield from _bad_workloads()
    yield from _bad_others()


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


def _bad_pods() -> Iterator[Case]:
    def case(name: str, *containers: Manifest, **spec: Any) -> Case:
        return name, f"{CORE}/pods", pod(*containers, **spec)

    yield case("no containers", containers=[])
    yield "no spec", f"{CORE}/pods", manifest("v1", "Pod")
    yield case("two containers of one name", container(), container())
    yield case("bad restart policy", restartPolicy="Sometimes")
    yield case("bad dns policy", dnsPolicy="Guess")
    yield case("bad node selector", nodeSelector={"a b": "c d"})
    yield case("bad service account", serviceAccountName="A")
    yield case("bad node name", nodeName="A_b")
    yield case("deadline of zero", activeDeadlineSeconds=0)
    yield case("negative grace", terminationGracePeriodSeconds=-1)
    yield case("bad host name", hostname="a.b", subdomain="A")
    yield case("toleration without key", tolerations=[{"value": "a"}])
    yield case("toleration with a bad operator", tolerations=[{"key": "a", "operator": "Near"}])
    yield case(
        "toleration with a bad effect", tolerations=[{"key": "a", "effect": "Never", "value": "b"}]
    )
    yield case(
        "toleration of seconds without effect",
        tolerations=[{"key": "a", "operator": "Exists", "value": "b", "tolerationSeconds": 3}],
    )
    yield case("host alias without address", hostAliases=[{"hostnames": ["a"]}])
    yield case("host alias with bad values", hostAliases=[{"ip": "x", "hostnames": ["A_"]}])
    yield case("init container of the same name", initContainers=[container()])
    yield case(
        "init container with a probe",
        initContainers=[
            container(
                name="i",
                livenessProbe={"exec": {"command": ["a"]}},
                lifecycle={"preStop": {"exec": {"command": ["a"]}}},
            )
        ],
    )
    yield case(
        "init container with a bad policy",
        initContainers=[container(name="i", restartPolicy="Perhaps")],
    )
    yield case("ephemeral containers at once", ephemeralContainers=[container(name="e")])
    yield case(
        "host network with other ports",
        container(ports=[{"containerPort": 80, "hostPort": 81}]),
        hostNetwork=True,
    )
    yield case("bad priority class", priorityClassName="no such")
    yield case("gate with a node", nodeName="n", schedulingGates=[{"name": "a"}])
    yield case(
        "bad pod security",
        securityContext={"runAsUser": -1, "fsGroup": -1, "supplementalGroups": [-1]},
    )


def _bad_containers() -> Iterator[Case]:
    def case(title: str, /, **fields: Any) -> Case:
        return title, f"{CORE}/pods", pod(container(**fields))

    yield case("container without name", name="")
    yield case("container with a bad name", name="A_b")
    yield case("container with dots", name="a.b")
    yield case("container without image", image="")
    yield case("bad pull policy", imagePullPolicy="Rarely")
    yield case("bad message policy", terminationMessagePolicy="Shout")
    yield case("port without number", ports=[{"name": "a"}])
    yield case("port out of range", ports=[{"containerPort": 70000, "hostPort": -1}])
    yield case(
        "bad port names",
        ports=[{"containerPort": 1, "name": "A--"}, {"containerPort": 2, "name": "x" * 16}],
    )
    yield case(
        "two ports of one name",
        ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}],
    )
    yield case("bad protocol", ports=[{"containerPort": 1, "protocol": "ICMP"}])
    yield case("environment without name", env=[{"value": "a"}])
    yield case("environment with a bad name", env=[{"name": "A=B", "value": "a"}])
    yield case("empty source", env=[{"name": "A", "valueFrom": {}}])
    yield case(
        "value and source",
        env=[
            {"name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
        ],
    )
    yield case(
        "two sources",
        env=[
            {
                "name": "A",
                "valueFrom": {
                    "fieldRef": {"fieldPath": "metadata.uid"},
                    "secretKeyRef": {"name": "s", "key": "k"},
                },
            }
        ],
    )
    yield case("field that does not exist", env=[field_reference("spec.nowhere")])
    yield case("field that is not allowed", env=[field_reference("metadata.labels")])
    yield case("field without a path", env=[field_reference("")])
    yield case("field with a bad subscript", env=[field_reference("metadata.labels['a b']")])
    yield case(
        "key references without anything",
        env=[
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "", "key": ""}}},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "A", "key": "a/b"}}},
        ],
    )
    yield case(
        "bad resource reference",
        env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.gold"}}}],
    )
    yield case(
        "bad divisor",
        env=[
            {
                "name": "A",
                "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "7"}},
            }
        ],
    )
    yield case("bad environment sources", envFrom=[{"prefix": "a=", "configMapRef": {"name": ""}}])
    yield case("no environment source", envFrom=[{"prefix": "a"}])
    yield case(
        "two environment sources",
        envFrom=[{"configMapRef": {"name": "a"}, "secretRef": {"name": "A"}}],
    )
    yield case("mount of nothing", volumeMounts=[{"name": "v", "mountPath": "/a"}])
    yield case("mount without anything", volumeMounts=[{"name": ""}])
    yield case("probe without handler", livenessProbe={})
    yield case(
        "probe with two handlers",
        readinessProbe={"exec": {"command": []}, "tcpSocket": {"port": 1}},
    )
    yield case(
        "probe with bad numbers",
        livenessProbe={
            "httpGet": {"port": 0, "scheme": "FTP", "httpHeaders": [{"name": "a b", "value": "c"}]},
            "initialDelaySeconds": -1,
            "periodSeconds": -1,
            "successThreshold": 2,
            "terminationGracePeriodSeconds": 0,
        },
    )
    yield case("probe with a bad port name", startupProbe={"tcpSocket": {"port": "Not-a-port"}})
    yield case("lifecycle without handler", lifecycle={"postStart": {}})
    yield case("negative amounts", resources={"limits": {"cpu": "-1"}})
    yield case("more asked than allowed", resources={"limits": {"cpu": 1}, "requests": {"cpu": 2}})
    yield case("unknown resource", resources={"requests": {"gold": "1"}})
    yield case("badly named resource", resources={"requests": {"a b/c d": "1"}})
    yield case("half a device", resources={"limits": {"example.com/gpu": "500m"}})
    yield case("device asked for only", resources={"requests": {"example.com/gpu": "1"}})
    yield case(
        "bad security",
        securityContext={"runAsUser": -5, "runAsGroup": -6, "procMount": "Strange"},
    )
    yield case(
        "privileged and not",
        securityContext={"privileged": True, "allowPrivilegeEscalation": False},
    )


def field_reference(path: str) -> Manifest:
    return {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _bad_volumes() -> Iterator[Case]:
    def case(name: str, *volumes: Manifest) -> Case:
        return name, f"{CORE}/pods", pod(volumes=list(volumes))

    yield case("volume without name", {"name": "", "emptyDir": {}})
    yield case("volume with a bad name", {"name": "A.b", "emptyDir": {}})
    yield case("two volumes of one name", {"name": "a"}, {"name": "a"})
    yield case(
        "volume with two sources", {"name": "a", "emptyDir": {}, "secret": {"secretName": "s"}}
    )
    yield case("secret without name", {"name": "a", "secret": {}})
    yield case("config map without name", {"name": "a", "configMap": {}})
    yield case("bad mode", {"name": "a", "secret": {"secretName": "s", "defaultMode": 512}})
    yield case(
        "bad items",
        {
            "name": "a",
            "configMap": {
                "name": "c",
                "items": [
                    {"key": "", "path": ""},
                    {"key": "a", "path": "/abs"},
                    {"key": "a", "path": "../up", "mode": -1},
                    {"key": "a", "path": "..data"},
                ],
            },
        },
    )
    yield case("host path without path", {"name": "a", "hostPath": {"path": ""}})
    yield case("host path upwards", {"name": "a", "hostPath": {"path": "/a/../b", "type": "Odd"}})
    yield case("negative size", {"name": "a", "emptyDir": {"sizeLimit": "-1"}})
    yield case("claim without name", {"name": "a", "persistentVolumeClaim": {"claimName": ""}})
    yield case(
        "bad downward files",
        {
            "name": "a",
            "downwardAPI": {
                "items": [
                    {"path": "x"},
                    {"path": "", "fieldRef": {"fieldPath": "spec.nodeName"}},
                    {"path": "y", "resourceFieldRef": {"resource": "limits.cpu"}},
                ]
            },
        },
    )
    yield case(
        "bad projections",
        {
            "name": "a",
            "projected": {
                "sources": [
                    {"secret": {"items": [{"key": "k", "path": "p"}]}},
                    {"configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]}},
                    {"secret": {"name": "a"}, "configMap": {"name": "b"}},
                    {"serviceAccountToken": {"path": "", "expirationSeconds": 1}},
                ]
            },
        },
    )
    mounts = [
        {"name": "a", "mountPath": "/x", "subPath": "/abs"},
        {"name": "a", "mountPath": "/x", "subPath": "../up", "subPathExpr": "a"},
    ]
    yield (
        "bad mounts",
        f"{CORE}/pods",
        pod(container(volumeMounts=mounts), volumes=[{"name": "a"}]),
    )


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
