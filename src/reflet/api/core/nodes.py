"""Nodes: the machines that pods run on.

Upstream: k8s.io/api/core/v1/types.go, Node
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from reflet.api.frozen import EMPTY, Frozen, QuantityText, constant
from reflet.api.meta import Condition, ObjectMeta, Time, TypedObject


class Taint(Frozen, frozen=True, kw_only=True):
    """Keeps pods away that do not tolerate it."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class NodeSpec(Frozen, frozen=True, kw_only=True):
    """Settings of a node."""

    pod_cidr: str = ""
    pod_cidrs: tuple[str, ...] = ()
    provider_id: str = ""
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeAddress(Frozen, frozen=True, kw_only=True):
    """One address of a node: Hostname, InternalIP, ExternalIP …"""

    type: str = ""
    address: str = ""


class DaemonEndpoint(Frozen, frozen=True, kw_only=True):
    """The port of a daemon; Kubernetes writes this one name with a capital."""

    port: int = msgspec.field(default=0, name="Port")


class NodeDaemonEndpoints(Frozen, frozen=True, kw_only=True):
    """Where the node's daemons listen."""

    kubelet_endpoint: DaemonEndpoint = DaemonEndpoint()


class NodeSystemInfo(Frozen, frozen=True, kw_only=True):
    """What the node runs."""

    machine_id: str = ""
    system_uuid: str = ""
    boot_id: str = ""
    kernel_version: str = ""
    os_image: str = ""
    container_runtime_version: str = ""
    kubelet_version: str = ""
    kube_proxy_version: str = ""
    operating_system: str = ""
    architecture: str = ""


class NodeStatus(Frozen, frozen=True, kw_only=True):
    """The observed state of a node; amounts are the text of quantities."""

    capacity: Mapping[str, QuantityText] = EMPTY
    allocatable: Mapping[str, QuantityText] = EMPTY
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    daemon_endpoints: NodeDaemonEndpoints = NodeDaemonEndpoints()
    node_info: NodeSystemInfo = NodeSystemInfo()


class Node(TypedObject, frozen=True, kw_only=True):
    """A machine that runs pods."""

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["Node"] = constant("Node")
    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
