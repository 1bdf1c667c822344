"""Files of the downward API."""

from __future__ import annotations

from typing import Any

import msgspec

from reflet.api.core.volumes import DownwardAPIVolumeFile
from reflet.resolution.origins import FieldOrigin, ResourceOrigin, ValueOrigin
from reflet.resolution.places import Place
from reflet.resolution.problems import NotKnownYet
from reflet.resolution.resource_fields import UNKNOWN_NODE, NodeInHand
from reflet.resolution.volumes.downward_contents import downward_files
from reflet.resolution.volumes.file_contents import Filling
from tests.unit.resolution.scenes import NODE, pod_with

POD = pod_with({"resources": {"limits": {"cpu": "2"}}}, metadata={"labels": {"a": "1"}})
LABELS = {"path": "./labels", "fieldRef": {"fieldPath": "metadata.labels"}}
CPU = {"path": "cpu", "resourceFieldRef": {"containerName": "web", "resource": "limits.cpu"}}
MEMORY = {"path": "mem", "resourceFieldRef": {"containerName": "web", "resource": "limits.memory"}}


def filled(*items: dict[str, Any], mode: int | None = 0o644, node: NodeInHand = NODE) -> Filling:
    files = msgspec.convert(items, tuple[DownwardAPIVolumeFile, ...])
    place = Place(path="spec.volumes[0].downwardAPI", volume="v")
    return downward_files(POD, files, default_mode=mode, node=node, place=place)


def test_fields_and_resources_are_files_at_their_cleaned_paths() -> None:
    filling = filled(LABELS, {**CPU, "mode": 0o400}, {"path": "empty"})

    assert {path: (file.data, file.mode) for path, file in filling.files.items()} == {
        "labels": (b'a="1"', 0o644),
        "cpu": (b"2", 0o400),
        "empty": (b"", 0o644),
    }
    assert [file.origin for file in filling.files.values()] == [
        FieldOrigin(path="metadata.labels", namespace="shop", name="web-0", resource_version="7"),
        ResourceOrigin(resource="limits.cpu", container="web"),
        ValueOrigin(),
    ]


def test_all_errors_are_collected() -> None:
    filling = filled(
        {"path": "a", "fieldRef": {"fieldPath": "spec.nodeName"}},
        LABELS,
        {"path": "b", "resourceFieldRef": {"containerName": "x", "resource": "limits.cpu"}},
    )

    assert filling.errors == ("unsupported fieldPath: spec.nodeName", "container x not found")
    assert [problem.place.path for problem in filling.problems] == [
        "spec.volumes[0].downwardAPI.items[0]",
        "spec.volumes[0].downwardAPI.items[2]",
    ]


def test_without_a_mode_the_kubelet_looks_no_further() -> None:
    filling = filled({"path": "a", "fieldRef": {"fieldPath": "spec.nodeName"}}, mode=None)

    assert filling.errors == ("no defaultMode used, not even the default value for it",)
    assert len(filling.problems) == 2


def test_what_only_the_node_could_tell_is_empty_and_told() -> None:
    filling = filled(CPU, MEMORY, node=UNKNOWN_NODE)

    assert filling.errors == ()
    assert [(file.data, file.known) for file in filling.files.values()] == [
        (b"2", True),
        (b"", False),
    ]
    assert [type(problem) for problem in filling.problems] == [NotKnownYet]


def test_the_name_of_a_pod_that_is_not_made_yet_is_empty_and_told() -> None:
    items = msgspec.convert(
        [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}],
        tuple[DownwardAPIVolumeFile, ...],
    )
    pod = pod_with(metadata={"name": "", "generateName": "web-"})

    filling = downward_files(pod, items, default_mode=0o644, node=NODE, place=Place(volume="v"))

    assert (filling.files["n"].data, filling.files["n"].known, filling.errors) == (b"", False, ())
    assert [type(problem) for problem in filling.problems] == [NotKnownYet]
