"""Pods: what is asked for (PodSpec), what is reported (PodStatus), and the template of workloads.

Upstream: k8s.io/api/core/v1/types.go, Pod, PodSpec, PodStatus, ContainerStatus
"""

from collections.abc import Mapping
from typing import Any, Literal

from reflet.api.core.containers import Container, EphemeralContainer, ResourceRequirements
from reflet.api.core.volumes import Volume
from reflet.api.frozen import EMPTY, Frozen, QuantityText, constant
from reflet.api.meta import Condition, LocalObjectReference, ObjectMeta, Time, TypedObject


class Sysctl(Frozen, frozen=True, kw_only=True):
    """A kernel parameter of the pod."""

    name: str = ""
    value: str = ""


class PodSecurityContext(Frozen, frozen=True, kw_only=True):
    """Who the pod's containers run as, and which group owns its volumes."""

    run_as_user: int | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    supplemental_groups: tuple[int, ...] = ()
    supplemental_groups_policy: str = ""
    fs_group: int | None = None
    fs_group_change_policy: str = ""
    sysctls: tuple[Sysctl, ...] = ()
    se_linux_options: Mapping[str, str] = EMPTY
    windows_options: Mapping[str, Any] = EMPTY
    seccomp_profile: Mapping[str, str] = EMPTY
    app_armor_profile: Mapping[str, str] = EMPTY


class Toleration(Frozen, frozen=True, kw_only=True):
    """A taint that the pod accepts."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class HostAlias(Frozen, frozen=True, kw_only=True):
    """A line of the pod's hosts file."""

    ip: str = ""
    hostnames: tuple[str, ...] = ()


class PodDNSConfigOption(Frozen, frozen=True, kw_only=True):
    """An option of the pod's resolver."""

    name: str = ""
    value: str | None = None


class PodDNSConfig(Frozen, frozen=True, kw_only=True):
    """What the pod's ``resolv.conf`` has besides what its dnsPolicy gives."""

    nameservers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[PodDNSConfigOption, ...] = ()


class PodReadinessGate(Frozen, frozen=True, kw_only=True):
    """A condition, set by others, without which the pod is not ready."""

    condition_type: str = ""


class PodSchedulingGate(Frozen, frozen=True, kw_only=True):
    """Keeps the scheduler away from the pod until somebody takes it off."""

    name: str = ""


class NodeSelectorRequirement(Frozen, frozen=True, kw_only=True):
    """One expression about a node: In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Frozen, frozen=True, kw_only=True):
    """Expressions about a node's labels and fields; all must hold."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Frozen, frozen=True, kw_only=True):
    """Terms about a node; one must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class NodeAffinity(Frozen, frozen=True, kw_only=True):
    """The nodes that a pod must be on, as far as it says; what it only prefers is dropped."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class Affinity(Frozen, frozen=True, kw_only=True):
    """Which nodes a pod wants; affinity between pods is dropped."""

    node_affinity: NodeAffinity | None = None


class PodSpec(Frozen, frozen=True, kw_only=True):
    """What a pod is to be: its containers, their volumes and their common settings.

    ``None`` means that the field is absent, where absence means something else than a value.
    """

    volumes: tuple[Volume, ...] = ()
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    ephemeral_containers: tuple[EphemeralContainer, ...] = ()
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    active_deadline_seconds: int | None = None
    dns_policy: str = ""
    dns_config: PodDNSConfig | None = None
    node_selector: Mapping[str, str] = EMPTY
    affinity: Affinity | None = None
    service_account_name: str = ""
    automount_service_account_token: bool | None = None
    node_name: str = ""
    host_network: bool = False
    host_pid: bool = False
    host_ipc: bool = False
    share_process_namespace: bool | None = None
    security_context: PodSecurityContext | None = None
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    hostname: str = ""
    subdomain: str = ""
    set_hostname_as_fqdn: bool | None = None
    hostname_override: str | None = None
    scheduler_name: str = ""
    tolerations: tuple[Toleration, ...] = ()
    host_aliases: tuple[HostAlias, ...] = ()
    readiness_gates: tuple[PodReadinessGate, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    priority_class_name: str = ""
    priority: int | None = None
    runtime_class_name: str | None = None
    enable_service_links: bool | None = None
    overhead: Mapping[str, QuantityText] = EMPTY
    resources: ResourceRequirements | None = None
    host_users: bool | None = None


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


class Pod(TypedObject, frozen=True, kw_only=True):
    """A group of containers on one node."""

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["Pod"] = constant("Pod")
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodTemplateSpec(Frozen, frozen=True, kw_only=True):
    """What the pods of a workload are made from; its metadata needs no name."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
