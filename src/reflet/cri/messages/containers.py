"""Containers: what they are made of, and what they are doing.

Upstream: k8s.io/cri-api/pkg/apis/runtime/v1/api.proto
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated

from reflet.cri.messages.images import ImageSpec
from reflet.cri.messages.isolation import (
    IDMapping,
    LinuxContainerResources,
    LinuxContainerSecurityContext,
)
from reflet.cri.messages.sandboxes import PodSandboxConfig
from reflet.cri.wire import CriMessage, Int32, Int64, Uint32


class MountPropagation(IntEnum):
    """Whether later mounts are seen on the other side."""

    PRIVATE = 0
    HOST_TO_CONTAINER = 1
    BIDIRECTIONAL = 2


class Mount(CriMessage, frozen=True, kw_only=True):
    """A file or folder of the node inside a container."""

    container_path: Annotated[str, 1] = ""
    host_path: Annotated[str, 2] = ""
    readonly: Annotated[bool, 3] = False
    selinux_relabel: Annotated[bool, 4] = False
    propagation: Annotated[MountPropagation, 5] = MountPropagation.PRIVATE
    uid_mappings: Annotated[tuple[IDMapping, ...], 6] = ()
    gid_mappings: Annotated[tuple[IDMapping, ...], 7] = ()
    recursive_read_only: Annotated[bool, 8] = False
    image: Annotated[ImageSpec | None, 9] = None
    image_sub_path: Annotated[str, 10] = ""


class KeyValue(CriMessage, frozen=True, kw_only=True):
    """An environment variable; its ``repr`` does not show the value, which may be a secret."""

    key: Annotated[str, 1] = ""
    value: Annotated[bytes, 2] = b""

    def __repr__(self) -> str:
        return f"KeyValue(key={self.key!r}, …)"


class ContainerMetadata(CriMessage, frozen=True, kw_only=True):
    """Which container of the pod's, and the how manieth."""

    name: Annotated[str, 1] = ""
    attempt: Annotated[Uint32, 2] = 0


class Device(CriMessage, frozen=True, kw_only=True):
    """A device of the node inside a container."""

    container_path: Annotated[str, 1] = ""
    host_path: Annotated[str, 2] = ""
    permissions: Annotated[str, 3] = ""


class LinuxContainerConfig(CriMessage, frozen=True, kw_only=True):
    """What only Linux has of a container."""

    resources: Annotated[LinuxContainerResources | None, 1] = None
    security_context: Annotated[LinuxContainerSecurityContext | None, 2] = None


class ContainerConfig(CriMessage, frozen=True, kw_only=True):
    """Everything that a container is made of."""

    metadata: Annotated[ContainerMetadata | None, 1] = None
    image: Annotated[ImageSpec | None, 2] = None
    command: Annotated[tuple[str, ...], 3] = ()
    args: Annotated[tuple[str, ...], 4] = ()
    working_dir: Annotated[str, 5] = ""
    envs: Annotated[tuple[KeyValue, ...], 6] = ()
    mounts: Annotated[tuple[Mount, ...], 7] = ()
    devices: Annotated[tuple[Device, ...], 8] = ()
    labels: Annotated[Mapping[str, str], 9] = {}
    annotations: Annotated[Mapping[str, str], 10] = {}
    log_path: Annotated[str, 11] = ""
    stdin: Annotated[bool, 12] = False
    stdin_once: Annotated[bool, 13] = False
    tty: Annotated[bool, 14] = False
    linux: Annotated[LinuxContainerConfig | None, 15] = None


class ContainerState(IntEnum):
    """What a container is doing."""

    CREATED = 0
    RUNNING = 1
    EXITED = 2
    UNKNOWN = 3


class ContainerStateValue(CriMessage, frozen=True, kw_only=True):
    """A state that may be missing."""

    state: Annotated[ContainerState, 1] = ContainerState.CREATED


class ContainerFilter(CriMessage, frozen=True, kw_only=True):
    """Which containers are listed; all that is given counts."""

    id: Annotated[str, 1] = ""
    state: Annotated[ContainerStateValue | None, 2] = None
    pod_sandbox_id: Annotated[str, 3] = ""
    label_selector: Annotated[Mapping[str, str], 4] = {}


class Container(CriMessage, frozen=True, kw_only=True):
    """A container in a list."""

    id: Annotated[str, 1] = ""
    pod_sandbox_id: Annotated[str, 2] = ""
    metadata: Annotated[ContainerMetadata | None, 3] = None
    image: Annotated[ImageSpec | None, 4] = None
    image_ref: Annotated[str, 5] = ""
    state: Annotated[ContainerState, 6] = ContainerState.CREATED
    created_at: Annotated[Int64, 7] = 0
    labels: Annotated[Mapping[str, str], 8] = {}
    annotations: Annotated[Mapping[str, str], 9] = {}
    image_id: Annotated[str, 10] = ""


class LinuxContainerUser(CriMessage, frozen=True, kw_only=True):
    """As whom the first process runs."""

    uid: Annotated[Int64, 1] = 0
    gid: Annotated[Int64, 2] = 0
    supplemental_groups: Annotated[tuple[Int64, ...], 3] = ()


class ContainerUser(CriMessage, frozen=True, kw_only=True):
    """As whom a container runs."""

    linux: Annotated[LinuxContainerUser | None, 1] = None


class ContainerResources(CriMessage, frozen=True, kw_only=True):
    """The limits in force."""

    linux: Annotated[LinuxContainerResources | None, 1] = None


class ContainerStatus(CriMessage, frozen=True, kw_only=True):
    """Everything about one container; times are nanoseconds since 1970, 0 is not yet."""

    id: Annotated[str, 1] = ""
    metadata: Annotated[ContainerMetadata | None, 2] = None
    state: Annotated[ContainerState, 3] = ContainerState.CREATED
    created_at: Annotated[Int64, 4] = 0
    started_at: Annotated[Int64, 5] = 0
    finished_at: Annotated[Int64, 6] = 0
    exit_code: Annotated[Int32, 7] = 0
    image: Annotated[ImageSpec | None, 8] = None
    image_ref: Annotated[str, 9] = ""
    reason: Annotated[str, 10] = ""
    message: Annotated[str, 11] = ""
    labels: Annotated[Mapping[str, str], 12] = {}
    annotations: Annotated[Mapping[str, str], 13] = {}
    mounts: Annotated[tuple[Mount, ...], 14] = ()
    log_path: Annotated[str, 15] = ""
    resources: Annotated[ContainerResources | None, 16] = None
    image_id: Annotated[str, 17] = ""
    user: Annotated[ContainerUser | None, 18] = None


class ContainerStatusResponse(CriMessage, frozen=True, kw_only=True):
    """A container; *info* has what a runtime adds when it is asked to be verbose."""

    status: Annotated[ContainerStatus | None, 1] = None
    info: Annotated[Mapping[str, str], 2] = {}


class CreateContainerRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for a container."""

    pod_sandbox_id: Annotated[str, 1] = ""
    config: Annotated[ContainerConfig | None, 2] = None
    sandbox_config: Annotated[PodSandboxConfig | None, 3] = None


class CreateContainerResponse(CriMessage, frozen=True, kw_only=True):
    """The new container."""

    container_id: Annotated[str, 1] = ""


class StartContainerRequest(CriMessage, frozen=True, kw_only=True):
    """Asks to start a container."""

    container_id: Annotated[str, 1] = ""


class StartContainerResponse(CriMessage, frozen=True, kw_only=True):
    """Done."""


class StopContainerRequest(CriMessage, frozen=True, kw_only=True):
    """Asks to end a container, and to kill it after *timeout* seconds."""

    container_id: Annotated[str, 1] = ""
    timeout: Annotated[Int64, 2] = 0


class StopContainerResponse(CriMessage, frozen=True, kw_only=True):
    """Done."""


class RemoveContainerRequest(CriMessage, frozen=True, kw_only=True):
    """Asks to forget a container."""

    container_id: Annotated[str, 1] = ""


class RemoveContainerResponse(CriMessage, frozen=True, kw_only=True):
    """Done."""


class ListContainersRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for containers."""

    filter: Annotated[ContainerFilter | None, 1] = None


class ListContainersResponse(CriMessage, frozen=True, kw_only=True):
    """The containers, in no order."""

    containers: Annotated[tuple[Container, ...], 1] = ()


class ContainerStatusRequest(CriMessage, frozen=True, kw_only=True):
    """Asks about one container."""

    container_id: Annotated[str, 1] = ""
    verbose: Annotated[bool, 2] = False


class UpdateContainerResourcesRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for other limits."""

    container_id: Annotated[str, 1] = ""
    linux: Annotated[LinuxContainerResources | None, 2] = None
    annotations: Annotated[Mapping[str, str], 4] = {}


class UpdateContainerResourcesResponse(CriMessage, frozen=True, kw_only=True):
    """Done."""


class ReopenContainerLogRequest(CriMessage, frozen=True, kw_only=True):
    """Says that the log was moved away."""

    container_id: Annotated[str, 1] = ""


class ReopenContainerLogResponse(CriMessage, frozen=True, kw_only=True):
    """Done."""


class ExecSyncRequest(CriMessage, frozen=True, kw_only=True):
    """Asks to run a command, for at most *timeout* seconds unless that is 0."""

    container_id: Annotated[str, 1] = ""
    cmd: Annotated[tuple[str, ...], 2] = ()
    timeout: Annotated[Int64, 3] = 0


class ExecSyncResponse(CriMessage, frozen=True, kw_only=True):
    """What the command wrote, and its exit code."""

    stdout: Annotated[bytes, 1] = b""
    stderr: Annotated[bytes, 2] = b""
    exit_code: Annotated[Int32, 3] = 0
