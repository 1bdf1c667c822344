"""Objects that configure a cluster and are accepted; what they match is nowhere.

Owns: the manifests.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.real.devserver_objects import Case, cluster_case, manifest, namespaced_case
from tests.real.good_admission import good_admission
from tests.real.good_flows import good_flows

DEVICES: Final = "resource.k8s.io/v1"
NETWORK: Final = "networking.k8s.io/v1"
STORAGE: Final = "storage.k8s.io/v1"

ONLY_TRIED: Final = (
    *("API service", "flow schema", "service CIDR", "IP address", "IPv6 address"),
    "slice of names",
)
"""How the titles of those end that are sent as dry runs alone: they change what the real server
serves or which addresses it gives, one of its controllers writes to them at once, or it warns of
them."""


def good_cluster_objects() -> Iterator[Case]:
    """Yield a poor and a rich object of each kind that configures a cluster."""
    yield from good_admission()
    yield from good_flows()
    yield from _storage()
    yield from _networks()
    yield from _devices()
    yield from _old_autoscalers()


def _storage() -> Iterator[Case]:
    yield cluster_case("plain CSI driver", STORAGE, "csidrivers", "CSIDriver", spec={})
    yield (
        "rich CSI driver",
        f"/apis/{STORAGE}/csidrivers",
        manifest(
            STORAGE,
            "CSIDriver",
            name="rich.{namespace}",
            spec={
                "attachRequired": False,
                "podInfoOnMount": True,
                "volumeLifecycleModes": ["Persistent", "Ephemeral"],
                "tokenRequests": [{"audience": "a"}, {"audience": "b", "expirationSeconds": 3600}],
                "requiresRepublish": True,
                "serviceAccountTokenInSecrets": True,
            },
        ),
    )
    driver = {"name": "d.example", "nodeID": "n", "topologyKeys": ["zone"]}
    yield cluster_case(
        "CSI node",
        *(STORAGE, "csinodes", "CSINode"),
        spec={"drivers": [driver | {"allocatable": {"count": 5}}]},
    )
    yield namespaced_case(
        "CSI storage capacity",
        *(STORAGE, "csistoragecapacities", "CSIStorageCapacity"),
        storageClassName="fast",
        capacity="10Gi",
        nodeTopology={"matchLabels": {"zone": "a"}},
    )
    yield cluster_case(
        "volume attachment",
        *(STORAGE, "volumeattachments", "VolumeAttachment"),
        spec={
            "attacher": "d.example",
            "nodeName": "n1",
            "source": {"persistentVolumeName": "v1"},
        },
    )
    yield cluster_case(
        "volume attributes class",
        *(STORAGE, "volumeattributesclasses", "VolumeAttributesClass"),
        driverName="d.example",
        parameters={"iops": "100"},
    )
    yield cluster_case(
        "runtime class",
        *("node.k8s.io/v1", "runtimeclasses", "RuntimeClass"),
        handler="gvisor",
        overhead={"podFixed": {"cpu": "0.25", "memory": "64Mi"}},
        scheduling={"tolerations": [{"key": "a", "operator": "Exists"}]},
    )


def _networks() -> Iterator[Case]:
    yield cluster_case(
        "service CIDR", NETWORK, "servicecidrs", "ServiceCIDR", spec={"cidrs": ["10.99.0.0/24"]}
    )


def _devices() -> Iterator[Case]:
    chosen = {"selectors": [{"cel": {"expression": 'device.driver == "d.example"'}}]}
    yield cluster_case("device class", DEVICES, "deviceclasses", "DeviceClass", spec=chosen)
    requests = [
        {"name": "one", "exactly": {"deviceClassName": "c"}},
        {"name": "all", "exactly": {"deviceClassName": "c", "allocationMode": "All"}},
        {"name": "any", "firstAvailable": [{"name": "big", "deviceClassName": "c"}]},
    ]
    devices = {"devices": {"requests": requests}}
    yield namespaced_case(
        "resource claim", DEVICES, "resourceclaims", "ResourceClaim", spec=devices
    )
    yield namespaced_case(
        "resource claim template",
        *(DEVICES, "resourceclaimtemplates", "ResourceClaimTemplate"),
        spec={"metadata": {"labels": {"a": "b"}}, "spec": devices},
    )
    device = {
        "name": "gpu-0",
        "attributes": {"model": {"string": "m"}, "index": {"int": 0}},
        "capacity": {"memory": {"value": "16Gi"}},
    }
    yield cluster_case(
        "resource slice",
        *(DEVICES, "resourceslices", "ResourceSlice"),
        spec={
            "driver": "d.example",
            "nodeName": "n1",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [device],
        },
    )


def _old_autoscalers() -> Iterator[Case]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    place = ("autoscaling/v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
    spec = {"scaleTargetRef": target, "maxReplicas": 3}
    yield namespaced_case(
        "old autoscaler with a target",
        *place,
        name="aim",
        spec=spec | {"minReplicas": 2, "targetCPUUtilizationPercentage": 50},
    )
