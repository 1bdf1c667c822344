"""Devices, classes of them, and claims of them that are accepted, with every field set.

Owns: the manifests.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import Case, Manifest, manifest

API: Final = "resource.k8s.io/v1"
CLAIMS: Final = f"/apis/{API}/namespaces/{{namespace}}/resourceclaims"
TEMPLATES: Final = f"/apis/{API}/namespaces/{{namespace}}/resourceclaimtemplates"
CLASSES: Final = f"/apis/{API}/deviceclasses"
SLICES: Final = f"/apis/{API}/resourceslices"

OPAQUE: Final = {"opaque": {"driver": "d.example", "parameters": {"a": {"b": 1}}}}
EXPRESSION: Final = {"cel": {"expression": 'device.driver == "d.example"'}}
POOL: Final = {"name": "p/q", "generation": 1, "resourceSliceCount": 1}
TIME: Final = "2020-01-01T00:00:00Z"
ZONE: Final = {"key": "zone", "operator": "In", "values": ["a"]}
NODES: Final = {"nodeSelectorTerms": [{"matchExpressions": [ZONE]}]}


def device_claim(**devices: Any) -> Manifest:
    requests = [{"name": "one", "exactly": {"deviceClassName": "c"}}]
    spec = {"devices": {"requests": requests} | devices}
    return manifest(API, "ResourceClaim", spec=spec)


def claim_template(metadata: Manifest | None = None, **devices: Any) -> Manifest:
    spec = {"metadata": metadata or {}, "spec": device_claim(**devices)["spec"]}
    return manifest(API, "ResourceClaimTemplate", spec=spec)


def device_class(**spec: Any) -> Manifest:
    return manifest(API, "DeviceClass", name="{namespace}-x", spec=spec)


def resource_slice(*devices: Manifest, **spec: Any) -> Manifest:
    usual = {"driver": "d.example", "nodeName": "n1", "pool": POOL}
    made: Manifest = {"devices": list(devices)} if devices else {}
    return manifest(API, "ResourceSlice", name="{namespace}-x", spec=usual | made | spec)


RICH_CLAIM: Final[Manifest] = {
    "requests": [
        {
            "name": "exact",
            "exactly": {
                "deviceClassName": "c.example",
                "selectors": [EXPRESSION],
                "allocationMode": "ExactCount",
                "count": 2,
                "tolerations": [
                    {"key": "a/b", "operator": "Equal", "value": "v", "effect": "NoSchedule"},
                    {"operator": "Exists", "tolerationSeconds": 5},
                ],
                "capacity": {"requests": {"memory": "1Gi"}},
            },
        },
        {
            "name": "first",
            "firstAvailable": [
                {"name": "big", "deviceClassName": "c", "selectors": [EXPRESSION]},
                {"name": "all", "deviceClassName": "c", "allocationMode": "All"},
            ],
        },
    ],
    "constraints": [
        {"requests": ["exact", "first/big"], "matchAttribute": "d.example/numa"},
        {"distinctAttribute": "d.example/card"},
    ],
    "config": [{"requests": ["first"], **OPAQUE}],
}
RICH_DEVICE: Final[Manifest] = {
    "name": "gpu-0",
    "attributes": {
        "model": {"string": "m"},
        "d.example/index": {"int": 0},
        "ready": {"bool": True},
        "driver": {"version": "1.2.3-rc.1+build"},
    },
    "capacity": {
        "memory": {
            "value": "16Gi",
            "requestPolicy": {
                "default": "2Gi",
                "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"},
            },
        },
        "d.example/cores": {
            "value": "8",
            "requestPolicy": {"default": "2", "validValues": ["1", "2", "4"]},
        },
    },
    "allowMultipleAllocations": True,
    "taints": [{"key": "a/b", "value": "v", "effect": "NoExecute", "timeAdded": TIME}],
    "consumesCounters": [{"counterSet": "set", "counters": {"slots": {"value": "1"}}}],
    "bindsToNode": True,
    "bindingConditions": ["example.com/ready"],
    "bindingFailureConditions": ["example.com/broken"],
}
ALLOCATION: Final[Manifest] = {
    "devices": {
        "results": [
            {"request": "one", "driver": "d.example", "pool": "p/q", "device": "gpu-0"},
        ],
        "config": [{"source": "FromClass", "requests": ["one"], **OPAQUE}],
    },
    "nodeSelector": NODES,
}
CONDITION: Final[Manifest] = {
    "type": "Ready",
    "status": "True",
    "reason": "Fine",
    "message": "",
    "lastTransitionTime": TIME,
}
DEVICE_STATUS: Final[Manifest] = {
    "driver": "d.example",
    "pool": "p/q",
    "device": "gpu-0",
    "conditions": [CONDITION],
    "data": {"a": "b"},
    "networkData": {
        "interfaceName": "eth0",
        "ips": ["10.1.1.1/24", "fd00::1/64"],
        "hardwareAddress": "ea:9f:cb:40:b1:7b",
    },
}


def good_devices() -> Iterator[Case]:
    yield "rich claim of devices", CLAIMS, device_claim(**RICH_CLAIM)
    yield (
        "rich template of claims",
        TEMPLATES,
        claim_template({"labels": {"a": "b"}, "annotations": {"c": "d"}}, **RICH_CLAIM),
    )
    yield (
        "rich class of devices",
        CLASSES,
        device_class(
            selectors=[EXPRESSION], config=[OPAQUE], extendedResourceName="example.com/gpu"
        ),
    )
    yield "rich slice", SLICES, resource_slice(RICH_DEVICE)
    counters = [{"name": "set", "counters": {"slots": {"value": "8"}}}]
    yield "slice of counters", SLICES, resource_slice(sharedCounters=counters)
    apart: list[Manifest] = [
        {"name": "here", "nodeName": "n1"},
        {"name": "there", "nodeSelector": NODES},
        {"name": "everywhere", "allNodes": True},
    ]
    yield (
        "slice of devices apart",
        SLICES,
        resource_slice(*apart, nodeName=None, perDeviceNodeSelection=True),
    )
    yield "slice of zones", SLICES, resource_slice(nodeName=None, nodeSelector=NODES)
    yield "slice of all nodes", SLICES, resource_slice(nodeName=None, allNodes=True)
