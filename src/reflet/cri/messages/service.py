"""The runtime itself: version, health, events, figures, and where streams are served.

Upstream: k8s.io/cri-api/pkg/apis/runtime/v1/api.proto
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated

from reflet.cri.messages.containers import ContainerMetadata, ContainerStatus
from reflet.cri.messages.images import FilesystemUsage, UInt64Value
from reflet.cri.messages.sandboxes import PodSandboxStatus
from reflet.cri.wire import CriMessage, Int32, Int64


class VersionRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for the version; *version* is the one of the API that the asker speaks."""

    version: Annotated[str, 1] = ""


class VersionResponse(CriMessage, frozen=True, kw_only=True):
    """Which runtime it is, and which API it speaks."""

    version: Annotated[str, 1] = ""
    runtime_name: Annotated[str, 2] = ""
    runtime_version: Annotated[str, 3] = ""
    runtime_api_version: Annotated[str, 4] = ""


class StatusRequest(CriMessage, frozen=True, kw_only=True):
    """Asks how the runtime is."""

    verbose: Annotated[bool, 1] = False


class RuntimeCondition(CriMessage, frozen=True, kw_only=True):
    """``RuntimeReady`` or ``NetworkReady``, and why not."""

    type: Annotated[str, 1] = ""
    status: Annotated[bool, 2] = False
    reason: Annotated[str, 3] = ""
    message: Annotated[str, 4] = ""


class RuntimeStatus(CriMessage, frozen=True, kw_only=True):
    """How the runtime is."""

    conditions: Annotated[tuple[RuntimeCondition, ...], 1] = ()


class RuntimeHandlerFeatures(CriMessage, frozen=True, kw_only=True):
    """What a handler can."""

    recursive_read_only_mounts: Annotated[bool, 1] = False
    user_namespaces: Annotated[bool, 2] = False


class RuntimeHandler(CriMessage, frozen=True, kw_only=True):
    """A handler, by the name that a RuntimeClass has for it; the default one has none."""

    name: Annotated[str, 1] = ""
    features: Annotated[RuntimeHandlerFeatures | None, 2] = None


class RuntimeFeatures(CriMessage, frozen=True, kw_only=True):
    """What the runtime can with any handler."""

    supplemental_groups_policy: Annotated[bool, 1] = False
    user_namespaces_host_network: Annotated[bool, 2] = False


class StatusResponse(CriMessage, frozen=True, kw_only=True):
    """How the runtime is, and what it can."""

    status: Annotated[RuntimeStatus | None, 1] = None
    info: Annotated[Mapping[str, str], 2] = {}
    runtime_handlers: Annotated[tuple[RuntimeHandler, ...], 3] = ()
    features: Annotated[RuntimeFeatures | None, 4] = None


class PodSandboxStatusResponse(CriMessage, frozen=True, kw_only=True):
    """A sandbox; with events on, its containers as well, seen at *timestamp*."""

    status: Annotated[PodSandboxStatus | None, 1] = None
    info: Annotated[Mapping[str, str], 2] = {}
    containers_statuses: Annotated[tuple[ContainerStatus, ...], 3] = ()
    timestamp: Annotated[Int64, 4] = 0


class GetEventsRequest(CriMessage, frozen=True, kw_only=True):
    """Asks to be notified of events."""


class ContainerEventType(IntEnum):
    """What happened to a container or sandbox."""

    CREATED = 0
    STARTED = 1
    STOPPED = 2
    DELETED = 3


class ContainerEventResponse(CriMessage, frozen=True, kw_only=True):
    """Something that happened, at *created_at*, and the pod as it was right after."""

    container_id: Annotated[str, 1] = ""
    container_event_type: Annotated[ContainerEventType, 2] = ContainerEventType.CREATED
    created_at: Annotated[Int64, 3] = 0
    pod_sandbox_status: Annotated[PodSandboxStatus | None, 4] = None
    containers_statuses: Annotated[tuple[ContainerStatus, ...], 5] = ()


class ExecRequest(CriMessage, frozen=True, kw_only=True):
    """Asks where to stream a command."""

    container_id: Annotated[str, 1] = ""
    cmd: Annotated[tuple[str, ...], 2] = ()
    tty: Annotated[bool, 3] = False
    stdin: Annotated[bool, 4] = False
    stdout: Annotated[bool, 5] = False
    stderr: Annotated[bool, 6] = False


class ExecResponse(CriMessage, frozen=True, kw_only=True):
    """Where."""

    url: Annotated[str, 1] = ""


class AttachRequest(CriMessage, frozen=True, kw_only=True):
    """Asks where to stream the first process."""

    container_id: Annotated[str, 1] = ""
    stdin: Annotated[bool, 2] = False
    tty: Annotated[bool, 3] = False
    stdout: Annotated[bool, 4] = False
    stderr: Annotated[bool, 5] = False


class AttachResponse(CriMessage, frozen=True, kw_only=True):
    """Where."""

    url: Annotated[str, 1] = ""


class PortForwardRequest(CriMessage, frozen=True, kw_only=True):
    """Asks where to stream ports of the pod."""

    pod_sandbox_id: Annotated[str, 1] = ""
    port: Annotated[tuple[Int32, ...], 2] = ()


class PortForwardResponse(CriMessage, frozen=True, kw_only=True):
    """Where."""

    url: Annotated[str, 1] = ""


class ContainerAttributes(CriMessage, frozen=True, kw_only=True):
    """Whose figures these are."""

    id: Annotated[str, 1] = ""
    metadata: Annotated[ContainerMetadata | None, 2] = None
    labels: Annotated[Mapping[str, str], 3] = {}
    annotations: Annotated[Mapping[str, str], 4] = {}


class CpuUsage(CriMessage, frozen=True, kw_only=True):
    """Of one container."""

    timestamp: Annotated[Int64, 1] = 0
    usage_core_nano_seconds: Annotated[UInt64Value | None, 2] = None
    usage_nano_cores: Annotated[UInt64Value | None, 3] = None


class MemoryUsage(CriMessage, frozen=True, kw_only=True):
    """Of one container."""

    timestamp: Annotated[Int64, 1] = 0
    working_set_bytes: Annotated[UInt64Value | None, 2] = None
    available_bytes: Annotated[UInt64Value | None, 3] = None
    usage_bytes: Annotated[UInt64Value | None, 4] = None
    rss_bytes: Annotated[UInt64Value | None, 5] = None
    page_faults: Annotated[UInt64Value | None, 6] = None
    major_page_faults: Annotated[UInt64Value | None, 7] = None


class SwapUsage(CriMessage, frozen=True, kw_only=True):
    """Of one container."""

    timestamp: Annotated[Int64, 1] = 0
    swap_available_bytes: Annotated[UInt64Value | None, 2] = None
    swap_usage_bytes: Annotated[UInt64Value | None, 3] = None


class ContainerStats(CriMessage, frozen=True, kw_only=True):
    """What a container uses."""

    attributes: Annotated[ContainerAttributes | None, 1] = None
    cpu: Annotated[CpuUsage | None, 2] = None
    memory: Annotated[MemoryUsage | None, 3] = None
    writable_layer: Annotated[FilesystemUsage | None, 4] = None
    swap: Annotated[SwapUsage | None, 5] = None


class ContainerStatsFilter(CriMessage, frozen=True, kw_only=True):
    """Whose figures are listed."""

    id: Annotated[str, 1] = ""
    pod_sandbox_id: Annotated[str, 2] = ""
    label_selector: Annotated[Mapping[str, str], 3] = {}


class ListContainerStatsRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for figures."""

    filter: Annotated[ContainerStatsFilter | None, 1] = None


class ListContainerStatsResponse(CriMessage, frozen=True, kw_only=True):
    """The figures of the containers that run."""

    stats: Annotated[tuple[ContainerStats, ...], 1] = ()
