"""Volumes, claims and storage classes that are refused because of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import Case
from tests.real.good_storage import (
    CLAIMS,
    IQN,
    SOURCES,
    STORAGE_CLASSES,
    VOLUMES,
    ZONES,
    claim,
    storage_class,
    volume,
)

CSI: Final = {"driver": "d", "volumeHandle": "h"}
MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
# Sources that need something: without anything, and with each thing that is wrong.
BAD_SOURCES: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "hostPath": ({"path": ""}, {"path": "/a/../b"}, {"path": "/a", "type": "Sofa"}),
    "gcePersistentDisk": ({"pdName": "", "partition": 256}, {"pdName": "d", "partition": -1}),
    "awsElasticBlockStore": ({"volumeID": "", "partition": 256},),
    "glusterfs": (
        {"endpoints": "", "path": ""},
        {"endpoints": "e", "path": "p", "endpointsNamespace": ""},
        {"endpoints": "e", "path": "p", "endpointsNamespace": "a.b"},
    ),
    "flocker": ({}, {"datasetName": "a/b", "datasetUUID": "c"}),
    "nfs": ({"server": "", "path": ""}, {"server": "s", "path": "p"}),
    "rbd": ({"monitors": [], "image": ""},),
    "quobyte": (
        {"registry": "", "volume": ""},
        {"registry": "a:1,b", "volume": "v"},
        {"registry": "[a]b:1", "volume": "v"},
        {"registry": "a:b:1", "volume": "v"},
        {"registry": "[a:1", "volume": "v"},
        {"registry": "a:1", "volume": "v", "tenant": "t" * 65},
    ),
    "cephfs": ({"monitors": []},),
    "iscsi": (
        {"targetPortal": "", "iqn": "", "lun": 256},
        {"targetPortal": "p", "iqn": "nope", "lun": -1, "chapAuthSession": True},
        {"targetPortal": "p", "iqn": "iqn.1:x", "lun": 0, "secretRef": {}},
        {"targetPortal": "p", "iqn": "eui.12", "lun": 0, "initiatorName": "naa.12"},
        {"targetPortal": "p" * 64, "iqn": IQN, "lun": 0, "initiatorName": IQN},
    ),
    "cinder": ({"volumeID": "", "secretRef": {}},),
    "fc": (
        {},
        {"targetWWNs": ["a"]},
        {"targetWWNs": ["a"], "wwids": ["b"], "lun": 256},
    ),
    "flexVolume": ({"driver": "", "options": {"k8s.io/a": "b"}},),
    "azureFile": ({"secretName": "", "shareName": "", "secretNamespace": ""},),
    "vsphereVolume": ({"volumePath": ""},),
    "photonPersistentDisk": ({"pdID": ""},),
    "portworxVolume": ({"volumeID": ""},),
    "azureDisk": (
        {"diskName": "", "diskURI": "", "cachingMode": "Often", "kind": "Round"},
        {"diskName": "d", "diskURI": "https://a", "kind": "Managed"},
        {"diskName": "d", "diskURI": "/subscriptions/a", "cachingMode": ""},
    ),
    "scaleIO": ({"gateway": "", "system": "", "secretRef": None},),
    "local": ({"path": ""}, {"path": "a/.."}),
    "storageos": (
        {"secretRef": {}},
        {"volumeName": "A", "volumeNamespace": "a.b"},
    ),
    "csi": (
        {"driver": "", "volumeHandle": ""},
        {"driver": "a_" * 40, "volumeHandle": "h"},
        CSI | {"controllerPublishSecretRef": {}, "nodeStageSecretRef": {}},
        CSI | {"controllerExpandSecretRef": {"name": "A_", "namespace": "a.b"}},
        CSI | {"nodePublishSecretRef": {}, "nodeExpandSecretRef": {}},
    ),
}
_FIELD: Final = {"key": "metadata.name", "operator": "In"}
BAD_TERMS: Final[tuple[dict[str, Any], ...]] = (
    {"matchExpressions": [{"key": "a b", "operator": "In", "values": []}]},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]},
    {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["1", "2"]}]},
    {"matchExpressions": [{"key": "a", "operator": "Near"}]},
    {"matchFields": [{"key": "metadata.uid", "operator": "Exists"}]},
    {"matchFields": [_FIELD | {"values": ["a", "b"]}]},
    {"matchFields": [_FIELD | {"values": ["A_"]}]},
)


def bad_storage() -> Iterator[Case]:
    """Yield volumes, claims and storage classes that are refused."""
    yield from _bad_volumes()
    yield from _bad_claims()
    yield from _bad_classes()


def _bad_volumes() -> Iterator[Case]:
    def case(title: str, metadata: Any = None, /, **spec: Any) -> Case:
        return title, VOLUMES, volume(metadata, **spec)

    for name, sources in BAD_SOURCES.items():
        for number, source in enumerate(sources):
            yield case(f"bad {name} {number}", nodeAffinity=ZONES, **{name: source})
    for number, term in enumerate(BAD_TERMS):
        affinity = {"required": {"nodeSelectorTerms": [term]}}
        yield case(f"bad node selector {number}", nodeAffinity=affinity)
    yield case("volume without a name", {"name": ""})
    yield case("volume with a bad name", {"name": "A_"})
    yield "volume of nothing", VOLUMES, volume() | {"spec": {}}
    every = {name: source for name, source in SOURCES.items() if name != "flexVolume"}
    yield case("volume of everything", nodeAffinity=ZONES, **every)
    yield case("volume of two, one flexible", hostPath={"path": "/"}, flexVolume={"driver": ""})
    yield case("local volume anywhere", local={"path": "/a"})
    yield case("volume without modes", accessModes=[])
    yield case("volume with unknown modes", accessModes=["ReadWriteOften", "ReadWriteOncePod"])
    yield case("volume for one pod and more", accessModes=["ReadWriteOncePod", "ReadOnlyMany"])
    yield case("volume of no size", capacity={"storage": "0"})
    yield case("volume of less", capacity={"storage": "-1500m"})
    yield case("volume with more than room", capacity={"storage": "1", "cpu": "-1"})
    yield case("volume with something else", capacity={"pods": "1"})
    yield case("volume reclaimed badly", persistentVolumeReclaimPolicy="Burn")
    yield case("root recycled", persistentVolumeReclaimPolicy="Recycle", hostPath={"path": "/./"})
    yield case("volume near nothing", nodeAffinity={})
    yield case("volume near no term", nodeAffinity={"required": {"nodeSelectorTerms": []}})
    yield case("volume of a bad class", storageClassName="A_")
    yield case("volume in a bad mode", volumeMode="Tape")
    yield case("volume with empty attributes", volumeAttributesClassName="")
    yield case("volume with bad attributes", volumeAttributesClassName="A_", csi=CSI)
    yield case("mount options for a folder", {"annotations": {MOUNT_OPTIONS: "ro"}})


def _bad_claims() -> Iterator[Case]:
    def case(title: str, /, **spec: Any) -> Case:
        return title, CLAIMS, claim(**spec)

    yield "claim of nothing", CLAIMS, claim() | {"spec": {}}
    yield case("claim with unknown modes", accessModes=["ReadWriteOften"])
    yield case("claim for one pod and more", accessModes=["ReadWriteOncePod", "ReadWriteOnce"])
    yield case("claim of no size", resources={"requests": {"storage": "0"}})
    yield case("claim of less", resources={"requests": {"storage": "-1Gi"}})
    yield case("claim of cpu", resources={"requests": {"cpu": "1"}})
    yield case(
        "claim with a bad selector",
        selector={
            "matchLabels": {"a b": "c d"},
            "matchExpressions": [{"key": "a", "operator": "In"}],
        },
    )
    yield case("claim of a bad class", storageClassName="A_")
    yield case("claim in a bad mode", volumeMode="Tape")
    yield case("claim in an empty mode", volumeMode="")
    yield case("claim with bad attributes", volumeAttributesClassName="A_")
    yield case("claim filled from nothing", dataSourceRef={"kind": "", "name": ""})
    yield case("claim filled from a pod", dataSourceRef={"kind": "Pod", "name": "p"})
    bad_group = {"apiGroup": "A_", "kind": "Pod", "name": "p"}
    yield case("claim filled from a bad group", dataSourceRef=bad_group)
    other = {"kind": "PersistentVolumeClaim", "name": "a"}
    yield case("claim filled twice", dataSource=other, dataSourceRef=other | {"name": "b"})


def _bad_classes() -> Iterator[Case]:
    def case(title: str, /, **fields: Any) -> Case:
        return title, STORAGE_CLASSES, storage_class(**fields)

    def topologies(*terms: dict[str, list[str]]) -> list[dict[str, Any]]:
        return [
            {
                "matchLabelExpressions": [
                    {"key": key, "values": values} for key, values in term.items()
                ]
            }
            for term in terms
        ]

    yield case("class without a provisioner", provisioner="")
    yield case("class of a bad provisioner", provisioner="A b/C")
    yield case("class reclaimed badly", reclaimPolicy="Recycle")
    yield case("class bound badly", volumeBindingMode="Never")
    yield case("class bound emptily", volumeBindingMode="")
    yield case("class with an unnamed parameter", parameters={"": "a"})
    yield case("class with long parameters", parameters={"a": "b" * 262144})
    yield case("class with many parameters", parameters={f"a{i}": "" for i in range(513)})
    yield case("class nowhere", allowedTopologies=topologies({}))
    yield case("class near bad labels", allowedTopologies=topologies({"a b": [], "c": ["d", "d"]}))
    twice = topologies({"a": ["b", "c"]}, {"a": ["c", "b"]})
    yield case("class twice in a place", allowedTopologies=twice)
    same_key = {"key": "a", "values": ["b"]}
    doubled = [{"matchLabelExpressions": [same_key, same_key]}]
    yield case("class with a key twice", allowedTopologies=doubled)
