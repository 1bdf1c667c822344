"""Scenes about tables of kinds and states that creating alone does not show.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import container, cron_job, job, manifest, pod, workload
from tests.real.differential.script import (
    APPS,
    BATCH,
    CORE,
    PODS,
    TABLE,
    Ask,
    Scene,
    delete,
    get,
    patch,
    post,
    scene,
)

NETWORK: Final = "/apis/networking.k8s.io/v1/namespaces/<ns>"
BUDGETS: Final = "/apis/policy/v1/namespaces/<ns>/poddisruptionbudgets"
SCALERS: Final = "/apis/autoscaling/v2/namespaces/<ns>/horizontalpodautoscalers"
SLICES: Final = "/apis/discovery.k8s.io/v1/namespaces/<ns>/endpointslices"
CLAIMS: Final = f"{CORE}/persistentvolumeclaims"


def table_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield scene("tables of pods in many states", *_pods(), get(PODS, accept=TABLE))
    yield scene("tables of workloads that work", *_workloads())
    yield scene("tables of networks", *_networks())
    yield scene("tables of storage", *_storage())
    yield scene("tables of scalers and limits", *_limits())


def _status(path: str, status: Any) -> Ask:
    return patch(f"{path}/status", {"status": status})


def _container_status(name: str = "web", **fields: Any) -> dict[str, Any]:
    usual = {"name": name, "image": "nginx", "imageID": "", "restartCount": 0, "ready": False}
    return usual | fields


def _pods() -> Iterator[Ask]:
    running = {"running": {"startedAt": "2024-01-01T00:00:00Z"}}
    ready: dict[str, Any] = {"ready": True, "started": True, "state": running}
    yield post(PODS, pod(container(), container(name="b"), metadata={"name": "two"}))
    yield _status(
        f"{PODS}/two",
        {
            "phase": "Running",
            "podIP": "192.168.0.7",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [_container_status(**ready), _container_status("b", **ready)],
        },
    )
    yield post(PODS, pod(metadata={"name": "done"}, restartPolicy="Never"))
    yield _status(f"{PODS}/done", {"phase": "Succeeded"})
    yield post(PODS, pod(metadata={"name": "evicted"}))
    yield _status(f"{PODS}/evicted", {"phase": "Failed", "reason": "Evicted"})
    yield post(PODS, pod(metadata={"name": "looping"}, nodeName="n1"))
    looping = _container_status(
        restartCount=4,
        state={"waiting": {"reason": "CrashLoopBackOff"}},
        lastState={"terminated": {"exitCode": 1, "finishedAt": "2024-01-01T00:00:00Z"}},
    )
    yield _status(f"{PODS}/looping", {"phase": "Running", "containerStatuses": [looping]})
    yield post(PODS, pod(metadata={"name": "crashed"}, nodeName="n1"))
    crashed = _container_status(state={"terminated": {"exitCode": 137, "signal": 9}})
    yield _status(f"{PODS}/crashed", {"phase": "Failed", "containerStatuses": [crashed]})
    first = [container(name="first"), container(name="second")]
    yield post(PODS, pod(metadata={"name": "starting"}, initContainers=first))
    begun = [
        _container_status("first", ready=True, state={"terminated": {"exitCode": 0}}),
        _container_status("second", state={"waiting": {"reason": "PodInitializing"}}),
    ]
    yield _status(f"{PODS}/starting", {"phase": "Pending", "initContainerStatuses": begun})
    gates = [{"conditionType": "example.com/ready"}]
    yield post(PODS, pod(metadata={"name": "gated"}, readinessGates=gates))
    yield post(PODS, pod(metadata={"name": "held"}, schedulingGates=[{"name": "example.com/g"}]))
    yield post(PODS, pod(metadata={"name": "going"}, nodeName="n1"))
    yield delete(f"{PODS}/going?gracePeriodSeconds=30")


def _workloads() -> Iterator[Ask]:
    yield post(f"{APPS}/deployments", workload("Deployment", replicas=3))
    yield _status(
        f"{APPS}/deployments/x",
        {"replicas": 3, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 1},
    )
    yield get(f"{APPS}/deployments", accept=TABLE)
    yield post(f"{APPS}/statefulsets", workload("StatefulSet", serviceName="s", replicas=2))
    yield _status(f"{APPS}/statefulsets/x", {"replicas": 2, "readyReplicas": 1})
    yield get(f"{APPS}/statefulsets", accept=TABLE)
    yield post(f"{APPS}/daemonsets", workload("DaemonSet"))
    yield _status(
        f"{APPS}/daemonsets/x",
        {
            "currentNumberScheduled": 3,
            "numberMisscheduled": 0,
            "desiredNumberScheduled": 4,
            "numberReady": 2,
        },
    )
    yield get(f"{APPS}/daemonsets?includeObject=None", accept=TABLE)
    yield post(f"{BATCH}/jobs", job(completions=3, parallelism=2))
    started = {"startTime": "2024-01-01T00:00:00Z"}
    yield _status(f"{BATCH}/jobs/x", started | {"active": 1, "succeeded": 1, "ready": 1})
    yield get(f"{BATCH}/jobs?includeObject=None", accept=TABLE, view=_without_durations)
    yield post(f"{BATCH}/cronjobs", cron_job(suspend=True, timeZone="Etc/UTC"))
    yield get(f"{BATCH}/cronjobs", accept=TABLE)


def _without_durations(table: Any) -> Any:
    """Leave out how long jobs have run: by now it is years, and days count."""
    for row in table["rows"]:
        row["cells"].pop(3)
    return table


def _networks() -> Iterator[Ask]:
    ingress = {
        "ingressClassName": "nginx",
        "tls": [{"hosts": ["a.b"]}],
        "rules": [{"host": f"{name}.b"} for name in "abcd"],
    }
    yield post(f"{NETWORK}/ingresses", manifest("networking.k8s.io/v1", "Ingress", spec=ingress))
    balancers = [{"ip": "192.168.3.4"}, {"hostname": "a.example.com"}]
    yield _status(f"{NETWORK}/ingresses/x", {"loadBalancer": {"ingress": balancers}})
    yield get(f"{NETWORK}/ingresses", accept=TABLE)
    classes = "/apis/networking.k8s.io/v1/ingressclasses"
    parameters = {"apiGroup": "k.example.com", "kind": "P", "name": "n"}
    spec = {"controller": "example.com/c", "parameters": parameters}
    yield post(classes, manifest("networking.k8s.io/v1", "IngressClass", name="<ns>", spec=spec))
    yield get(f"{classes}/<ns>", accept=TABLE)
    expressions = [{"key": "x", "operator": "In", "values": ["2", "1"]}]
    selector = {"matchLabels": {"a": "b"}, "matchExpressions": expressions}
    policy = manifest("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": selector})
    yield post(f"{NETWORK}/networkpolicies", policy)
    yield get(f"{NETWORK}/networkpolicies", accept=TABLE)
    ports = [{"name": name, "port": 80 + index} for index, name in enumerate("abcd")]
    endpoints = [{"addresses": [f"192.168.1.{number}"]} for number in range(1, 6)]
    made = manifest(
        "discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", ports=ports, endpoints=endpoints
    )
    yield post(SLICES, made)
    none = manifest("discovery.k8s.io/v1", "EndpointSlice", name="y")
    yield post(SLICES, none | {"addressType": "IPv4", "ports": [{"name": "p"}]})
    yield get(SLICES, accept=TABLE)


def _storage() -> Iterator[Ask]:
    claim = {
        "storageClassName": "s",
        "volumeName": "v",
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    yield post(CLAIMS, manifest("v1", "PersistentVolumeClaim", spec=claim))
    modes = ["ReadWriteOncePod", "ReadOnlyMany", "ReadWriteMany"]
    bound = {"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": modes}
    yield _status(f"{CLAIMS}/x", bound)
    yield get(CLAIMS, accept=TABLE)
    yield delete(f"{CLAIMS}/x")
    yield get(CLAIMS, accept=TABLE)
    volume = {
        "storageClassName": "s",
        "claimRef": {"namespace": "<ns>", "name": "x"},
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteMany"],
        "hostPath": {"path": "/x"},
    }
    volumes = "/api/v1/persistentvolumes"
    yield post(volumes, manifest("v1", "PersistentVolume", name="<ns>", spec=volume))
    yield get(f"{volumes}/<ns>", accept=TABLE)
    classes = "/apis/storage.k8s.io/v1/storageclasses"
    default = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    made = manifest(
        "storage.k8s.io/v1", "StorageClass", name="<ns>", metadata=default, provisioner="p"
    )
    yield post(classes, made | {"allowVolumeExpansion": True})
    yield get(f"{classes}/<ns>", accept=TABLE)
    yield delete(f"{classes}/<ns>")


def _limits() -> Iterator[Ask]:
    def scaler(name: str, *metrics: Any, **spec: Any) -> Any:
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}
        wanted = {"maxReplicas": 3, "scaleTargetRef": target, "metrics": list(metrics)} | spec
        return manifest("autoscaling/v2", "HorizontalPodAutoscaler", name=name, spec=wanted)

    def average(amount: str) -> Any:
        return {"target": {"type": "AverageValue", "averageValue": amount}}

    def value(amount: str) -> Any:
        return {"target": {"type": "Value", "value": amount}}

    memory = {"type": "Resource", "resource": {"name": "memory"} | average("1Gi")}
    queue = {"type": "Pods", "pods": {"metric": {"name": "q"}} | average("10")}
    share = {"target": {"type": "Utilization", "averageUtilization": 50}}
    source = {"name": "cpu", "container": "w"} | share
    cpu = {"type": "ContainerResource", "containerResource": source}
    external = {"type": "External", "external": {"metric": {"name": "q"}} | value("10")}
    yield post(SCALERS, scaler("a", memory, queue, cpu, minReplicas=2))
    yield post(SCALERS, scaler("b", external, cpu))
    found = [
        {"type": "Resource", "resource": {"name": "memory", "current": {"averageValue": "512Mi"}}}
    ]
    yield _status(
        f"{SCALERS}/a", {"currentReplicas": 2, "desiredReplicas": 2, "currentMetrics": found}
    )
    yield get(SCALERS, accept=TABLE)
    for name, spec in (("a", {"maxUnavailable": 1}), ("b", {"minAvailable": 2})):
        yield post(BUDGETS, manifest("policy/v1", "PodDisruptionBudget", name=name, spec=spec))
    yield get(BUDGETS, accept=TABLE)
    quotas = f"{CORE}/resourcequotas"
    yield post(quotas, manifest("v1", "ResourceQuota", spec={"hard": {"pods": 10}}))
    hard = {"pods": "10", "limits.cpu": "4", "limits.memory": "1Gi", "requests.cpu": "2"}
    yield _status(f"{quotas}/x", {"hard": hard, "used": {"pods": "1", "limits.cpu": "100m"}})
    yield get(quotas, accept=TABLE)
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container()]}}
    yield post(f"{CORE}/podtemplates", manifest("v1", "PodTemplate", template=template))
    yield get(f"{CORE}/podtemplates", accept=TABLE)
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "u"}
    revision = manifest("apps/v1", "ControllerRevision", revision=3, data={"a": 1})
    revision["metadata"]["ownerReferences"] = [owner | {"controller": True}]
    yield post(f"{APPS}/controllerrevisions", revision)
    yield get(f"{APPS}/controllerrevisions", accept=TABLE)
