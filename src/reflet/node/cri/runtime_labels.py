"""Labels and annotations by which pods are found again in a runtime.

Upstream: pkg/kubelet/kuberuntime/labels.go; pkg/kubelet/types/labels.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reflet.api.codec import encode
from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod

POD_NAME: Final = "io.kubernetes.pod.name"
POD_NAMESPACE: Final = "io.kubernetes.pod.namespace"
POD_UID: Final = "io.kubernetes.pod.uid"
CONTAINER_NAME: Final = "io.kubernetes.container.name"

HASH: Final = "io.kubernetes.container.hash"
RESTART_COUNT: Final = "io.kubernetes.container.restartCount"
MESSAGE_PATH: Final = "io.kubernetes.container.terminationMessagePath"
MESSAGE_POLICY: Final = "io.kubernetes.container.terminationMessagePolicy"
PRE_STOP: Final = "io.kubernetes.container.preStopHandler"
PORTS: Final = "io.kubernetes.container.ports"
DELETION_GRACE: Final = "io.kubernetes.pod.deletionGracePeriod"
TERMINATION_GRACE: Final = "io.kubernetes.pod.terminationGracePeriod"

NODE: Final = "reflet.dev/node"
"""Whose pods these are: an agent never touches what somebody else runs on the same runtime."""


def sandbox_labels(pod: Pod, node: str) -> dict[str, str]:
    """The labels of a sandbox: the pod's own, and whose it is."""
    return {**pod.metadata.labels, **_identity(pod), NODE: node}


def container_labels(pod: Pod, container: Container, node: str) -> dict[str, str]:
    """The labels of a container."""
    return {**_identity(pod), CONTAINER_NAME: container.name, NODE: node}


def container_annotations(
    pod: Pod, container: Container, *, fingerprint: str, restarts: int
) -> dict[str, str]:
    """What is to be known of a container after another agent has taken over."""
    told = {
        HASH: fingerprint,
        RESTART_COUNT: str(restarts),
        MESSAGE_PATH: container.termination_message_path,
        MESSAGE_POLICY: container.termination_message_policy,
    }
    graces = {
        DELETION_GRACE: pod.metadata.deletion_grace_period_seconds,
        TERMINATION_GRACE: pod.spec.termination_grace_period_seconds,
    }
    told |= {name: str(grace) for name, grace in graces.items() if grace is not None}
    if pre_stop := container.lifecycle.get("preStop"):
        told[PRE_STOP] = encode(pre_stop).decode()
    if container.ports:
        told[PORTS] = encode(container.ports).decode()
    return told


def grace_in(annotations: Mapping[str, str]) -> int | None:
    """The grace period of the pod that a container is of, if its annotations say one."""
    said = annotations.get(TERMINATION_GRACE, "")
    return int(said) if said.isdecimal() else None


def _identity(pod: Pod) -> dict[str, str]:
    metadata = pod.metadata
    return {POD_NAME: metadata.name, POD_NAMESPACE: metadata.namespace, POD_UID: metadata.uid}
