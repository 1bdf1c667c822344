"""Volumes, claims, classes, quotas and limits that are accepted: each source, each field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import CORE, Case, Manifest, manifest

VOLUMES: Final = "/api/v1/persistentvolumes"
CLAIMS: Final = f"{CORE}/persistentvolumeclaims"
STORAGE_CLASSES: Final = "/apis/storage.k8s.io/v1/storageclasses"
PRIORITY_CLASSES: Final = "/apis/scheduling.k8s.io/v1/priorityclasses"
QUOTAS: Final = f"{CORE}/resourcequotas"
LIMIT_RANGES: Final = f"{CORE}/limitranges"

SECRET: Final = {"name": "s", "namespace": "n"}
EUI: Final = "eui.0123456789abcdef"
IQN: Final = "iqn.2001-04.com.example:storage.disk1"
ZONES: Final = {
    "required": {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]},
                    {"key": "cores", "operator": "Gt", "values": ["4"]},
                    {"key": "example.com/fast", "operator": "Exists"},
                ],
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}],
            }
        ]
    }
}
SOURCES: Final[dict[str, Any]] = {
    "hostPath": {"path": "/data", "type": "Directory"},
    "gcePersistentDisk": {"pdName": "d", "fsType": "ext4", "partition": 1, "readOnly": True},
    "awsElasticBlockStore": {"volumeID": "v", "fsType": "ext4", "partition": 2},
    "glusterfs": {"endpoints": "e", "path": "p", "endpointsNamespace": "n", "readOnly": True},
    "flocker": {"datasetName": "d"},
    "nfs": {"server": "s", "path": "/p", "readOnly": True},
    "rbd": {
        "monitors": ["a:1"],
        "image": "i",
        "fsType": "xfs",
        "pool": "p",
        "user": "u",
        "keyring": "/k",
        "secretRef": SECRET,
        "readOnly": True,
    },
    "quobyte": {"registry": "a:1,[::1]:2", "volume": "v", "user": "u", "group": "g", "tenant": "t"},
    "cephfs": {
        "monitors": ["a"],
        "path": "/p",
        "user": "u",
        "secretFile": "/f",
        "secretRef": SECRET,
        "readOnly": True,
    },
    "iscsi": {
        "targetPortal": "p:1",
        "iqn": IQN,
        "lun": 3,
        "iscsiInterface": "i",
        "fsType": "xfs",
        "portals": ["q:1"],
        "chapAuthDiscovery": True,
        "chapAuthSession": True,
        "secretRef": SECRET,
        "initiatorName": EUI,
    },
    "cinder": {"volumeID": "v", "fsType": "xfs", "readOnly": True, "secretRef": SECRET},
    "fc": {"targetWWNs": ["w"], "lun": 1, "fsType": "xfs", "readOnly": True},
    "flexVolume": {"driver": "d/e", "fsType": "x", "secretRef": SECRET, "options": {"a": "b"}},
    "azureFile": {"secretName": "s", "shareName": "h", "readOnly": True, "secretNamespace": "n"},
    "vsphereVolume": {
        "volumePath": "p",
        "fsType": "x",
        "storagePolicyName": "n",
        "storagePolicyID": "i",
    },
    "photonPersistentDisk": {"pdID": "p", "fsType": "x"},
    "portworxVolume": {"volumeID": "v", "fsType": "x", "readOnly": True},
    "azureDisk": {
        "diskName": "d",
        "diskURI": "https://a.example/d",
        "cachingMode": "ReadOnly",
        "fsType": "ext4",
        "readOnly": True,
        "kind": "Shared",
    },
    "scaleIO": {
        "gateway": "g",
        "system": "s",
        "secretRef": SECRET,
        "sslEnabled": True,
        "protectionDomain": "p",
        "storagePool": "o",
        "storageMode": "ThickProvisioned",
        "volumeName": "v",
        "fsType": "x",
        "readOnly": True,
    },
    "local": {"path": "/mnt/a", "fsType": "ext4"},
    "storageos": {
        "volumeName": "v",
        "volumeNamespace": "n",
        "fsType": "x",
        "readOnly": True,
        "secretRef": {"name": "s", "namespace": "n", "kind": "Secret"},
    },
    "csi": {
        "driver": "csi.example.com",
        "volumeHandle": "h",
        "fsType": "x",
        "readOnly": True,
        "volumeAttributes": {"a": "b"},
        "controllerPublishSecretRef": SECRET,
        "nodeStageSecretRef": SECRET,
        "nodePublishSecretRef": SECRET,
        "controllerExpandSecretRef": SECRET,
        "nodeExpandSecretRef": SECRET,
    },
}

DEPRECATED: Final = frozenset(
    {"cephfs", "glusterfs", "photonPersistentDisk", "rbd", "scaleIO", "storageos"}
)


def volume(metadata: Manifest | None = None, **spec: Any) -> Manifest:
    """Make a volume on the node unless ``spec`` names another source."""
    usual: Manifest = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    if not spec.keys() & SOURCES.keys():
        usual["hostPath"] = {"path": "/data"}
    metadata = {"name": "{namespace}-x"} | (metadata or {})
    return manifest("v1", "PersistentVolume", metadata=metadata, spec=usual | spec)


def claim(metadata: Manifest | None = None, **spec: Any) -> Manifest:
    usual = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return manifest("v1", "PersistentVolumeClaim", metadata=metadata or {}, spec=usual | spec)


def storage_class(metadata: Manifest | None = None, **fields: Any) -> Manifest:
    metadata = {"name": "{namespace}-x"} | (metadata or {})
    usual = {"provisioner": "example.com/disk"}
    return manifest("storage.k8s.io/v1", "StorageClass", metadata=metadata, **(usual | fields))


def priority_class(metadata: Manifest | None = None, **fields: Any) -> Manifest:
    metadata = {"name": "{namespace}-x"} | (metadata or {})
    usual = {"value": 1000}
    return manifest("scheduling.k8s.io/v1", "PriorityClass", metadata=metadata, **(usual | fields))


def quota(hard: Manifest | None = None, **spec: Any) -> Manifest:
    return manifest("v1", "ResourceQuota", spec={"hard": hard or {"pods": "10"}} | spec)


def limits(*items: Manifest) -> Manifest:
    return manifest("v1", "LimitRange", spec={"limits": list(items)})


def good_storage() -> Iterator[Case]:
    """Yield volumes, claims and storage classes that are accepted."""
    for name, source in SOURCES.items():
        if name in DEPRECATED:
            continue
        body = volume(
            {"name": f"{{namespace}}-{name.lower()}"}, nodeAffinity=ZONES, **{name: source}
        )
        yield f"volume of {name}", VOLUMES, body
    yield "volume of a blob", VOLUMES, volume(azureDisk={"diskName": "d", "diskURI": "https://a"})
    yield "volume of ids", VOLUMES, volume({"name": "{namespace}-fc2"}, fc={"wwids": ["a"]})
    yield (
        "volume with everything",
        VOLUMES,
        volume(
            {"name": "{namespace}-all", "annotations": {"a": "b"}},
            accessModes=["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"],
            claimRef={"kind": "PersistentVolumeClaim", "namespace": "n", "name": "c"},
            persistentVolumeReclaimPolicy="Delete",
            storageClassName="fast",
            mountOptions=["ro"],
            volumeMode="Block",
            volumeAttributesClassName="gold",
            csi={"driver": "Csi.example.com", "volumeHandle": "h"},
        ),
    )
    yield "smallest claim", CLAIMS, claim({"name": "smallest"})
    yield (
        "claim with everything",
        CLAIMS,
        claim(
            {"name": "all"},
            accessModes=["ReadWriteOncePod"],
            selector={
                "matchLabels": {"a": "b"},
                "matchExpressions": [{"key": "c", "operator": "NotIn", "values": ["d"]}],
            },
            resources={"requests": {"storage": "1500M"}, "limits": {"storage": "2Gi"}},
            volumeName="pv",
            storageClassName="fast",
            volumeMode="Block",
            volumeAttributesClassName="gold",
        ),
    )
    old_way = {"kind": "PersistentVolumeClaim", "name": "other"}
    snapshot = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
    populator = {"apiGroup": "example.com", "kind": "Filler", "name": "f"}
    for name, spec in {
        "a-claim": {"dataSource": old_way},
        "a-snapshot": {"dataSource": snapshot},
        "a-reference": {"dataSourceRef": populator},
        "both": {"dataSource": old_way, "dataSourceRef": old_way},
        "something-dropped": {"dataSource": populator},
        "another-namespace": {"dataSourceRef": snapshot | {"namespace": "n"}},
    }.items():
        yield f"claim filled from {name}", CLAIMS, claim({"name": name}, **spec)
    yield "smallest class", STORAGE_CLASSES, storage_class({"name": "{namespace}-small"})
    yield (
        "class with everything",
        STORAGE_CLASSES,
        storage_class(
            {"name": "{namespace}-all"},
            provisioner="Example.com/Disk",
            parameters={"type": "ssd", "iops": "3"},
            reclaimPolicy="Retain",
            mountOptions=["ro"],
            allowVolumeExpansion=True,
            volumeBindingMode="WaitForFirstConsumer",
            allowedTopologies=[
                {
                    "matchLabelExpressions": [
                        {"key": "zone", "values": ["a", "b"]},
                        {"key": "rack", "values": ["1"]},
                    ]
                },
                {"matchLabelExpressions": [{"key": "zone", "values": ["c"]}]},
            ],
        ),
    )


def deprecated_storage() -> Iterator[Case]:
    """Yield volumes that are accepted with a warning; the development server sends none."""
    for name in sorted(DEPRECATED):
        body = volume({"name": f"{{namespace}}-{name.lower()}"}, **{name: SOURCES[name]})
        yield f"volume of {name}", VOLUMES, body
    recycled = volume({"name": "{namespace}-r"}, persistentVolumeReclaimPolicy="Recycle")
    yield "volume recycled", VOLUMES, recycled


def good_shares() -> Iterator[Case]:
    """Yield quotas, ranges of limits and priority classes that are accepted."""
    yield "plain priority", PRIORITY_CLASSES, priority_class({"name": "{namespace}-plain"})
    yield (
        "priority with everything",
        PRIORITY_CLASSES,
        priority_class(
            {"name": "{namespace}-all"},
            value=-5,
            description="low",
            preemptionPolicy="Never",
        ),
    )
    yield "quota of nothing", QUOTAS, quota() | {"metadata": {"name": "nothing"}, "spec": {}}
    yield (
        "quota of everything",
        QUOTAS,
        quota(
            {
                "cpu": "1",
                "requests.memory": "1Gi",
                "limits.cpu": "1500m",
                "pods": "1000",
                "services.nodeports": "1000",
                "requests.storage": "1Ti",
                "count/jobs.batch": 9,
                "requests.example.com/gpu": 4,
                "hugepages-2Mi": "4Mi",
                "secrets": "1000",
                "gold.storageclass.storage.k8s.io/requests.storage": "1Gi",
            }
        ),
    )
    yield (
        "quota with scopes",
        QUOTAS,
        quota({"pods": "1000", "requests.cpu": "100"}, scopes=["NotTerminating", "NotBestEffort"])
        | {"metadata": {"name": "scopes"}},
    )
    yield (
        "quota with a selector",
        QUOTAS,
        quota(
            {"pods": "1000", "cpu": "100"},
            scopeSelector={
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]},
                    {"scopeName": "Terminating", "operator": "Exists"},
                ]
            },
        )
        | {"metadata": {"name": "selector"}},
    )
    nothing = limits({"type": "Pod"}) | {"metadata": {"name": "nothing"}}
    yield "limits of nothing", LIMIT_RANGES, nothing
    yield (
        "limits of everything",
        LIMIT_RANGES,
        limits(
            {
                "type": "Container",
                "min": {"cpu": "100m", "memory": "1Mi"},
                "max": {"cpu": "2", "memory": "1Gi"},
                "default": {"cpu": "1"},
                "defaultRequest": {"cpu": "500m"},
                "maxLimitRequestRatio": {"cpu": "10"},
            },
            {"type": "Pod", "max": {"cpu": "4", "example.com/gpu": "2"}},
            {"type": "PersistentVolumeClaim", "min": {"storage": "1Mi"}},
            {"type": "example.com/thing", "default": {"storage": "1Gi"}},
        ),
    )
