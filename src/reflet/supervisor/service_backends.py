"""Which pods stand behind a port of a Service, and on which port of theirs.  Pure.

As kube-proxy sees it: ready pods that the selector chooses, at ``targetPort``; of a headless
Service the port that was asked for itself, since DNS leads straight to its pods.

Upstream: k8s.io/endpointslice/utils.go, getEndpointPorts; pkg/api/v1/pod/util.go, FindPort
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from reflet.api.core.pods import Pod
from reflet.api.core.services import Service, ServicePort

TCP: Final = "TCP"
HEADLESS: Final = "None"


@dataclass(frozen=True, slots=True)
class Backend:
    """A pod, and a port of it."""

    pod: str
    port: int


def why_not(service: Service) -> str | None:
    """Why a Service cannot be forwarded at all; None when it can."""
    spec = service.spec
    if spec.type == "ExternalName":
        return f"it is another name for {spec.external_name}"
    if not spec.selector:
        return "it selects no pods"
    if not tcp_ports(service):
        return "port-forward carries TCP alone, and it has no TCP port"
    return None


def tcp_ports(service: Service) -> tuple[ServicePort, ...]:
    """The ports that can be forwarded."""
    return tuple(port for port in service.spec.ports if (port.protocol or TCP) == TCP)


def other_ports(service: Service) -> tuple[str, ...]:
    """The ports that cannot: ``53/UDP``."""
    return tuple(
        f"{port.port}/{port.protocol}"
        for port in service.spec.ports
        if (port.protocol or TCP) != TCP
    )


def is_headless(service: Service) -> bool:
    """Whether the name of the Service leads to its pods themselves."""
    return service.spec.cluster_ip == HEADLESS


def backends_of(
    service: Service, pods: Iterable[Pod], port: int, *, hostname: str = ""
) -> tuple[Backend, ...] | str:
    """The ready pods behind *port*, by name; a sentence when there are none.

    *hostname* chooses the one pod that has it.
    """
    name = service.metadata.name
    chosen = [pod for pod in pods if not hostname or _is_named(pod, hostname, name)]
    if not chosen:
        which = f"{hostname}.{name}" if hostname else f"Service {name}"
        return f"there is no pod of {which}"
    ready = sorted(
        (pod for pod in chosen if is_serving(service, pod)), key=lambda pod: pod.metadata.name
    )
    if not ready:
        several = f"none of the {len(chosen)} pods" if len(chosen) > 1 else "the only pod"
        is_ready = "is ready" if len(chosen) > 1 else "is not ready"
        return f"{several} of Service {name} {is_ready}"
    found = [
        Backend(pod.metadata.name, number)
        for pod in ready
        if (number := _target(service, pod, port)) is not None
    ]
    if not found:
        return f"no pod of Service {name} has the port that the Service names for {port}"
    return tuple(found)


def is_serving(service: Service, pod: Pod) -> bool:
    """Whether connections to the Service may go to the pod."""
    if pod.metadata.deletion_timestamp is not None or pod.status.phase != "Running":
        return False
    return service.spec.publish_not_ready_addresses or any(
        condition.type == "Ready" and condition.status == "True"
        for condition in pod.status.conditions
    )


def _is_named(pod: Pod, hostname: str, subdomain: str) -> bool:
    return pod.spec.hostname == hostname and pod.spec.subdomain == subdomain


def _target(service: Service, pod: Pod, port: int) -> int | None:
    if is_headless(service):
        return port
    target = next((each.target_port for each in tcp_ports(service) if each.port == port), None)
    if target is None or isinstance(target, int):
        return target or (port if target == 0 else None)
    sidecars = (each for each in pod.spec.init_containers if each.restart_policy == "Always")
    return next(
        (
            each.container_port
            for container in (*pod.spec.containers, *sidecars)
            for each in container.ports
            if each.name == target and (each.protocol or TCP) == TCP
        ),
        None,
    )
