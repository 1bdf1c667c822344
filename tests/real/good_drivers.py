"""Slices of endpoints, cluster addresses, drivers, attachments and runtimes that are accepted.

Owns: the manifests, with every field set.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import Case, Manifest, manifest

STORAGE: Final = "storage.k8s.io/v1"
NETWORK: Final = "networking.k8s.io/v1"
ENDPOINT_SLICES: Final = "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
IP_ADDRESSES: Final = f"/apis/{NETWORK}/ipaddresses"
SERVICE_CIDRS: Final = f"/apis/{NETWORK}/servicecidrs"
CSI_DRIVERS: Final = f"/apis/{STORAGE}/csidrivers"
CSI_NODES: Final = f"/apis/{STORAGE}/csinodes"
CAPACITIES: Final = f"/apis/{STORAGE}/namespaces/{{namespace}}/csistoragecapacities"
ATTACHMENTS: Final = f"/apis/{STORAGE}/volumeattachments"
ATTRIBUTES_CLASSES: Final = f"/apis/{STORAGE}/volumeattributesclasses"
RUNTIME_CLASSES: Final = "/apis/node.k8s.io/v1/runtimeclasses"

NAME: Final = "{namespace}-x"
PARENT: Final = {"resource": "services", "namespace": "default", "name": "s"}
INLINE: Final[Manifest] = {
    "accessModes": ["ReadWriteOnce"],
    "csi": {"driver": "d.example", "volumeHandle": "h"},
}


def endpoint_slice(kind: str = "IPv4", *endpoints: Manifest, **fields: Any) -> Manifest:
    used = list(endpoints) or [{"addresses": ["10.1.1.1"]}]
    fields = {"addressType": kind, "endpoints": used} | fields
    return manifest("discovery.k8s.io/v1", "EndpointSlice", **fields)


def ip_address(name: str = "10.77.0.7", parent: Manifest | None = None) -> Manifest:
    return manifest(NETWORK, "IPAddress", name=name, spec={"parentRef": parent or PARENT})


def service_cidr(*networks: str) -> Manifest:
    spec = {"cidrs": list(networks)}
    return manifest(NETWORK, "ServiceCIDR", name=NAME, spec=spec)


def csi_driver(**spec: Any) -> Manifest:
    return manifest(STORAGE, "CSIDriver", name=NAME, spec=spec)


def csi_node(*drivers: Manifest) -> Manifest:
    return manifest(STORAGE, "CSINode", name=NAME, spec={"drivers": list(drivers)})


def capacity(**fields: Any) -> Manifest:
    fields = {"storageClassName": "fast", "capacity": "10Gi"} | fields
    return manifest(STORAGE, "CSIStorageCapacity", **fields)


def attachment(source: Manifest | None = None, **spec: Any) -> Manifest:
    used = {"persistentVolumeName": "v1"} if source is None else source
    spec = {"attacher": "d.example", "nodeName": "n1", "source": used} | spec
    return manifest(STORAGE, "VolumeAttachment", name=NAME, spec=spec)


def attributes_class(**fields: Any) -> Manifest:
    fields = {"driverName": "d.example", "parameters": {"iops": "100"}} | fields
    # A finalizer keeps the one of the usual name.
    return manifest(STORAGE, "VolumeAttributesClass", name=f"{NAME}-rich", **fields)


def runtime_class(**fields: Any) -> Manifest:
    fields = {"handler": "gvisor"} | fields
    return manifest("node.k8s.io/v1", "RuntimeClass", name=NAME, **fields)


def good_drivers() -> Iterator[Case]:
    yield (
        "rich endpoint slice",
        ENDPOINT_SLICES,
        endpoint_slice(
            "IPv4",
            {
                "addresses": ["10.1.1.1", "10.1.1.2"],
                "conditions": {"ready": True, "serving": True, "terminating": False},
                "hostname": "web-0",
                "nodeName": "n1",
                "zone": "a",
                "hints": {"forZones": [{"name": "a"}], "forNodes": [{"name": "n1"}]},
                "targetRef": {"kind": "Pod", "name": "web-0"},
                "deprecatedTopology": {"a": "b"},
            },
            ports=[
                {"name": "http", "port": 80, "protocol": "TCP", "appProtocol": "example.com/a"},
                {"port": 53, "protocol": "UDP"},
            ],
        ),
    )
    endpoint = {"addresses": ["2001:db8::1"]}
    yield "endpoint slice of IPv6", ENDPOINT_SLICES, endpoint_slice("IPv6", endpoint)
    endpoint = {"addresses": ["a.example.com", "b.example."]}
    yield "endpoint slice of names", ENDPOINT_SLICES, endpoint_slice("FQDN", endpoint)
    yield "IP address", IP_ADDRESSES, ip_address(parent=PARENT | {"group": "example.com"})
    yield "IPv6 address", IP_ADDRESSES, ip_address("fd77::7")
    networks = service_cidr("10.98.0.0/24", "fd98::/112")
    yield "dual service CIDR", SERVICE_CIDRS, networks
    yield (
        "CSI driver with everything",
        CSI_DRIVERS,
        csi_driver(
            attachRequired=True,
            podInfoOnMount=False,
            storageCapacity=True,
            fsGroupPolicy="File",
            tokenRequests=[{"audience": "a", "expirationSeconds": 600}, {"audience": ""}],
            requiresRepublish=False,
            volumeLifecycleModes=["Ephemeral"],
            seLinuxMount=True,
            nodeAllocatableUpdatePeriodSeconds=10,
            serviceAccountTokenInSecrets=True,
        ),
    )
    first = {"name": "d.example", "nodeID": "n", "topologyKeys": ["zone", "a/b"]}
    second = {"name": "e.example", "nodeID": "n", "allocatable": {"count": 3}}
    yield "CSI node of two", CSI_NODES, csi_node(first, second)
    expression = {"key": "zone", "operator": "In", "values": ["a"]}
    topology = {"matchLabels": {"a": "b"}, "matchExpressions": [expression]}
    yield (
        "capacity with everything",
        CAPACITIES,
        capacity(nodeTopology=topology, maximumVolumeSize="1Gi"),
    )
    yield (
        "inline attachment",
        ATTACHMENTS,
        attachment({"inlineVolumeSpec": INLINE | {"volumeMode": "Filesystem"}}),
    )
    yield (
        "rich attributes class",
        ATTRIBUTES_CLASSES,
        attributes_class(parameters={"a": "", "b": ""}),
    )
    toleration = {"key": "a", "operator": "Equal", "value": "v", "effect": "NoExecute"}
    yield (
        "rich runtime class",
        RUNTIME_CLASSES,
        runtime_class(
            overhead={"podFixed": {"cpu": "250m", "memory": "64Mi"}},
            scheduling={
                "nodeSelector": {"runtime": "gvisor"},
                "tolerations": [
                    toleration | {"tolerationSeconds": 30},
                    {"key": "b", "operator": "Exists"},
                ],
            },
        ),
    )
