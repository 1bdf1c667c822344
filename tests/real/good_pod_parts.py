"""Pods that are accepted and set the fields that few pods have.

Owns: the manifests.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import CORE, LABELS, Case, Manifest, container, pod

PODS: Final = f"{CORE}/pods"
SELECTOR: Final[Manifest] = {
    "matchLabels": LABELS,
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
}
TERM: Final[Manifest] = {
    "labelSelector": SELECTOR,
    "namespaceSelector": {"matchLabels": {"team": "x"}},
    "namespaces": ["default"],
    "matchLabelKeys": ["version"],
    "mismatchLabelKeys": ["tenant"],
    "topologyKey": "topology.kubernetes.io/zone",
}
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
PLACEMENT: Final[Manifest] = {
    "affinity": {
        "nodeAffinity": {
            REQUIRED: {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {"key": "disk", "operator": "In", "values": ["ssd"]},
                            {"key": "cores", "operator": "Gt", "values": ["4"]},
                        ],
                        "matchFields": [
                            {"key": "metadata.name", "operator": "In", "values": ["n1"]}
                        ],
                    }
                ]
            },
            PREFERRED: [
                {
                    "weight": 5,
                    "preference": {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]},
                }
            ],
        },
        "podAffinity": {REQUIRED: [TERM]},
        "podAntiAffinity": {PREFERRED: [{"weight": 100, "podAffinityTerm": TERM}]},
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": SELECTOR,
            "matchLabelKeys": ["version"],
            "minDomains": 2,
            "nodeAffinityPolicy": "Honor",
            "nodeTaintsPolicy": "Ignore",
        },
        {
            "maxSkew": 2,
            "topologyKey": "host",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": LABELS},
        },
    ],
    "schedulingGates": [{"name": "example.com/wait"}, {"name": "quota"}],
    "readinessGates": [{"conditionType": "example.com/checked"}],
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        {"key": "c", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
    ],
    "preemptionPolicy": "PreemptLowerPriority",
    "os": {"name": "linux"},
}
SECURITY: Final[Manifest] = {
    "fsGroup": 1000,
    "fsGroupChangePolicy": "OnRootMismatch",
    "runAsUser": 1000,
    "runAsGroup": 1000,
    "runAsNonRoot": True,
    "seLinuxOptions": {"level": "s0:c123,c456"},
    "seLinuxChangePolicy": "Recursive",
    "supplementalGroups": [1, 2],
    "supplementalGroupsPolicy": "Strict",
    "sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}, {"name": "net/a.b/c"}],
    "seccompProfile": {"type": "RuntimeDefault"},
    "appArmorProfile": {"type": "Localhost", "localhostProfile": "custom"},
}


def _security() -> Manifest:
    return pod(
        container(
            securityContext={
                "seccompProfile": {"type": "Localhost", "localhostProfile": "a/b.json"},
                "appArmorProfile": {"type": "RuntimeDefault"},
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
                "readOnlyRootFilesystem": True,
                "procMount": "Unmasked",
            }
        ),
        metadata={"name": "secure"},
        securityContext=SECURITY,
        hostUsers=False,
        shareProcessNamespace=True,
    )


def _windows() -> Manifest:
    options = {
        "gmsaCredentialSpecName": "gmsa",
        "gmsaCredentialSpec": "{}",
        "runAsUserName": "DOMAIN\\user",
    }
    return pod(
        container(securityContext={"windowsOptions": options, "runAsNonRoot": True}),
        metadata={"name": "windows"},
        os={"name": "windows"},
        securityContext={"windowsOptions": options | {"hostProcess": False}},
    )


def _naming() -> Manifest:
    return pod(
        metadata={"name": "named"},
        hostname="web-0",
        subdomain="web",
        setHostnameAsFQDN=True,
        dnsPolicy="None",
        dnsConfig={
            "nameservers": ["10.0.0.10", "fd00::a"],
            "searches": ["svc.cluster.local", "_tcp.example."],
            "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
        },
        hostAliases=[{"ip": "10.1.2.3", "hostnames": ["a.b", "c"]}],
    )


def _containers() -> Manifest:
    restart: dict[str, Any] = {
        "restartPolicy": "Never",
        "restartPolicyRules": [
            {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
        ],
    }
    main = container(
        resources={
            "requests": {"cpu": "100m", "memory": "64Mi"},
            "limits": {"cpu": "200m", "memory": "128Mi", "hugepages-2Mi": "4Mi"},
            "claims": [{"name": "gpu", "request": "one"}, {"name": "net"}],
        },
        resizePolicy=[
            {"resourceName": "cpu", "restartPolicy": "NotRequired"},
            {"resourceName": "memory", "restartPolicy": "RestartContainer"},
        ],
        env=[
            {
                "name": "F",
                "valueFrom": {
                    "fileKeyRef": {"volumeName": "work", "path": "env", "key": "F"},
                },
            }
        ],
        volumeMounts=[
            {
                "name": "work",
                "mountPath": "/work",
                "readOnly": True,
                "recursiveReadOnly": "IfPossible",
                "mountPropagation": "None",
                "subPath": "a/b",
            }
        ],
        volumeDevices=[{"name": "disk", "devicePath": "/dev/xvda"}],
        lifecycle={"preStop": {"sleep": {"seconds": 5}}},
        livenessProbe={"grpc": {"port": 9000, "service": "s"}, "terminationGracePeriodSeconds": 5},
        terminationMessagePolicy="FallbackToLogsOnError",
        **restart,
    )
    side = container(
        name="side",
        restartPolicy="Always",
        startupProbe={"exec": {"command": ["true"]}},
        resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
    )
    return pod(
        main,
        metadata={"name": "boxes"},
        initContainers=[side, container(name="init")],
        resourceClaims=[
            {"name": "gpu", "resourceClaimName": "g"},
            {"name": "net", "resourceClaimTemplateName": "n"},
        ],
        volumes=[
            {"name": "work", "emptyDir": {}},
            {"name": "disk", "persistentVolumeClaim": {"claimName": "d"}},
        ],
        resources={
            "requests": {"cpu": "1", "memory": "256Mi"},
            "limits": {"cpu": "2", "memory": "512Mi"},
        },
        imagePullSecrets=[{"name": "pull"}],
        enableServiceLinks=False,
        terminationGracePeriodSeconds=20,
        restartPolicy="OnFailure",
    )


def good_pod_parts() -> Iterator[Case]:
    labels = LABELS | {"version": "v1", "tenant": "t"}
    yield "pod with a place", PODS, pod(metadata={"name": "placed", "labels": labels}, **PLACEMENT)
    yield "pod with security", PODS, _security()
    yield "pod for Windows", PODS, _windows()
    yield "pod with names", PODS, _naming()
    yield "pod with rich containers", PODS, _containers()
    yield (
        "pod with a name of the host",
        PODS,
        pod(metadata={"name": "overridden"}, hostnameOverride="other.example"),
    )
