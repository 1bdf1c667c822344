"""Endpoints, addresses, drivers, attachments and runtimes that are refused for what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.devserver_objects import Case
from tests.real.good_drivers import (
    ATTACHMENTS,
    ATTRIBUTES_CLASSES,
    CAPACITIES,
    CSI_DRIVERS,
    CSI_NODES,
    ENDPOINT_SLICES,
    INLINE,
    IP_ADDRESSES,
    RUNTIME_CLASSES,
    SERVICE_CIDRS,
    attachment,
    attributes_class,
    capacity,
    csi_driver,
    csi_node,
    endpoint_slice,
    ip_address,
    runtime_class,
    service_cidr,
)


def bad_drivers() -> Iterator[Case]:
    """Yield what is refused, kind by kind."""
    yield from _bad_endpoints()
    yield from _bad_addresses()
    yield from _bad_drivers()
    yield from _bad_attachments()
    yield from _bad_runtimes()


def _bad_endpoints() -> Iterator[Case]:
    def case(title: str, kind: str, /, *addresses: str, **fields: Any) -> Case:
        endpoint = {"addresses": list(addresses)} | fields.pop("endpoint", {})
        return f"endpoints {title}", ENDPOINT_SLICES, endpoint_slice(kind, endpoint, **fields)

    yield case("of no type", "")
    yield case("of another type", "MAC", "x")
    yield case("of nowhere", "IPv4")
    yield case("of bad addresses", "IPv4", "x", "010.1.1.1", "::ffff:1.2.3.4", "::1", "0.0.0.0")
    yield case("of the node", "IPv4", "127.0.0.1", "169.254.1.1", "224.0.0.1")
    yield case("of bad IPv6", "IPv6", "1.2.3.4", "2001:DB8::1", "::", "::1", "fe80::1", "ff02::1")
    yield case("of bad names", "FQDN", "", "a", "A_", f"{'a' * 64}.b", "a.b.")
    yield case("of many", "IPv4", *(f"10.1.1.{number}" for number in range(101)))
    odd: dict[str, Any] = {"nodeName": "N_", "hostname": "a.b"}
    yield case("of odd parts", "IPv4", "10.1.1.1", endpoint=odd)
    zones = [{"name": "a"}, {"name": "a"}, {"name": "a b"}]
    nodes = [{"name": "n"}, {"name": "n"}, {"name": "N_"}]
    hints = {"hints": {"forZones": zones, "forNodes": nodes}}
    yield case("of bad hints", "IPv4", "10.1.1.1", endpoint=hints)
    many = {"hints": {"forZones": [{"name": f"z{number}"} for number in range(9)]}}
    yield case("of many hints", "IPv4", "10.1.1.1", endpoint=many)
    ports = [
        {"name": "A_", "protocol": "ICMP", "appProtocol": "a b"},
        {"port": 1},
        {"port": 2},
    ]
    yield case("of bad ports", "IPv4", "10.1.1.1", ports=ports)


def _bad_addresses() -> Iterator[Case]:
    for name in ("x", "010.0.0.1", "::ffff:1.2.3.4", "2001:DB8::1"):
        yield f"IP address called {name}", IP_ADDRESSES, ip_address(name)
    yield "IP address of nobody", IP_ADDRESSES, ip_address() | {"spec": {}}
    odd = {"group": "A_", "resource": "a/b", "name": "", "namespace": ".."}
    yield "IP address of a bad owner", IP_ADDRESSES, ip_address(parent=odd)
    for title, networks in (
        ("nothing", []),
        ("three networks", ["10.0.0.0/8", "fd00::/8", "fd01::/16"]),
        ("bad networks", ["10.0.0.1/8", "x"]),
        ("odd networks", ["010.0.0.0/8", "FD00::/8"]),
        ("one family", ["10.0.0.0/8", "11.0.0.0/8"]),
    ):
        yield f"CIDR of {title}", SERVICE_CIDRS, service_cidr(*networks)


def _bad_drivers() -> Iterator[Case]:
    tokens = [
        {"audience": "a", "expirationSeconds": 599},
        {"audience": "a"},
        {"audience": "b", "expirationSeconds": 2**32 + 1},
    ]
    yield (
        "driver of bad parts",
        CSI_DRIVERS,
        csi_driver(
            fsGroupPolicy="Sometimes",
            tokenRequests=tokens,
            volumeLifecycleModes=["Persistent", "Long"],
            nodeAllocatableUpdatePeriodSeconds=9,
        ),
    )
    hidden = csi_driver(serviceAccountTokenInSecrets=True)
    yield "driver that hides nothing", CSI_DRIVERS, hidden
    yield (
        "node of bad drivers",
        CSI_NODES,
        csi_node(
            {"name": "", "nodeID": ""},
            {"name": "A_", "nodeID": "n" * 257, "allocatable": {"count": -1}},
            {"name": "d", "nodeID": "n", "topologyKeys": ["", "a b", "c", "c"]},
            {"name": "d", "nodeID": "n"},
        ),
    )
    expression = {"key": "a b", "operator": "Near"}
    yield (
        "bad capacity",
        CAPACITIES,
        capacity(
            nodeTopology={"matchExpressions": [expression]}, storageClassName="A_", capacity="-1"
        ),
    )
    yield "capacity of no class", CAPACITIES, capacity(storageClassName="")


def _bad_attachments() -> Iterator[Case]:
    both = {"persistentVolumeName": "v", "inlineVolumeSpec": INLINE}
    for title, source in (
        ("nothing", {}),
        ("two volumes", both),
        ("no name", {"persistentVolumeName": ""}),
        ("a bad name", {"persistentVolumeName": "A_"}),
        ("nothing inline", {"inlineVolumeSpec": {}}),
    ):
        yield f"attachment of {title}", ATTACHMENTS, attachment(source)
    odd = {
        "accessModes": ["Sometimes"],
        "capacity": {"storage": "1Gi"},
        "claimRef": {"name": "c"},
        "hostPath": {"path": "/"},
        "nodeAffinity": {},
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": "a",
        "volumeMode": "Block",
    }
    yield "attachment of an odd volume", ATTACHMENTS, attachment({"inlineVolumeSpec": odd})
    yield "attachment by nobody", ATTACHMENTS, attachment(attacher="", nodeName="")
    yield "attributes of nobody", ATTRIBUTES_CLASSES, attributes_class(driverName="", parameters={})
    odd_names = attributes_class(driverName="a b", parameters={"": "a"})
    yield "attributes of a bad driver", ATTRIBUTES_CLASSES, odd_names


def _bad_runtimes() -> Iterator[Case]:
    yield "runtime of nobody", RUNTIME_CLASSES, runtime_class(handler="")
    toleration = {"key": "a", "operator": "Exists"}
    yield (
        "bad runtime",
        RUNTIME_CLASSES,
        runtime_class(
            handler="A.b",
            overhead={"podFixed": {"cpu": "-1"}},
            scheduling={
                "nodeSelector": {"a b": "c"},
                "tolerations": [toleration, toleration, {"operator": "Near"}],
            },
        ),
    )
