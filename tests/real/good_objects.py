"""Objects that are accepted; what is stored shows the defaults."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.availability_objects import good_availability
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
from tests.real.good_cluster_objects import good_cluster_objects
from tests.real.good_devices import good_devices
from tests.real.good_drivers import good_drivers
from tests.real.good_flows import good_certificate_requests
from tests.real.good_pod_parts import good_pod_parts
from tests.real.good_pods import good_pods
from tests.real.good_storage import good_shares, good_storage
from tests.real.good_workloads import good_workloads
from tests.real.traffic_objects import good_traffic


def good_objects() -> Iterator[Case]:
    """Yield objects that are accepted; what is stored shows the defaults."""
    yield from _good_core()
    yield from good_pods()
    yield from good_pod_parts()
    yield from _good_workloads()
    yield from good_workloads()
    yield from _good_others()
    yield from good_traffic()
    yield from good_availability()
    yield from good_cluster_objects()
    yield from good_drivers()
    yield from good_devices()
    yield from good_certificate_requests()
    yield from good_storage()
    yield from good_shares()


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
        definition(name="gears.{namespace}.example.org", group="{namespace}.example.org"),
    )
