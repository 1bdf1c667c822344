from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.storage.persistent_volume_sources import (
    SOURCES,
    check_driver,
    check_source,
)
from tests.unit.devserver.object_scene import complaints

IQN = "iqn.2001-04.com.example:disk"
GOOD: dict[str, Any] = {
    "hostPath": {"path": "/a"},
    "gcePersistentDisk": {"pdName": "d", "partition": 255},
    "awsElasticBlockStore": {"volumeID": "v"},
    "glusterfs": {"endpoints": "e", "path": "p", "endpointsNamespace": "n"},
    "flocker": {"datasetUUID": "u"},
    "nfs": {"server": "s", "path": "/"},
    "rbd": {"monitors": ["m"], "image": "i"},
    "quobyte": {"registry": "a:1,[::1]:2", "volume": "v", "tenant": "t" * 64},
    "cephfs": {"monitors": ["m"]},
    "iscsi": {"targetPortal": "p", "iqn": IQN, "lun": 255, "initiatorName": "naa." + "1" * 32},
    "cinder": {"volumeID": "v"},
    "fc": {"wwids": ["w"]},
    "flexVolume": {"driver": "d", "options": {"example.io/a": "b"}},
    "azureFile": {"secretName": "s", "shareName": "h"},
    "vsphereVolume": {"volumePath": "p"},
    "photonPersistentDisk": {"pdID": "p"},
    "portworxVolume": {"volumeID": "v"},
    "azureDisk": {"diskName": "d", "diskURI": "/subscriptions/a", "kind": "Managed"},
    "scaleIO": {"gateway": "g", "system": "s", "volumeName": "v"},
    "local": {"path": "/a"},
    "storageos": {"volumeName": "v"},
    "csi": {"driver": "CSI.example.com", "volumeHandle": "h", "nodeStageSecretRef": {}},
}


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_source({"nodeAffinity": {}} | spec, "x", errors)
    return complaints(errors)


def test_every_source_has_its_rules() -> None:
    assert GOOD.keys() == set(SOURCES)


@pytest.mark.parametrize("name", GOOD)
def test_good_sources_are_fine(name: str) -> None:
    assert wrong_with(**{name: GOOD[name]}) == []


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("hostPath", {"path": ""}, ["hostPath.path: Required value"]),
        (
            "gcePersistentDisk",
            {"partition": 256},
            [
                "persistentDisk.pdName: Required value",
                (
                    "persistentDisk.partition: Invalid value: 256: must be between 1 and 255, "
                    "inclusive"
                ),
            ],
        ),
        (
            "glusterfs",
            {"endpoints": "e", "path": "p", "endpointsNamespace": ""},
            [
                (
                    'glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace '
                    "is set, "
                    "it must be a valid namespace name"
                )
            ],
        ),
        (
            "flocker",
            {},
            ["flocker: Required value: one of datasetName and datasetUUID is required"],
        ),
        (
            "flocker",
            {"datasetName": "a/b", "datasetUUID": "c"},
            [
                (
                    'flocker: Invalid value: "resource": datasetName and datasetUUID can not be '
                    "specified simultaneously"
                ),
                "flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
            ],
        ),
        (
            "nfs",
            {"server": "s", "path": "p"},
            ['nfs.path: Invalid value: "p": must be an absolute path'],
        ),
        (
            "iscsi",
            {"targetPortal": "p", "iqn": "iqn.1:x", "lun": -1, "chapAuthSession": True},
            [
                'iscsi.iqn: Invalid value: "iqn.1:x": must be valid format',
                "iscsi.lun: Invalid value: -1: must be between 0 and 255, inclusive",
                "iscsi.secretRef: Required value",
            ],
        ),
        (
            "cinder",
            {"volumeID": "v", "secretRef": {}},
            ["cinder.secretRef.name: Required value", "cinder.secretRef.namespace: Required value"],
        ),
        (
            "fc",
            {"targetWWNs": ["a"]},
            ["fc.lun: Required value: lun is required if targetWWNs is specified"],
        ),
        (
            "flexVolume",
            {"driver": "d", "options": {"K8s.io/a": "b"}},
            [
                (
                    'flexVolume.options[K8s.io/a]: Invalid value: "K8s.io/a": kubernetes.io and '
                    "k8s.io "
                    "namespaces are reserved"
                )
            ],
        ),
        (
            "azureDisk",
            {"diskName": "d", "diskURI": "u", "kind": "Managed", "cachingMode": ""},
            [
                (
                    'azureDisk.cachingMode: Unsupported value: "": supported values: "None", '
                    '"ReadOnly", "ReadWrite"'
                ),
                (
                    'azureDisk.diskURI: Unsupported value: "u": supported values: '
                    '"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/'
                    'microsoft.compute/disks/{disk-id}"'
                ),
            ],
        ),
        ("local", {"path": "../a"}, ["local.path: Invalid value: \"../a\": must not contain '..'"]),
        (
            "csi",
            {"driver": "d", "volumeHandle": "h", "nodeExpandSecretRef": {"namespace": "n"}},
            ["csi.nodeExpandSecretRef.name: Required value"],
        ),
    ],
)
def test_what_is_wrong_is_said(name: str, source: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(**{name: source}) == [f"spec.{each}" for each in wrong]


@pytest.mark.parametrize("registry", ["a", "a:b:1", "[a:1", "[a]b:1", "a]:1", "a:1,", "::1"])
def test_registries_are_hosts_with_ports(registry: str) -> None:
    (wrong,) = wrong_with(quobyte={"registry": registry, "volume": "v"})

    assert wrong.startswith("spec.quobyte.registry: Invalid value: ")


def test_a_volume_is_made_of_one_thing() -> None:
    assert wrong_with() == ["spec: Required value: must specify a volume type"]
    assert wrong_with(hostPath=GOOD["hostPath"], cephfs={}) == [
        "spec.cephFS: Forbidden: may not specify more than 1 volume type"
    ]


def test_a_flexible_volume_may_be_the_second() -> None:
    assert wrong_with(hostPath=GOOD["hostPath"], flexVolume=GOOD["flexVolume"]) == []


def test_a_local_volume_is_somewhere() -> None:
    assert wrong_with(local={"path": "/a"}, nodeAffinity=None) == [
        "spec.nodeAffinity: Required value: Local volume requires node affinity"
    ]


def test_the_names_of_a_session_are_short() -> None:
    source = GOOD["iscsi"] | {"targetPortal": "p" * 63}

    assert "must be under 64 characters" in wrong_with(iscsi=source)[0]
    assert wrong_with(iscsi=source | {"initiatorName": None}) == []


def test_a_driver_has_a_short_name() -> None:
    errors = FieldErrors()
    check_driver("a" * 64, "d", errors)

    assert complaints(errors) == ["d: Too long: may not be more than 63 bytes"]
