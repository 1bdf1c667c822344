"""The recorded environments of containers, from objects and from environment files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.nodes import Node, NodeAddress, NodeStatus
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.meta import ObjectMeta
from reflet.resolution.environment.env_files import MountedVolume, find_variable
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.problems import MissingObject, Refused

DATA = Path(__file__).parent / "data"
FROM_OBJECTS = json.loads((DATA / "env_upstream.json").read_text())
FROM_FILES = json.loads((DATA / "env_filekeyref.json").read_text())
FILES = json.loads((DATA / "env_file_parser.json").read_text())
NODE = Node(
    status=NodeStatus(
        addresses=tuple(
            NodeAddress(type="InternalIP", address=address)
            for address in FROM_OBJECTS["node"]["hostIPs"]
        )
    )
)


def pod_with(container: dict[str, Any], pod: dict[str, Any]) -> Pod:
    spec = {**pod["spec"], "containers": [{"name": "main", **container}]}
    return codec.decode(json.dumps({**pod, "spec": spec}).encode(), Pod)


def objects_of(case: dict[str, Any], namespace: str) -> ObjectsInHand:
    config_maps = [
        ConfigMap(metadata=ObjectMeta(namespace=namespace, name=name), data=data)
        for name, data in case["configMaps"].items()
    ]
    secrets = [
        Secret(
            metadata=ObjectMeta(namespace=namespace, name=name),
            data={key: value.encode() for key, value in data.items()},
        )
        for name, data in case["secrets"].items()
    ]
    return ObjectsInHand([*config_maps, *secrets])


def services_of(case: dict[str, Any]) -> list[Service] | None:
    if case["services"] == "none-lister":
        return None
    raw = FROM_OBJECTS["sharedServices"] if case["services"] == "shared" else case["services"]
    return [codec.decode(json.dumps(item).encode(), Service) for item in raw]


@pytest.mark.parametrize("case", FROM_OBJECTS["cases"], ids=lambda case: case["name"])
def test_recorded_from_objects(case: dict[str, Any]) -> None:
    pod = pod_with(case["container"], case["pod"])

    environment = resolve_environment(
        pod,
        "main",
        objects_of(case, pod.metadata.namespace),
        node=NODE,
        services=services_of(case),
        services_read=case["servicesSynced"],
        pod_ips=case["podIPs"],
    )

    if "expectEnv" in case:
        assert (environment.values, environment.error) == (case["expectEnv"], None)
    elif "message" in case["expectError"]:
        assert environment.error == case["expectError"]["message"]
    else:
        kind = {"configmap_missing": "configmap", "secret_missing": "secret"}[case["name"]]
        assert case["expectError"] == {"kind": "NotFound"}
        assert [type(problem) for problem in environment.problems] == [MissingObject]
        assert str(environment.error).startswith(f"{kind} ")


def volumes_of(case: dict[str, Any]) -> dict[str, MountedVolume | None]:
    return {
        name: None
        if volume is None
        else MountedVolume(
            directory="<volumeDir>",
            files={path: text.encode() for path, text in volume["files"].items()},
        )
        for name, volume in case["volumes"].items()
    }


@pytest.mark.parametrize("case", FROM_FILES["cases"], ids=lambda case: case["name"])
def test_recorded_from_files(case: dict[str, Any]) -> None:
    metadata = {"name": "pod", "namespace": "test"}
    pod = pod_with(case["container"], {"metadata": metadata, "spec": {"enableServiceLinks": False}})

    environment = resolve_environment(pod, "main", ObjectsInHand(), volumes=volumes_of(case))

    assert environment.error == case.get("expectError")
    if environment.error is None:
        assert environment.values == case["expectEnv"]


@pytest.mark.parametrize("case", FILES["cases"], ids=lambda case: case["name"])
def test_recorded_file(case: dict[str, Any]) -> None:
    value = find_variable(case["content"].encode(), case["key"])

    if "expect" in case:
        assert value == case["expect"]
    else:
        assert value == Refused(text=case["observedError"])
        assert case["expectErrorContains"] in case["observedError"]
