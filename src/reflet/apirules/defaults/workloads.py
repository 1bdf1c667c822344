"""The defaults of what makes pods: deployments and their kin, jobs, autoscalers.

Upstream: pkg/apis/apps/v1/defaults.go, batch/v1/defaults.go, autoscaling/v2/defaults.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Defaulter = Callable[[dict[str, Any]], None]

_APPS: Final = "io.k8s.api.apps.v1."
_BATCH: Final = "io.k8s.api.batch.v1."
CPU_UTILIZATION: Final = 80  # percent


def _deployment(document: dict[str, Any]) -> None:
    spec = document["spec"]
    spec.setdefault("replicas", 1)
    strategy = spec["strategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)


def _replica_set(document: dict[str, Any]) -> None:
    document["spec"].setdefault("replicas", 1)


TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"


def _daemon_set(document: dict[str, Any]) -> None:
    spec = document["spec"]
    metadata = document["metadata"] = document.get("metadata") or {}
    annotations = metadata["annotations"] = metadata.get("annotations") or {}
    annotations.setdefault(TEMPLATE_GENERATION, "0")
    strategy = spec["updateStrategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def _stateful_set(document: dict[str, Any]) -> None:
    spec = document["spec"]
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec["updateStrategy"]
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"].setdefault("partition", 0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)


def _job(document: dict[str, Any]) -> None:
    spec = document["spec"]
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    per_index = spec.get("backoffLimitPerIndex") is not None
    spec.setdefault("backoffLimit", 2**31 - 1 if per_index else 6)
    labels = spec["template"]["metadata"].get("labels")
    if labels and not document["metadata"].get("labels"):
        # The very labels of the template: what a create adds to these is then the job's too.
        document["metadata"]["labels"] = labels
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    replaced = "Failed" if spec.get("podFailurePolicy") is not None else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", replaced)
    spec.setdefault("manualSelector", False)


def _cron_job(document: dict[str, Any]) -> None:
    spec = document["spec"]
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)


def _replication_controller(document: dict[str, Any]) -> None:
    spec = document["spec"]
    labels = (spec.get("template") or {}).get("metadata", {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        if not document["metadata"].get("labels"):
            document["metadata"]["labels"] = dict(labels)


def _failure_pattern(document: dict[str, Any]) -> None:
    if not document.get("status"):
        document["status"] = "True"


def _autoscaler(document: dict[str, Any]) -> None:
    spec = document["spec"]
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": CPU_UTILIZATION}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        behavior["scaleUp"] = {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 15},
                {"type": "Percent", "value": 100, "periodSeconds": 15},
            ],
        } | (behavior.get("scaleUp") or {})
        behavior["scaleDown"] = {
            "selectPolicy": "Max",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
        } | (behavior.get("scaleDown") or {})


DEFAULTERS: Final[Mapping[str, Defaulter]] = {
    f"{_APPS}Deployment": _deployment,
    f"{_APPS}ReplicaSet": _replica_set,
    f"{_APPS}DaemonSet": _daemon_set,
    f"{_APPS}StatefulSet": _stateful_set,
    f"{_BATCH}Job": _job,
    f"{_BATCH}CronJob": _cron_job,
    f"{_BATCH}PodFailurePolicyOnPodConditionsPattern": _failure_pattern,
    "io.k8s.api.core.v1.ReplicationController": _replication_controller,
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler": _autoscaler,
}
