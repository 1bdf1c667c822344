"""The recorded files of volumes, and the directories that other mounts need in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.containers import Container, VolumeMount
from reflet.api.core.pods import Pod, PodSecurityContext, PodSpec
from reflet.api.core.volumes import (
    ConfigMapVolumeSource,
    KeyToPath,
    ProjectedVolumeSource,
    SecretVolumeSource,
    ServiceAccountTokenProjection,
    Volume,
    VolumeProjection,
)
from reflet.api.meta import ObjectMeta
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.problems import InvalidMountPoint
from reflet.resolution.volumes.sub_paths import nested_mount_points
from reflet.resolution.volumes.volume_contents import resolve_volume

DATA = Path(__file__).parent / "data"
RECORDED = json.loads((DATA / "payloads.json").read_text())
NESTED = json.loads((DATA / "scenarios.json").read_text())["nested_mountpoints"]


def in_bytes(data: dict[str, str] | None) -> dict[str, bytes]:
    return {key: value.encode() for key, value in (data or {}).items()}


def expected_files(case: dict[str, Any]) -> dict[str, tuple[bytes, int]]:
    return {
        path: (file["data"].encode(), int(file["mode"], 8)) for path, file in case["expect"].items()
    }


@pytest.mark.parametrize(
    "case", RECORDED["cases"], ids=lambda case: f"{case['kind']}-{case['name']}"
)
def test_recorded(case: dict[str, Any]) -> None:
    metadata = ObjectMeta(namespace="ns", name="object")
    items = tuple(
        KeyToPath(
            key=item["key"],
            path=item["path"],
            mode=int(item["mode"], 8) if "mode" in item else None,
        )
        for item in case["items"] or ()
    )
    mode = int(case["defaultMode"], 8)
    if case["kind"] == "ConfigMap":
        objects = ObjectsInHand(
            [
                ConfigMap(
                    metadata=metadata, data=case["data"], binary_data=in_bytes(case["binaryData"])
                )
            ]
        )
        volume = Volume(
            name="v",
            config_map=ConfigMapVolumeSource(
                name="object", items=items, default_mode=mode, optional=case["optional"]
            ),
        )
    else:
        objects = ObjectsInHand([Secret(metadata=metadata, data=in_bytes(case["data"]))])
        volume = Volume(
            name="v",
            secret=SecretVolumeSource(
                secret_name="object", items=items, default_mode=mode, optional=case["optional"]
            ),
        )
    pod = Pod(metadata=ObjectMeta(namespace="ns", name="p"), spec=PodSpec(volumes=(volume,)))

    contents = resolve_volume(pod, "v", objects)

    files = {path: (file.data, file.mode) for path, file in contents.files.items()}
    assert (files, contents.error, contents.problems) == (expected_files(case), None, ())


@pytest.mark.parametrize("case", RECORDED["serviceAccountToken"], ids=lambda case: case["name"])
def test_recorded_token(case: dict[str, Any]) -> None:
    recorded = case["expect"]["token"]["data"]
    namespace, account, expiration, *audiences = recorded.split(":", 3)
    audience = audiences[0].strip("[]")
    # The default life is not written down, so that it has to be filled in.
    seconds = None if expiration == "3600" else int(expiration)
    token = ServiceAccountTokenProjection(
        audience=audience, expiration_seconds=seconds, path="token"
    )
    projected = ProjectedVolumeSource(
        sources=(VolumeProjection(service_account_token=token),), default_mode=0o644
    )
    pod = Pod(
        metadata=ObjectMeta(namespace=namespace, name="p"),
        spec=PodSpec(
            service_account_name=account,
            security_context=PodSecurityContext(
                fs_group=case["fsGroup"], run_as_user=case["fsUser"]
            ),
            containers=(Container(name="c"),),
            volumes=(Volume(name="v", projected=projected),),
        ),
    )

    contents = resolve_volume(
        pod,
        "v",
        ObjectsInHand(),
        token=lambda *asked: f"{namespace}:{account}:{asked[1]}:[{asked[0]}]",
    )

    files = {path: (file.data, file.mode) for path, file in contents.files.items()}
    assert (files, contents.error) == (expected_files(case), None)
    assert [file.user for file in contents.files.values()] == [case["fsUser"]]


@pytest.mark.parametrize(
    "case", NESTED["cases"], ids=lambda case: " ".join(path for path, _ in case["mounts"])
)
def test_recorded_mount_points(case: dict[str, Any]) -> None:
    mounts = tuple(VolumeMount(name=name, mount_path=path) for path, name in case["mounts"])
    pod = Pod(spec=PodSpec(containers=(Container(name="c", volume_mounts=mounts),)))

    found = nested_mount_points(pod, NESTED["volume"])

    if isinstance(found, InvalidMountPoint):
        assert case["expect"] == "error"
    else:
        assert list(found) == case["expect"]
