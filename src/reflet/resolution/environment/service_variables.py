"""Variables that tell a container where services are, and which services it hears of.

Upstream: pkg/kubelet/envvars/envvars.go, FromServices; pkg/kubelet/kubelet_pods.go,
getServiceEnvVarMap
"""

from collections.abc import Iterable, Iterator
from typing import Final

from reflet.api.core.services import Service
from reflet.api.frozen import Frozen

EVERYBODYS_SERVICE: Final = ("default", "kubernetes")
"""Namespace and name of the API server's service, of which every pod hears."""


class ServiceVariable(Frozen, frozen=True, kw_only=True):
    """One variable, and the service that it is about."""

    name: str
    value: str
    service: Service


def services_for(
    namespace: str, services: Iterable[Service], *, links: bool
) -> tuple[Service, ...]:
    """Return the services that a pod of the namespace hears of, in the order of their names.

    With ``links``, those of its own namespace, where a service ``kubernetes`` stands in for the
    API server's; without, only the API server's.  Services without an address are left out.
    """
    chosen: dict[str, Service] = {}
    for service in services:
        if not has_address(service):
            continue
        metadata = service.metadata
        if (metadata.namespace, metadata.name) == EVERYBODYS_SERVICE:
            chosen.setdefault(metadata.name, service)
        elif links and metadata.namespace == namespace:
            chosen[metadata.name] = service
    return tuple(chosen[name] for name in sorted(chosen))


def has_address(service: Service) -> bool:
    """Tell whether the service has a cluster IP."""
    return service.spec.cluster_ip not in {"", "None"}


def variables_of(services: Iterable[Service]) -> Iterator[ServiceVariable]:
    """Yield the variables of services in the kubelet's order; names may repeat.

    A service without ports, over which the kubelet stumbles, gets only its host.
    """
    for service in services:
        if has_address(service):
            for name, value in _pairs(service):
                yield ServiceVariable(name=name, value=value, service=service)


def _pairs(service: Service) -> Iterator[tuple[str, str]]:
    prefix = _as_variable(service.metadata.name)
    address = service.spec.cluster_ip
    ports = service.spec.ports
    yield f"{prefix}_SERVICE_HOST", address
    if not ports:
        return
    yield f"{prefix}_SERVICE_PORT", str(ports[0].port)
    for port in ports:
        if port.name:
            yield f"{prefix}_SERVICE_PORT_{_as_variable(port.name)}", str(port.port)
    host = f"[{address}]" if ":" in address or "%" in address else address
    for index, port in enumerate(ports):
        protocol = port.protocol or "TCP"
        url = f"{protocol.lower()}://{host}:{port.port}"
        if index == 0:
            yield f"{prefix}_PORT", url
        of_port = f"{prefix}_PORT_{port.port}_{protocol.upper()}"
        yield of_port, url
        yield f"{of_port}_PROTO", protocol.lower()
        yield f"{of_port}_PORT", str(port.port)
        yield f"{of_port}_ADDR", address


def _as_variable(name: str) -> str:
    return name.replace("-", "_").upper()
