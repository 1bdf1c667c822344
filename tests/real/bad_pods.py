"""Pods that are refused because of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.devserver_objects import CORE, Case, Manifest, container, manifest, pod


def bad_pods() -> Iterator[Case]:
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


def bad_containers() -> Iterator[Case]:
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


def bad_volumes() -> Iterator[Case]:
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
