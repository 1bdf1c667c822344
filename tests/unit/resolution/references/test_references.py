"""A pod's references, each with the place, the keys and whether it is optional."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.pods import PodTemplateSpec
from reflet.resolution.places import Place
from reflet.resolution.references.references import (
    Reference,
    Usage,
    config_map_names,
    references_of,
    secret_names,
    visit_secret_names,
)
from tests.unit.resolution.scenes import pod_with, variable


def test_a_variable_refers_to_one_key() -> None:
    key = {"name": "settings", "key": "a", "optional": True}
    pod = pod_with({"env": [{"name": "X"}, variable("A", configMapKeyRef=key)]})

    assert list(references_of(pod)) == [
        Reference(
            kind="ConfigMap",
            name="settings",
            usage=Usage.ENV,
            keys=("a",),
            optional=True,
            place=Place(
                path="spec.containers[0].env[1].valueFrom.configMapKeyRef",
                container="web",
                variable="A",
            ),
        )
    ]


def test_a_whole_object_is_referred_to_with_all_keys_and_its_prefix() -> None:
    source = {"prefix": "DB_", "secretRef": {"name": "credentials"}}

    (reference,) = references_of(pod_with({"envFrom": [source]}))

    assert (reference.usage, reference.keys, reference.prefix, reference.place.path) == (
        Usage.ENV_FROM,
        None,
        "DB_",
        "spec.containers[0].envFrom[0].secretRef",
    )


def test_a_volume_refers_to_its_items_or_to_all_keys() -> None:
    pod = pod_with(
        volumes=[
            {"name": "a", "configMap": {"name": "one", "items": [{"key": "k", "path": "p"}]}},
            {"name": "b", "secret": {"secretName": "two", "optional": True}},
        ]
    )

    found = [
        (item.name, item.keys, item.optional, item.place.volume, item.place.path)
        for item in references_of(pod)
    ]

    assert found == [
        ("one", ("k",), False, "a", "spec.volumes[0].configMap"),
        ("two", None, True, "b", "spec.volumes[1].secret"),
    ]


def test_a_projected_volume_refers_to_the_objects_of_its_sources() -> None:
    sources = [
        {"secret": {"name": "s", "items": [{"key": "k", "path": "p"}]}},
        {"downwardAPI": {}},
        {"configMap": {"name": "c"}},
    ]
    pod = pod_with(volumes=[{"name": "all", "projected": {"sources": sources}}])

    assert [(item.name, item.keys, item.place.path) for item in references_of(pod)] == [
        ("s", ("k",), "spec.volumes[0].projected.sources[0].secret"),
        ("c", None, "spec.volumes[0].projected.sources[2].configMap"),
    ]


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ({"azureFile": {"secretName": "s"}}, "azureFile.secretName"),
        ({"cephfs": {"secretRef": {"name": "s"}}}, "cephfs.secretRef.name"),
        ({"cinder": {"secretRef": {"name": "s"}}}, "cinder.secretRef.name"),
        ({"flexVolume": {"secretRef": {"name": "s"}}}, "flexVolume.secretRef.name"),
        ({"rbd": {"secretRef": {"name": "s"}}}, "rbd.secretRef.name"),
        ({"scaleIO": {"secretRef": {"name": "s"}}}, "scaleIO.secretRef.name"),
        ({"iscsi": {"secretRef": {"name": "s"}}}, "iscsi.secretRef.name"),
        ({"storageos": {"secretRef": {"name": "s"}}}, "storageos.secretRef.name"),
        ({"csi": {"nodePublishSecretRef": {"name": "s"}}}, "csi.nodePublishSecretRef.name"),
    ],
)
def test_a_driver_refers_to_its_credentials(source: dict[str, Any], path: str) -> None:
    (reference,) = references_of(pod_with(volumes=[{"name": "v", **source}]))

    assert (reference.name, reference.usage, reference.place.path) == (
        "s",
        Usage.VOLUME_CREDENTIALS,
        f"spec.volumes[0].{path}",
    )


def test_a_driver_without_credentials_refers_to_nothing() -> None:
    pod = pod_with(volumes=[{"name": "v", "csi": {"driver": "d"}}])

    assert list(references_of(pod)) == []


def test_names_come_once_each_and_by_kind() -> None:
    pod = pod_with(
        {"envFrom": [{"secretRef": {"name": "b"}}, {"configMapRef": {"name": "c"}}]},
        imagePullSecrets=[{"name": "b"}, {"name": "a"}],
    )

    assert (secret_names(pod), config_map_names(pod)) == (("b", "a"), ("c",))


def test_the_template_of_a_workload_has_references_too() -> None:
    template = PodTemplateSpec(spec=pod_with(imagePullSecrets=[{"name": "pull"}]).spec)

    assert secret_names(template) == ("pull",)


def test_a_stop_among_the_volumes_ends_the_visit() -> None:
    pod = pod_with(
        volumes=[
            {"name": "a", "secret": {"secretName": "one"}},
            {"name": "b", "secret": {"secretName": "two"}},
        ]
    )
    visited: list[str] = []

    def stop(name: str) -> bool:
        visited.append(name)
        return False

    assert (visit_secret_names(pod, stop), visited) == (False, ["one"])
