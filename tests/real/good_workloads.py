"""Workloads and services that are accepted and set the fields that few of them have.

Owns: the manifests.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.devserver_objects import (
    APPS,
    BATCH,
    CORE,
    LABELS,
    Case,
    container,
    cron_job,
    job,
    manifest,
    service,
    template,
    workload,
)
from tests.real.good_pod_parts import PLACEMENT


def good_workloads() -> Iterator[Case]:
    yield from _sets()
    yield from _jobs()
    yield from _services()


def _named(body: dict[str, object], name: str) -> dict[str, object]:
    return body | {"metadata": {"name": name}}


def _sets() -> Iterator[Case]:
    yield (
        "rich deployment",
        f"{APPS}/deployments",
        _named(
            workload(
                "Deployment",
                replicas=2,
                minReadySeconds=5,
                revisionHistoryLimit=3,
                progressDeadlineSeconds=60,
                paused=True,
                strategy={
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": 1},
                },
                template=template(**PLACEMENT),
            ),
            "rich",
        ),
    )
    yield (
        "rich daemon set",
        f"{APPS}/daemonsets",
        _named(
            workload(
                "DaemonSet",
                minReadySeconds=5,
                revisionHistoryLimit=3,
                updateStrategy={
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
                },
            ),
            "rich",
        ),
    )
    yield (
        "daemon set by hand",
        f"{APPS}/daemonsets",
        _named(workload("DaemonSet", updateStrategy={"type": "OnDelete"}), "by-hand"),
    )
    yield (
        "surging daemon set",
        f"{APPS}/daemonsets",
        _named(
            workload(
                "DaemonSet",
                updateStrategy={
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": 0, "maxSurge": "10%"},
                },
            ),
            "surging",
        ),
    )
    yield (
        "rich stateful set",
        f"{APPS}/statefulsets",
        _named(
            workload(
                "StatefulSet",
                serviceName="web",
                replicas=2,
                minReadySeconds=5,
                revisionHistoryLimit=3,
                podManagementPolicy="Parallel",
                ordinals={"start": 5},
                updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
                persistentVolumeClaimRetentionPolicy={
                    "whenDeleted": "Delete",
                    "whenScaled": "Retain",
                },
            ),
            "rich",
        ),
    )
    yield (
        "stateful set by hand",
        f"{APPS}/statefulsets",
        _named(workload("StatefulSet", updateStrategy={"type": "OnDelete"}), "by-hand"),
    )
    yield (
        "rich replica set",
        f"{APPS}/replicasets",
        _named(workload("ReplicaSet", replicas=2, minReadySeconds=5), "rich"),
    )
    yield (
        "rich replication controller",
        f"{CORE}/replicationcontrollers",
        manifest(
            "v1",
            "ReplicationController",
            name="rich",
            spec={
                "replicas": 2,
                "minReadySeconds": 5,
                "selector": LABELS,
                "template": template(),
            },
        ),
    )


def _jobs() -> Iterator[Case]:
    rules = [
        {
            "action": "FailJob",
            "onExitCodes": {"containerName": "web", "operator": "In", "values": [1, 42]},
        },
        {
            "action": "Ignore",
            "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
        },
        {"action": "FailIndex", "onExitCodes": {"operator": "NotIn", "values": [3, 5]}},
    ]
    indexed = {
        "parallelism": 2,
        "completions": 5,
        "completionMode": "Indexed",
        "activeDeadlineSeconds": 100,
        "ttlSecondsAfterFinished": 60,
        "backoffLimitPerIndex": 2,
        "maxFailedIndexes": 4,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {"rules": rules},
        "successPolicy": {
            "rules": [
                {"succeededIndexes": "0,2-4", "succeededCount": 2},
                {"succeededCount": 3},
            ]
        },
        "managedBy": "example.com/me",
        "suspend": True,
    }
    yield "rich job", f"{BATCH}/jobs", _named(job(**indexed), "rich")
    selector = {"matchLabels": LABELS}
    yield (
        "job with a selector",
        f"{BATCH}/jobs",
        _named(
            job(
                manualSelector=True,
                selector=selector,
                backoffLimit=3,
                podReplacementPolicy="TerminatingOrFailed",
            ),
            "selected",
        ),
    )
    spec = {"template": template(restartPolicy="Never")} | indexed
    yield (
        "rich cron job",
        f"{BATCH}/cronjobs",
        _named(
            cron_job(
                schedule="0 3 * * MON-FRI",
                timeZone="Etc/UTC",
                startingDeadlineSeconds=30,
                concurrencyPolicy="Forbid",
                suspend=True,
                successfulJobsHistoryLimit=2,
                failedJobsHistoryLimit=1,
                jobTemplate={"metadata": {"labels": LABELS}, "spec": spec},
            ),
            "rich",
        ),
    )
    yield "hourly cron job", f"{BATCH}/cronjobs", _named(cron_job(schedule="@hourly"), "hourly")


def _services() -> Iterator[Case]:
    path = f"{CORE}/services"
    yield (
        "rich service",
        path,
        _named(
            service(
                selector=LABELS,
                ports=[
                    {"name": "web", "port": 80, "appProtocol": "example.com/a", "protocol": "TCP"},
                    {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": "dns"},
                ],
                sessionAffinity="ClientIP",
                sessionAffinityConfig={"clientIP": {"timeoutSeconds": 60}},
                ipFamilies=["IPv4"],
                ipFamilyPolicy="SingleStack",
                internalTrafficPolicy="Local",
                trafficDistribution="PreferSameNode",
                publishNotReadyAddresses=True,
            ),
            "rich",
        ),
    )
    yield (
        "rich balanced service",
        path,
        _named(
            service(
                type="LoadBalancer",
                ports=[{"port": 80}],
                loadBalancerClass="example.com/lb",
                loadBalancerIP="1.2.3.4",
                loadBalancerSourceRanges=["10.0.0.0/8"],
                allocateLoadBalancerNodePorts=False,
                externalTrafficPolicy="Local",
                internalTrafficPolicy="Cluster",
                trafficDistribution="PreferSameZone",
            ),
            "rich-balanced",
        ),
    )
    yield (
        "headless service of two families",
        path,
        _named(
            service(
                clusterIP="None",
                clusterIPs=["None"],
                ports=[{"port": 80}],
                ipFamilyPolicy="PreferDualStack",
                ipFamilies=["IPv4"],
                selector=LABELS,
            ),
            "rich-headless",
        ),
    )
    yield (
        "rich template",
        f"{CORE}/podtemplates",
        manifest("v1", "PodTemplate", name="rich", template=template(containers=[container()])),
    )
