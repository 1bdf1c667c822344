"""Sandboxes: what holds a pod's containers together.

Upstream: k8s.io/cri-api/pkg/apis/runtime/v1/api.proto
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated

from reflet.cri.messages.isolation import (
    LinuxContainerResources,
    LinuxSandboxSecurityContext,
    NamespaceOption,
)
from reflet.cri.wire import CriMessage, Int32, Int64, Uint32


class DNSConfig(CriMessage, frozen=True, kw_only=True):
    """What the pod's ``resolv.conf`` says."""

    servers: Annotated[tuple[str, ...], 1] = ()
    searches: Annotated[tuple[str, ...], 2] = ()
    options: Annotated[tuple[str, ...], 3] = ()


class Protocol(IntEnum):
    """Of a port."""

    TCP = 0
    UDP = 1
    SCTP = 2


class PortMapping(CriMessage, frozen=True, kw_only=True):
    """A port of the node that leads to one of the pod."""

    protocol: Annotated[Protocol, 1] = Protocol.TCP
    container_port: Annotated[Int32, 2] = 0
    host_port: Annotated[Int32, 3] = 0
    host_ip: Annotated[str, 4] = ""


class LinuxPodSandboxConfig(CriMessage, frozen=True, kw_only=True):
    """What only Linux has of a sandbox."""

    cgroup_parent: Annotated[str, 1] = ""
    security_context: Annotated[LinuxSandboxSecurityContext | None, 2] = None
    sysctls: Annotated[Mapping[str, str], 3] = {}
    overhead: Annotated[LinuxContainerResources | None, 4] = None
    resources: Annotated[LinuxContainerResources | None, 5] = None


class PodSandboxMetadata(CriMessage, frozen=True, kw_only=True):
    """Whose sandbox it is, and the how manieth."""

    name: Annotated[str, 1] = ""
    uid: Annotated[str, 2] = ""
    namespace: Annotated[str, 3] = ""
    attempt: Annotated[Uint32, 4] = 0


class PodSandboxConfig(CriMessage, frozen=True, kw_only=True):
    """Everything that a sandbox is made of."""

    metadata: Annotated[PodSandboxMetadata | None, 1] = None
    hostname: Annotated[str, 2] = ""
    log_directory: Annotated[str, 3] = ""
    dns_config: Annotated[DNSConfig | None, 4] = None
    port_mappings: Annotated[tuple[PortMapping, ...], 5] = ()
    labels: Annotated[Mapping[str, str], 6] = {}
    annotations: Annotated[Mapping[str, str], 7] = {}
    linux: Annotated[LinuxPodSandboxConfig | None, 8] = None


class PodSandboxState(IntEnum):
    """Whether containers can be put into a sandbox."""

    READY = 0
    NOTREADY = 1


class PodIP(CriMessage, frozen=True, kw_only=True):
    """A further address."""

    ip: Annotated[str, 1] = ""


class PodSandboxNetworkStatus(CriMessage, frozen=True, kw_only=True):
    """The addresses of a pod; none with the network of the node."""

    ip: Annotated[str, 1] = ""
    additional_ips: Annotated[tuple[PodIP, ...], 2] = ()


class Namespace(CriMessage, frozen=True, kw_only=True):
    """The namespaces of a sandbox."""

    options: Annotated[NamespaceOption | None, 2] = None


class LinuxPodSandboxStatus(CriMessage, frozen=True, kw_only=True):
    """What only Linux has of a sandbox's status."""

    namespaces: Annotated[Namespace | None, 1] = None


class PodSandboxStatus(CriMessage, frozen=True, kw_only=True):
    """Everything about one sandbox; times are nanoseconds since 1970."""

    id: Annotated[str, 1] = ""
    metadata: Annotated[PodSandboxMetadata | None, 2] = None
    state: Annotated[PodSandboxState, 3] = PodSandboxState.READY
    created_at: Annotated[Int64, 4] = 0
    network: Annotated[PodSandboxNetworkStatus | None, 5] = None
    linux: Annotated[LinuxPodSandboxStatus | None, 6] = None
    labels: Annotated[Mapping[str, str], 7] = {}
    annotations: Annotated[Mapping[str, str], 8] = {}
    runtime_handler: Annotated[str, 9] = ""


class PodSandboxStateValue(CriMessage, frozen=True, kw_only=True):
    """A state that may be missing."""

    state: Annotated[PodSandboxState, 1] = PodSandboxState.READY


class PodSandboxFilter(CriMessage, frozen=True, kw_only=True):
    """Which sandboxes are listed; all that is given counts."""

    id: Annotated[str, 1] = ""
    state: Annotated[PodSandboxStateValue | None, 2] = None
    label_selector: Annotated[Mapping[str, str], 3] = {}


class PodSandbox(CriMessage, frozen=True, kw_only=True):
    """A sandbox in a list."""

    id: Annotated[str, 1] = ""
    metadata: Annotated[PodSandboxMetadata | None, 2] = None
    state: Annotated[PodSandboxState, 3] = PodSandboxState.READY
    created_at: Annotated[Int64, 4] = 0
    labels: Annotated[Mapping[str, str], 5] = {}
    annotations: Annotated[Mapping[str, str], 6] = {}
    runtime_handler: Annotated[str, 7] = ""


class RunPodSandboxRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for a sandbox."""

    config: Annotated[PodSandboxConfig | None, 1] = None
    runtime_handler: Annotated[str, 2] = ""


class RunPodSandboxResponse(CriMessage, frozen=True, kw_only=True):
    """The new sandbox."""

    pod_sandbox_id: Annotated[str, 1] = ""


class StopPodSandboxRequest(CriMessage, frozen=True, kw_only=True):
    """Asks to end a sandbox and what is in it."""

    pod_sandbox_id: Annotated[str, 1] = ""


class StopPodSandboxResponse(CriMessage, frozen=True, kw_only=True):
    """Done."""


class RemovePodSandboxRequest(CriMessage, frozen=True, kw_only=True):
    """Asks to forget a sandbox and what is in it."""

    pod_sandbox_id: Annotated[str, 1] = ""


class RemovePodSandboxResponse(CriMessage, frozen=True, kw_only=True):
    """Done."""


class PodSandboxStatusRequest(CriMessage, frozen=True, kw_only=True):
    """Asks about one sandbox."""

    pod_sandbox_id: Annotated[str, 1] = ""
    verbose: Annotated[bool, 2] = False


class ListPodSandboxRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for sandboxes."""

    filter: Annotated[PodSandboxFilter | None, 1] = None


class ListPodSandboxResponse(CriMessage, frozen=True, kw_only=True):
    """The sandboxes, in no order."""

    items: Annotated[tuple[PodSandbox, ...], 1] = ()
