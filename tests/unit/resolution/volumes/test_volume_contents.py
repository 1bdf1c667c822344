"""The files of volumes of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.volumes.volume_contents import configuration_volumes, kind_of, resolve_volume
from tests.unit.resolution.scenes import NODE, config_map, pod_with, secret

SOURCES: dict[str, dict[str, Any]] = {
    "configMap": {"name": "settings", "defaultMode": 0o644},
    "secret": {"secretName": "credentials", "defaultMode": 0o600},
    "downwardAPI": {
        "items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}],
        "defaultMode": 0o644,
    },
    "projected": {"sources": [{"configMap": {"name": "settings"}}], "defaultMode": 0o444},
}
POD = pod_with(
    securityContext={"fsGroup": 2000, "runAsUser": 1000},
    volumes=[
        *({"name": kind, kind: source} for kind, source in SOURCES.items()),
        {"name": "scratch", "emptyDir": {}},
    ],
)
OBJECTS = ObjectsInHand([config_map(a="1"), secret(a=b"2")])


@pytest.mark.parametrize(
    ("kind", "data", "mode", "in_memory"),
    [
        ("configMap", b"1", 0o644, False),
        ("secret", b"2", 0o600, True),
        ("downwardAPI", b"web-0", 0o644, True),
        ("projected", b"1", 0o444, True),
    ],
)
def test_every_kind_of_configuration_is_filled(
    kind: str, data: bytes, mode: int, in_memory: bool
) -> None:
    contents = resolve_volume(POD, kind, OBJECTS, node=NODE)

    assert (contents.volume, contents.kind, contents.in_memory) == (kind, kind, in_memory)
    assert {path: (file.data, file.mode) for path, file in contents.files.items()} == {
        "a": (data, mode)
    }
    assert (contents.error, contents.fs_group, contents.user) == (None, 2000, 1000)


def test_several_errors_of_a_downward_volume_are_one() -> None:
    items = [{"path": path, "fieldRef": {"fieldPath": f"spec.{path}"}} for path in ("x", "y", "x")]
    volume = {"name": "v", "downwardAPI": {"items": items, "defaultMode": 0o644}}

    contents = resolve_volume(pod_with(volumes=[volume]), "v", OBJECTS)

    assert contents.error == "[unsupported fieldPath: spec.x, unsupported fieldPath: spec.y]"
    assert len(contents.problems) == 3


def test_a_volume_that_holds_no_configuration_is_not_filled() -> None:
    contents = resolve_volume(POD, "scratch", OBJECTS)

    assert (contents.kind, contents.error) == (
        "",
        "volume scratch is not supported: Reflet cannot fill it",
    )


def test_an_unknown_volume_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_volume(POD, "x", OBJECTS)

    assert str(caught.value) == (
        "pod web-0 has no volume 'x'; it has configMap, secret, downwardAPI, projected, scratch"
    )


def test_a_pod_without_volumes_says_so() -> None:
    with pytest.raises(ConfigurationError, match="it has no volumes"):
        resolve_volume(pod_with(), "x", OBJECTS)


def test_the_volumes_with_configuration_are_known() -> None:
    assert configuration_volumes(POD) == tuple(SOURCES)
    assert [kind_of(volume) for volume in POD.spec.volumes] == [*SOURCES, ""]


def test_without_an_api_server_a_volume_has_no_files() -> None:
    contents = resolve_volume(POD, "configMap", None)

    assert contents.error == "not supported due to running kubelet in standalone mode"
