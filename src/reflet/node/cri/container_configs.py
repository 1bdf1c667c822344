"""From a resolved container to what a runtime needs to make it.  Pure.

The image's own variables, command and working folder are the runtime's to add: what is given here
comes before them.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, generateContainerConfig and makeMounts;
pkg/kubelet/container/helpers.go, ExpandContainerCommandAndArgs
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reflet.api.core.containers import Container, VolumeMount
from reflet.api.core.pods import Pod
from reflet.cri.messages.containers import (
    ContainerConfig,
    ContainerMetadata,
    KeyValue,
    LinuxContainerConfig,
    Mount,
    MountPropagation,
)
from reflet.cri.messages.images import Image, ImageSpec
from reflet.node.cri.limits import linux_resources
from reflet.node.cri.pod_rights import container_rights
from reflet.node.cri.runtime_labels import container_annotations, container_labels
from reflet.node.pods.container_mounts import MountSource
from reflet.resolution.environment.expansion import expand_all
from reflet.resolution.environment.variables import exact_bytes

HOSTS_FILE: Final = "etc/hosts"
_PROPAGATION: Final = {
    "Bidirectional": MountPropagation.BIDIRECTIONAL,
    "HostToContainer": MountPropagation.HOST_TO_CONTAINER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerFiles:
    """What is known of a start: the variables, and the files that are mounted.

    *hosts* is the pod's hosts file; *message* the file for the container's last word, and
    *message_path* where it is seen, empty where a volume is.
    """

    variables: Mapping[str, str] = field(repr=False)
    sources: tuple[MountSource, ...] = ()
    hosts: Path | None = None
    message: Path | None = None
    message_path: str = ""


def fingerprint_of(container: Container) -> str:
    """What decides that a container is another one: its name and its image, as for the kubelet."""
    return f"{zlib.crc32(f'{container.name} {container.image}'.encode()):08x}"


def log_path(container: str, attempt: int) -> str:
    """Where a life of a container is logged, beneath the folder of its pod."""
    return f"{container}/{attempt}.log"


def container_config(
    pod: Pod,
    container: Container,
    image: Image,
    plan: ContainerFiles,
    *,
    attempt: int,
    node: str,
    memory: int,
    profiles: Path,
    target: str = "",
) -> ContainerConfig:
    """What a container is made of; *target* is the id of one whose processes it sees."""
    variables = plan.variables
    return ContainerConfig(
        metadata=ContainerMetadata(name=container.name, attempt=attempt),
        image=ImageSpec(image=image.id, user_specified_image=container.image),
        command=expand_all(container.command, variables.get),
        args=expand_all(container.args, variables.get),
        working_dir=container.working_dir,
        envs=tuple(
            KeyValue(key=name, value=exact_bytes(value)) for name, value in variables.items()
        ),
        mounts=mounts_of(container, plan),
        labels=container_labels(pod, container, node),
        annotations=container_annotations(
            pod, container, fingerprint=fingerprint_of(container), restarts=attempt
        ),
        log_path=log_path(container.name, attempt),
        stdin=container.stdin,
        stdin_once=container.stdin_once,
        tty=container.tty,
        linux=LinuxContainerConfig(
            resources=linux_resources(pod, container, memory=memory),
            security_context=container_rights(
                pod, container, image, profiles=profiles, target=target
            ),
        ),
    )


def mounts_of(container: Container, plan: ContainerFiles) -> tuple[Mount, ...]:
    """The mounts of a container: its volumes, its hosts file, the file for its last word."""
    asked = {each.mount_path.strip("/"): each for each in container.volume_mounts}
    mounts = [
        Mount(
            container_path=f"/{source.path}",
            host_path=str(source.folder / source.beneath) if source.beneath else str(source.folder),
            readonly=source.read_only,
            propagation=_propagation(asked.get(source.path)),
        )
        for source in plan.sources
    ]
    # One mount may lie in another, and is made after it.
    mounts.sort(key=lambda each: each.container_path.count("/"))
    places = [each.container_path for each in mounts]
    if plan.hosts is not None and f"/{HOSTS_FILE}" not in places and "/etc" not in places:
        read_only = container.security_context is not None and bool(
            container.security_context.read_only_root_filesystem
        )
        mounts.append(
            Mount(container_path=f"/{HOSTS_FILE}", host_path=str(plan.hosts), readonly=read_only)
        )
    if plan.message is not None and plan.message_path:
        mounts.append(Mount(container_path=f"/{plan.message_path}", host_path=str(plan.message)))
    return tuple(mounts)


def _propagation(asked: VolumeMount | None) -> MountPropagation:
    if asked is None:
        return MountPropagation.PRIVATE
    return _PROPAGATION.get(asked.mount_propagation, MountPropagation.PRIVATE)
