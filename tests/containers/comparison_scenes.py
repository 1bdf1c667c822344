"""The pods that run on a real kubelet and on ours, and what each is there to show.

Owns: the scenes.  Must not know the nodes, nor what is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.containers.containerd import BUSYBOX

# Variables that a shell sets by itself say nothing about the node.
SHOW_ENVIRONMENT: Final = "env | grep -vE '^(SHLVL|PWD|OLDPWD|_)=' | sort"
SHOW_FILES: Final = (
    "cd /etc/shop; find -L . -path '*/..*' -prune -o -type f -print | sort | "
    "while read -r file; do stat -L -c '%A %u:%g %n' $file; cat $file; echo; done"
)
SHOW_HOST: Final = "hostname; id; pwd; grep -v '^#' /etc/hosts; cat /etc/resolv.conf"
FOREVER: Final = "sleep 1000"

OBJECTS: Final[Sequence[tuple[str, dict[str, Any]]]] = (
    (
        "configmaps",
        {
            "metadata": {"name": "settings"},
            "data": {"LEVEL": "info", "app.yaml": "debug: false\n", "PRICE": "$$5 $(LEVEL)"},
            "binaryData": {"bytes": "AAE="},
        },
    ),
    ("secrets", {"metadata": {"name": "db"}, "stringData": {"password": "s3cr3t"}}),
    (
        "services",
        {"metadata": {"name": "web"}, "spec": {"ports": [{"name": "http", "port": 80}]}},
    ),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """A pod, and how to know that it is where it was going."""

    name: str
    spec: dict[str, Any]
    settled: Callable[[dict[str, Any]], bool]
    deleted: bool = False  # ask for its end once it runs, and look at what is left: its events


def container(*script: str, name: str = "main", **fields: Any) -> dict[str, Any]:
    """A container that runs lines of shell."""
    command = {"command": ["sh", "-c", "\n".join(script)]} if script else {}
    return {"name": name, "image": BUSYBOX, **command, **fields}


def pod(*containers: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "containers": list(containers),
        "dnsPolicy": "Default",
        "terminationGracePeriodSeconds": 1,
        **fields,
    }


def statuses(pod: dict[str, Any], field: str = "containerStatuses") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pod["status"].get(field, [])
    return found


def ready(pod: dict[str, Any]) -> bool:
    return bool(statuses(pod)) and all(status["ready"] for status in statuses(pod))


def running(pod: dict[str, Any]) -> bool:
    return pod["status"]["phase"] == "Running" and all(
        "running" in status["state"] for status in statuses(pod)
    )


def ended(pod: dict[str, Any]) -> bool:
    return pod["status"]["phase"] in ("Succeeded", "Failed") and _sandbox(pod) == "False"


def waits(reason: str, *, restarts: int = 0) -> Callable[[dict[str, Any]], bool]:
    def check(pod: dict[str, Any]) -> bool:
        every = [*statuses(pod), *statuses(pod, "initContainerStatuses")]
        return _sandbox(pod) == "True" and any(
            status["state"].get("waiting", {}).get("reason") == reason
            and status["restartCount"] >= restarts
            for status in every
        )

    return check


def _sandbox(pod: dict[str, Any]) -> str:
    """Whether the sandbox is there, which is reported last of all."""
    for condition in pod["status"].get("conditions", []):
        if condition["type"] == "PodReadyToStartContainers":
            return str(condition["status"])
    return ""


def restarted(pod: dict[str, Any]) -> bool:
    return any(status["restartCount"] >= 1 and status["ready"] for status in statuses(pod))


FIELDS: Final = {
    "POD_NAME": "metadata.name",
    "NODE": "spec.nodeName",
    "POD_IP": "status.podIP",
    "HOST_IP": "status.hostIP",
}
ENVIRONMENT: Final = [
    *(
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
        for name, path in FIELDS.items()
    ),
    {
        "name": "LIMIT",
        "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}},
    },
    {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
    {"name": "GREETING", "value": "hello $(POD_NAME), $$(LEVEL) is $(S_LEVEL), $(NOBODY)"},
    {"name": "PATH", "value": "/opt/bin:/bin"},
]
VOLUMES: Final = [
    {"name": "settings", "configMap": {"name": "settings", "defaultMode": 0o640}},
    {"name": "db", "secret": {"secretName": "db", "items": [{"key": "password", "path": "a/b"}]}},
    {
        "name": "about",
        "downwardAPI": {
            "items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}],
        },
    },
    {"name": "scratch", "emptyDir": {}},
]
MOUNTS: Final = [
    {"name": "settings", "mountPath": "/etc/shop/settings"},
    {"name": "db", "mountPath": "/etc/shop/db", "readOnly": True},
    {"name": "about", "mountPath": "/etc/shop/about"},
    {"name": "scratch", "mountPath": "/etc/shop/scratch"},
    {"name": "settings", "mountPath": "/etc/shop/one", "subPath": "app.yaml"},
]
NO_ROOT: Final = {
    "runAsUser": 1000,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
SHOW_RIGHTS: Final = "grep -E '^(Cap(Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status; touch /x"
SIDECAR: Final = container(FOREVER, name="sidecar", restartPolicy="Always")


def scenes(missing_image: str) -> Sequence[Scene]:
    """All of them; *missing_image* is one that its registry does not have."""
    return (
        Scene(
            "environment",
            pod(
                container(
                    SHOW_ENVIRONMENT,
                    SHOW_HOST,
                    SHOW_FILES,
                    FOREVER,
                    env=ENVIRONMENT,
                    envFrom=[{"prefix": "S_", "configMapRef": {"name": "settings"}}],
                    volumeMounts=MOUNTS,
                    resources={"limits": {"memory": "64Mi", "cpu": "500m"}},
                ),
                volumes=VOLUMES,
            ),
            running,
        ),
        Scene(
            "user",
            pod(
                container(
                    *(SHOW_HOST, SHOW_RIGHTS, SHOW_FILES, FOREVER),
                    volumeMounts=MOUNTS,
                    securityContext=NO_ROOT,
                    workingDir="/home/web",
                ),
                volumes=VOLUMES,
                securityContext={"fsGroup": 2000, "supplementalGroups": [3000]},
            ),
            running,
        ),
        Scene(
            "init-and-sidecar",
            pod(
                container("echo main"),
                initContainers=[container("echo first", name="first"), SIDECAR],
                restartPolicy="Never",
            ),
            ended,
        ),
        Scene(
            "fails",
            pod(
                container("echo last words; echo why >/dev/termination-log; exit 7"),
                restartPolicy="Never",
            ),
            ended,
        ),
        Scene(
            "fails-with-its-log",
            pod(
                container(
                    "echo last words; exit 1", terminationMessagePolicy="FallbackToLogsOnError"
                ),
                restartPolicy="Never",
            ),
            ended,
        ),
        Scene("crash-loop", pod(container("exit 1")), waits("CrashLoopBackOff", restarts=1)),
        Scene(
            "out-of-memory",
            pod(
                container("tail /dev/zero", resources={"limits": {"memory": "16Mi"}}),
                restartPolicy="Never",
            ),
            ended,
        ),
        Scene(
            "no-config-map",
            pod(container(FOREVER, envFrom=[{"configMapRef": {"name": "nobody"}}])),
            waits("CreateContainerConfigError"),
        ),
        Scene(
            "no-such-program",
            pod(container() | {"command": ["/no/such/program"]}, restartPolicy="Never"),
            ended,
        ),
        Scene(
            "never-pulled",
            pod(container(image="localhost/nobody:1", imagePullPolicy="Never")),
            waits("ErrImageNeverPull"),
        ),
        Scene("not-there", pod(container(image=missing_image)), waits("ImagePullBackOff")),
        Scene("no-name", pod(container(image="Nobody:1")), waits("InvalidImageName")),
        Scene(
            "root-forbidden",
            pod(container(FOREVER, securityContext={"runAsNonRoot": True})),
            waits("CreateContainerConfigError"),
        ),
        Scene(
            "probes",
            pod(
                container(
                    FOREVER,
                    livenessProbe={
                        "exec": {"command": ["false"]},
                        "periodSeconds": 1,
                        "failureThreshold": 1,
                        "initialDelaySeconds": 1,
                    },
                    readinessProbe={"exec": {"command": ["true"]}, "periodSeconds": 1},
                )
            ),
            restarted,
        ),
        Scene(
            "hook-fails",
            pod(
                container(
                    FOREVER,
                    lifecycle={"postStart": {"exec": {"command": ["sh", "-c", "echo no; exit 3"]}}},
                )
            ),
            waits("CrashLoopBackOff"),
        ),
        Scene(
            "deadline",
            pod(container(FOREVER), activeDeadlineSeconds=2),
            ended,
        ),
        Scene(
            "deleted", pod(container("trap 'exit 0' TERM; sleep 1000 & wait")), ready, deleted=True
        ),
    )
