"""What a pod's containers are doing, as the API reports it.

Owns: PodStatus and container states.  Must not know who computes them.
"""

from collections.abc import Mapping

from reflet.api.core.containers import ResourceRequirements
from reflet.api.field_types import QuantityText, Time
from reflet.api.frozen import EMPTY, Frozen
from reflet.api.meta import Condition


class HostIP(Frozen, frozen=True, kw_only=True):
    """One address of the node."""

    ip: str = ""


class PodIP(Frozen, frozen=True, kw_only=True):
    """One address of the pod."""

    ip: str = ""


class ContainerStateWaiting(Frozen, frozen=True, kw_only=True):
    """The container does not run yet."""

    reason: str = ""
    message: str = ""


class ContainerStateRunning(Frozen, frozen=True, kw_only=True):
    """The container runs."""

    started_at: Time | None = None


class ContainerStateTerminated(Frozen, frozen=True, kw_only=True):
    """The container ran and ended."""

    exit_code: int = 0
    signal: int = 0
    reason: str = ""
    message: str = ""
    started_at: Time | None = None
    finished_at: Time | None = None
    container_id: str = ""


class ContainerState(Frozen, frozen=True, kw_only=True):
    """At most one of these; none means waiting."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(Frozen, frozen=True, kw_only=True):
    """The state of one container, now and before its last restart."""

    name: str = ""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    ready: bool = False
    restart_count: int = 0
    image: str = ""
    image_id: str = ""
    container_id: str = ""
    started: bool | None = None
    allocated_resources: Mapping[str, QuantityText] = EMPTY
    resources: ResourceRequirements | None = None


class PodStatus(Frozen, frozen=True, kw_only=True):
    """The observed state of a pod."""

    observed_generation: int = 0
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    message: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    host_ip: str = ""
    host_ips: tuple[HostIP, ...] = ()
    pod_ip: str = ""
    pod_ips: tuple[PodIP, ...] = ()
    start_time: Time | None = None
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    ephemeral_container_statuses: tuple[ContainerStatus, ...] = ()
    qos_class: str = ""
