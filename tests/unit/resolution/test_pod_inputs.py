"""What a pod's containers get is computed from one value, whoever made it."""

from __future__ import annotations

import pytest

from reflet.api.core.pods import Pod
from reflet.api.core.services import Service, ServicePort, ServiceSpec
from reflet.api.meta import ObjectMeta
from reflet.errors import ConfigurationError
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs, RefusedObject, unknown_token
from reflet.resolution.volumes.volume_contents import resolve_volume
from tests.unit.resolution.scenes import config_map, pod_with, secret, variable

CANARY = "canary-hush-hush"
TOKEN = {"serviceAccountToken": {"path": "token"}}
KEYS = {"secret": {"name": "keys"}}
POD = pod_with(
    {
        "env": [variable("COLOUR", configMapKeyRef={"name": "settings", "key": "colour"})],
        "envFrom": [{"secretRef": {"name": "keys"}}],
    },
    volumes=[
        {"name": "scratch", "emptyDir": {}},
        {"name": "all", "projected": {"sources": [KEYS, TOKEN], "defaultMode": 420}},
    ],
    enableServiceLinks=True,
)
OBJECTS = ObjectsInHand([config_map(colour="blue"), secret("keys", password=CANARY.encode())])


def shop_service() -> Service:
    return Service(
        metadata=ObjectMeta(name="shop", namespace="shop"),
        spec=ServiceSpec(cluster_ip="10.0.0.7", ports=(ServicePort(port=80),)),
    )


def test_an_environment_and_a_volume_are_those_of_resolution() -> None:
    inputs = PodInputs(
        pod=POD, objects=OBJECTS, services=(shop_service(),), token=lambda _, __: "abc"
    )

    assert inputs.environment("web") == resolve_environment(
        POD, "web", OBJECTS, services=(shop_service(),)
    )
    assert inputs.volume("all") == resolve_volume(POD, "all", OBJECTS, token=lambda _, __: "abc")
    assert (list(inputs.environments()), list(inputs.volumes())) == (["web"], ["all"])


def test_names_that_the_pod_does_not_have_are_refused() -> None:
    inputs = PodInputs(pod=POD, objects=OBJECTS)

    with pytest.raises(ConfigurationError, match="no container 'db'"):
        inputs.environment("db")
    with pytest.raises(ConfigurationError, match="no volume 'db'"):
        inputs.volumes(["all", "db"])


def test_a_token_that_nobody_asked_for_is_a_file_that_is_not_known() -> None:
    inputs = PodInputs(pod=POD, objects=OBJECTS, token=unknown_token)

    files = inputs.volume("all").files

    assert {path: file.known for path, file in files.items()} == {"password": True, "token": False}


def test_without_a_name_it_is_the_pod_itself() -> None:
    unnamed = Pod(metadata=ObjectMeta(generate_name="web-", namespace="shop"), spec=POD.spec)

    targets = [PodInputs(pod=pod, objects=None).target for pod in (POD, unnamed)]

    assert targets == ["pod/web-0", "pod/web-"]


def test_a_workload_stands_for_a_pod_that_is_not_made_yet() -> None:
    inputs = PodInputs(pod=POD, objects=None, kind="Deployment", name="web")

    assert (inputs.target, inputs.from_template) == ("deployment/web", True)


def test_no_value_of_a_secret_is_shown() -> None:
    inputs = PodInputs(pod=POD, objects=OBJECTS, token=lambda _, __: CANARY)

    assert CANARY not in repr(inputs)
    assert CANARY not in repr(inputs.environments())


def test_a_refused_object_names_its_place() -> None:
    refused = RefusedObject("a.yaml:3", "Secret", "shop", "keys", "data: Invalid value")

    assert str(refused) == "a.yaml:3: the API server would refuse it: data: Invalid value"
