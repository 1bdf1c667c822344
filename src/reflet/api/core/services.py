"""Services: the addresses that pods find through variables and names.

Upstream: k8s.io/api/core/v1/types.go, Service
"""

from collections.abc import Mapping
from typing import Any, Literal

from reflet.api.frozen import EMPTY, Frozen, constant
from reflet.api.meta import Condition, ObjectMeta, TypedObject


class ServicePort(Frozen, frozen=True, kw_only=True):
    """One port of a service; ``target_port`` is a number or the name of a container port."""

    name: str = ""
    protocol: str = ""
    app_protocol: str = ""
    port: int = 0
    target_port: int | str = 0
    node_port: int = 0


class ServiceSpec(Frozen, frozen=True, kw_only=True):
    """Which pods a service stands for, and under which addresses."""

    ports: tuple[ServicePort, ...] = ()
    selector: Mapping[str, str] = EMPTY
    cluster_ip: str = ""
    cluster_ips: tuple[str, ...] = ()
    type: str = ""
    external_ips: tuple[str, ...] = ()
    session_affinity: str = ""
    load_balancer_ip: str = ""
    load_balancer_source_ranges: tuple[str, ...] = ()
    external_name: str = ""
    external_traffic_policy: str = ""
    health_check_node_port: int = 0
    publish_not_ready_addresses: bool = False
    ip_families: tuple[str, ...] = ()
    ip_family_policy: str = ""
    internal_traffic_policy: str = ""
    traffic_distribution: str = ""


class ServiceStatus(Frozen, frozen=True, kw_only=True):
    """The load balancer, as it was reported, and conditions."""

    load_balancer: Mapping[str, Any] = EMPTY
    conditions: tuple[Condition, ...] = ()


class Service(TypedObject, frozen=True, kw_only=True):
    """One address for several pods."""

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["Service"] = constant("Service")
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()
