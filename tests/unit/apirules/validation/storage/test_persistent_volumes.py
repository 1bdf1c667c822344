from __future__ import annotations

import copy
from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.storage.persistent_volumes import (
    MOUNT_OPTIONS,
    check_persistent_volume,
    check_persistent_volume_change,
    check_volume_spec,
    has_bad_node_labels,
)
from tests.unit.devserver.object_scene import complaints, created, kind_of

KIND = kind_of("persistentvolumes")
CSI = {"driver": "d", "volumeHandle": "h"}
SECRET = {"name": "s", "namespace": "n"}


def volume(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    if "csi" not in spec:
        usual["hostPath"] = {"path": "/data"}
    metadata = {"name": "x", "annotations": annotations or {}}
    return created(KIND, {"metadata": metadata, "spec": usual | spec})


def near(key: str, *values: str) -> dict[str, Any]:
    requirement = {"key": key, "operator": "In", "values": list(values)}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}}


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_persistent_volume(volume(**spec), errors)
    return complaints(errors)


def wrong_with_change(old: dict[str, Any], **spec: Any) -> list[str]:
    new = copy.deepcopy(old)
    new["spec"] |= spec
    for name in [name for name, value in spec.items() if value is None]:
        del new["spec"][name]
    errors = FieldErrors()
    schema = KIND.schema.field("spec")
    assert schema is not None
    check_persistent_volume_change(schema, new, old, errors)
    return complaints(errors)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"accessModes": ["ReadWriteOncePod"]},
        {"accessModes": ["ReadOnlyMany", "ReadWriteMany"], "volumeMode": "Block"},
        {"persistentVolumeReclaimPolicy": "Recycle", "storageClassName": "fast"},
        {"nodeAffinity": near("zone", "a")},
        {"csi": CSI, "volumeAttributesClassName": "gold"},
    ],
)
def test_usual_volumes_are_fine(spec: dict[str, Any]) -> None:
    assert wrong_with(**spec) == []


MODES = '"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"accessModes": []}, ["spec.accessModes: Required value"]),
        (
            {"accessModes": ["Often", "ReadWriteOncePod"]},
            [f'spec.accessModes: Unsupported value: "Often": supported values: {MODES}'],
        ),
        (
            {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]},
            [
                "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
            ],
        ),
        (
            {"capacity": {}},
            [
                "spec.capacity: Required value",
                'spec.capacity: Unsupported value: null: supported values: "storage"',
            ],
        ),
        (
            {"capacity": {"storage": "-2", "cpu": "0"}},
            [
                (
                    'spec.capacity: Unsupported value: {"cpu":"0","storage":"-2"}: '
                    'supported values: "storage"'
                ),
                'spec.capacity[cpu]: Invalid value: "0": must be greater than zero',
                "spec.capacity[storage]: Invalid value: -2: must be a valid resource quantity",
                'spec.capacity[storage]: Invalid value: "-2": must be greater than zero',
            ],
        ),
        (
            {"persistentVolumeReclaimPolicy": "Burn"},
            [
                (
                    'spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": '
                    'supported values: "Delete", "Recycle", "Retain"'
                ),
            ],
        ),
        (
            {"nodeAffinity": {}},
            ["spec.nodeAffinity.required: Required value: must specify required node constraints"],
        ),
        (
            {"hostPath": {"path": "/a/.."}, "persistentVolumeReclaimPolicy": "Recycle"},
            [
                "spec.hostPath.path: Invalid value: \"/a/..\": must not contain '..'",
                (
                    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a "
                    "hostPath "
                    "mount of '/'"
                ),
            ],
        ),
        (
            {"volumeMode": "Tape"},
            [
                (
                    'spec.volumeMode: Unsupported value: "Tape": supported values: "Block", '
                    '"Filesystem"'
                ),
            ],
        ),
        (
            {"volumeAttributesClassName": ""},
            [
                "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
                (
                    "spec.csi: Required value: has to be specified when using "
                    "volumeAttributesClassName"
                ),
            ],
        ),
    ],
)
def test_what_is_wrong_is_said(spec: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(**spec) == wrong


def test_only_what_is_mounted_has_mount_options() -> None:
    errors = FieldErrors()
    check_persistent_volume(volume({MOUNT_OPTIONS: "ro"}), errors)
    nfs = volume({MOUNT_OPTIONS: "ro"}, hostPath=None, nfs={"server": "s", "path": "/"})
    check_persistent_volume(nfs, errors)

    assert complaints(errors) == [
        (
            f"metadata.annotations.{MOUNT_OPTIONS}: Forbidden: may not specify mount "
            "options for this "
            "volume type"
        )
    ]


def test_labels_of_nodes_that_were_wrong_may_stay_so() -> None:
    bad = volume(nodeAffinity=near("zone", "a b"))
    errors = FieldErrors()

    check_volume_spec(bad, errors, any_value=has_bad_node_labels(bad))

    assert not errors
    assert not has_bad_node_labels(volume(nodeAffinity=near("zone", "a")))


def test_a_volume_stays_made_of_the_same_thing() -> None:
    (wrong,) = wrong_with_change(volume(), hostPath={"path": "/other", "type": ""})

    assert wrong == (
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
        'creation\n@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n'
        '  "AWSElasticBlockStore": null,\n  "HostPath": {\n-  "Path": "/data",\n'
        '+  "Path": "/other",\n   "Type": ""\n  },\n  "Glusterfs": null,\n'
    )


def test_a_volume_may_grow_and_be_claimed() -> None:
    changed = {"capacity": {"storage": "2Gi"}, "claimRef": {"name": "c"}, "storageClassName": "b"}

    assert wrong_with_change(volume(), **changed) == []


def test_a_file_system_stays_one() -> None:
    assert wrong_with_change(volume(), volumeMode="Block") == [
        'volumeMode: Invalid value: "Block": field is immutable'
    ]


def test_the_secret_for_expansion_may_come_later_and_not_change() -> None:
    with_secret = CSI | {"controllerExpandSecretRef": SECRET}

    assert wrong_with_change(volume(csi=CSI), csi=with_secret) == []
    assert len(wrong_with_change(volume(csi=with_secret), csi=CSI)) == 1


def test_the_first_affinity_may_be_any_and_stays() -> None:
    here, there = near("zone", "a"), near("zone", "b")

    assert wrong_with_change(volume(), nodeAffinity=here) == []
    assert wrong_with_change(volume(nodeAffinity=here), nodeAffinity=there) == [
        (
            'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":'
            '[{"Key":"zone","Operator":"In","Values":["b"]}],"MatchFields":null}]}}: '
            "field is immutable, except for updating from beta label to GA"
        )
    ]
    (gone,) = wrong_with_change(volume(nodeAffinity=here), nodeAffinity=None)
    assert gone.startswith("nodeAffinity: Invalid value: null: ")


def test_old_labels_of_nodes_may_be_renewed() -> None:
    old, new = (near(f"{key}/zone", "a") for key in ("failure-domain.beta.kubernetes.io", TOPOLOGY))

    assert wrong_with_change(volume(nodeAffinity=old), nodeAffinity=new) == []
    assert len(wrong_with_change(volume(nodeAffinity=new), nodeAffinity=old)) == 1


TOPOLOGY = "topology.kubernetes.io"


def test_attributes_are_not_taken_away() -> None:
    old = volume(csi=CSI, volumeAttributesClassName="gold")

    assert wrong_with_change(old, volumeAttributesClassName="silver") == []
    assert wrong_with_change(old, volumeAttributesClassName=None) == [
        "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"
    ]
