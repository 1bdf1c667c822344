"""Pods that are accepted; what is stored shows the defaults."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.devserver_objects import CORE, LABELS, Case, container, manifest, pod


def good_pods() -> Iterator[Case]:
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
