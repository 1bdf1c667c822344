"""A small shop: its pod, its ConfigMap, its Secret and its node."""

from __future__ import annotations

import base64
import json
from typing import Any

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.nodes import Node, NodeAddress, NodeStatus
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service, ServicePort, ServiceSpec
from reflet.api.meta import ObjectMeta
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.environment.variables import Environment
from reflet.resolution.objects import ObjectsInHand, ObjectSource

NODE = Node(
    metadata=ObjectMeta(name="node-1"),
    status=NodeStatus(
        allocatable={"cpu": "4", "memory": "8Gi", "ephemeral-storage": "100Gi"},
        addresses=(
            NodeAddress(type="Hostname", address="node-1"),
            NodeAddress(type="ExternalIP", address="203.0.113.5"),
            NodeAddress(type="InternalIP", address="10.0.0.5"),
            NodeAddress(type="InternalIP", address="fd00::5"),
        ),
    ),
)


def pod_with(
    container: dict[str, Any] | None = None,
    *,
    metadata: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    **spec: Any,
) -> Pod:
    """Return pod shop/web-0 with the container ``web``."""
    raw = {
        "metadata": {
            "name": "web-0",
            "namespace": "shop",
            "resourceVersion": "7",
            **(metadata or {}),
        },
        "spec": {
            "enableServiceLinks": False,
            "containers": [{"name": "web", **(container or {})}],
            **spec,
        },
        "status": status or {},
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


def variable(name: str, **source: Any) -> dict[str, Any]:
    """Return an entry of ``env`` with one source."""
    return {"name": name, "valueFrom": source}


def config_map(name: str = "settings", /, **data: str) -> ConfigMap:
    """Return a ConfigMap of the shop."""
    metadata = ObjectMeta(namespace="shop", name=name, resource_version="11")
    return ConfigMap(metadata=metadata, data=data)


def secret(name: str = "credentials", /, **data: bytes) -> Secret:
    """Return a Secret of the shop."""
    metadata = ObjectMeta(namespace="shop", name=name, resource_version="12")
    return Secret(metadata=metadata, data=data)


def service(namespace: str, name: str, address: str, *ports: ServicePort) -> Service:
    """Return a service."""
    return Service(
        metadata=ObjectMeta(namespace=namespace, name=name, resource_version="13"),
        spec=ServiceSpec(cluster_ip=address, ports=ports or (ServicePort(port=80),)),
    )


def environment_of(
    pod: Pod, *objects: ConfigMap | Secret, source: ObjectSource | None = None, **options: Any
) -> Environment:
    """Return the environment of the container ``web``."""
    return resolve_environment(pod, "web", source or ObjectsInHand(objects), **options)


def pem(*certificates: bytes) -> str:
    """Certificates as PEM text, whatever is in them, as Go writes it."""
    blocks = []
    for certificate in certificates:
        text = base64.b64encode(certificate).decode()
        lines = "".join(f"{text[begin : begin + 64]}\n" for begin in range(0, len(text), 64))
        blocks.append(f"-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n")
    return "".join(blocks)
