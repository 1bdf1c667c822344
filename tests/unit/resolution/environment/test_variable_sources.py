"""Variables with ``valueFrom``: every source, and every way in which it fails."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.errors import Forbidden, RefletError
from reflet.resolution.environment.env_files import MountedVolume
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import LARGEST_OBJECT, ObjectKey, ObjectsInHand
from reflet.resolution.origins import (
    ConfigMapOrigin,
    FieldOrigin,
    FileOrigin,
    ResourceOrigin,
    SecretOrigin,
    ValueOrigin,
)
from reflet.resolution.places import Place
from reflet.resolution.problems import MissingKey, OversizedObject
from reflet.resolution.resource_fields import UNKNOWN_NODE
from tests.unit.resolution.scenes import (
    NODE,
    config_map,
    environment_of,
    pod_with,
    secret,
    variable,
)

FILE = {"volumeName": "v", "path": "dir/../f.env", "key": "K"}


def with_source(**source: Any) -> dict[str, Any]:
    return {"env": [variable("A", **source)]}


def mounted(content: bytes) -> dict[str, MountedVolume | None]:
    return {"v": MountedVolume(directory="/volumes/v", files={"f.env": content})}


@pytest.mark.parametrize(
    ("source", "value", "origin"),
    [
        (
            {"configMapKeyRef": {"name": "settings", "key": "k"}},
            "text",
            ConfigMapOrigin(namespace="shop", name="settings", key="k", resource_version="11"),
        ),
        (
            {"secretKeyRef": {"name": "credentials", "key": "k"}},
            "bytes",
            SecretOrigin(namespace="shop", name="credentials", key="k", resource_version="12"),
        ),
        (
            {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
            "web-0",
            FieldOrigin(path="metadata.name", namespace="shop", name="web-0", resource_version="7"),
        ),
        (
            {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}},
            "4000",
            ResourceOrigin(resource="limits.cpu", container="web", divisor="1m"),
        ),
        ({"fileKeyRef": FILE}, "filed", FileOrigin(volume="v", path="dir/../f.env", key="K")),
        ({}, "", ValueOrigin()),
    ],
    ids=["configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef", "none"],
)
def test_a_source_gives_its_value_and_says_so(
    source: dict[str, Any], value: str, origin: object
) -> None:
    environment = environment_of(
        pod_with(with_source(**source)),
        config_map(k="text"),
        secret(k=b"bytes"),
        node=NODE,
        volumes=mounted(b"K='filed'"),
    )

    assert environment.error is None
    assert (environment.values, environment.variables["A"].origin) == ({"A": value}, origin)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"configMapKeyRef": {"name": "gone", "key": "k"}}, 'configmap "gone" not found'),
        ({"secretKeyRef": {"name": "gone", "key": "k"}}, 'secret "gone" not found'),
        (
            {"configMapKeyRef": {"name": "settings", "key": "x"}},
            "couldn't find key x in ConfigMap shop/settings",
        ),
        (
            {"secretKeyRef": {"name": "credentials", "key": "x"}},
            "couldn't find key x in Secret shop/credentials",
        ),
        (
            {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.phase"}},
            "unsupported fieldPath: status.phase",
        ),
        (
            {"resourceFieldRef": {"resource": "limits.cpu"}},
            "failed to find node object, expected a node",
        ),
        (
            {"fileKeyRef": {**FILE, "key": "X"}},
            'environment variable key "X" not found in file "/volumes/v/f.env"',
        ),
        ({"fileKeyRef": {**FILE, "path": "gone"}}, "couldn't parse env file"),
        ({"fileKeyRef": {**FILE, "path": ".."}}, "couldn't parse env file"),
        (
            {"fileKeyRef": {**FILE, "volumeName": "gone"}},
            'cannot find the volume "gone" referenced by FileKeyRef',
        ),
    ],
)
def test_a_source_fails_in_the_words_of_the_kubelet(source: dict[str, Any], text: str) -> None:
    environment = environment_of(
        pod_with(with_source(**source)), config_map(k=""), secret(k=b""), volumes=mounted(b"K='1'")
    )

    assert (environment.error, environment.values) == (text, {})


@pytest.mark.parametrize(
    "source",
    [
        {"configMapKeyRef": {"name": "gone", "key": "k", "optional": True}},
        {"secretKeyRef": {"name": "credentials", "key": "x", "optional": True}},
        {"fileKeyRef": {**FILE, "key": "X", "optional": True}},
    ],
    ids=["object", "key", "file"],
)
def test_what_is_optional_and_missing_is_told_but_stops_nothing(source: dict[str, Any]) -> None:
    environment = environment_of(
        pod_with(with_source(**source)), secret(k=b""), volumes=mounted(b"K='1'")
    )

    (problem,) = environment.problems
    assert (environment.error, environment.values, problem.blocking) == (None, {}, False)
    assert problem.place.variable == "A"


@pytest.mark.parametrize(
    "source",
    [
        {"fileKeyRef": {**FILE, "path": "gone", "optional": True}},
        {"fileKeyRef": {**FILE, "volumeName": "gone", "optional": True}},
        {"configMapKeyRef": {"name": "settings", "key": "k", "optional": True}},
    ],
    ids=["file", "volume", "forbidden object"],
)
def test_optional_does_not_forgive_everything(source: dict[str, Any]) -> None:
    refusals: dict[ObjectKey, RefletError] = {("ConfigMap", "shop", "settings"): Forbidden("no")}

    environment = environment_of(
        pod_with(with_source(**source)),
        source=ObjectsInHand(failures=refusals),
        volumes=mounted(b"K='1'"),
    )

    assert environment.error is not None


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            {"configMapKeyRef": {"name": "settings", "key": "k", "optional": True}},
            "couldn't get configMap shop/settings, no kubeClient defined",
        ),
        (
            {"secretKeyRef": {"name": "credentials", "key": "k", "optional": True}},
            "couldn't get secret shop/credentials, no kubeClient defined",
        ),
    ],
)
def test_without_an_api_server_even_optional_objects_fail(
    source: dict[str, Any], text: str
) -> None:
    environment = resolve_environment(pod_with(with_source(**source)), "web", None)

    assert environment.error == text


def test_a_missing_key_names_the_keys_that_are_there() -> None:
    key = {"name": "settings", "key": "x"}
    settings = ConfigMap(
        metadata=ObjectMeta(namespace="shop", name="settings"),
        data={"b": "", "a": ""},
        binary_data={"x": b""},
    )

    environment = environment_of(pod_with(with_source(configMapKeyRef=key)), settings)

    assert environment.problems == (
        MissingKey(
            place=Place(
                path="spec.containers[0].env[0].valueFrom.configMapKeyRef",
                container="web",
                variable="A",
            ),
            kubelet="couldn't find key x in ConfigMap shop/settings",
            object_kind="ConfigMap",
            namespace="shop",
            name="settings",
            key="x",
            present=("a", "b"),
            binary=True,
        ),
    )


def test_the_first_source_that_is_there_counts() -> None:
    sources = {
        "secretKeyRef": {"name": "credentials", "key": "k"},
        "configMapKeyRef": {"name": "settings", "key": "k"},
        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"},
    }

    environment = environment_of(pod_with(with_source(**sources)))

    assert environment.values == {"A": "web-0"}


def test_what_cannot_be_known_here_is_empty_and_told() -> None:
    container = {
        "env": [
            variable("A", fieldRef={"apiVersion": "v1", "fieldPath": "status.podIP"}),
            variable("B", resourceFieldRef={"resource": "limits.cpu"}),
            variable("C", fileKeyRef=FILE),
            {"name": "D", "value": "$(A)"},
        ]
    }
    pod = pod_with(container, volumes=[{"name": "v", "emptyDir": {}}])

    environment = environment_of(pod, node=UNKNOWN_NODE)

    assert (environment.error, environment.values) == (None, dict.fromkeys("ABCD", ""))
    assert not any(item.assignment.known for item in environment.variables.values())
    assert [problem.place.variable for problem in environment.problems] == ["A", "B", "C"]


def test_an_object_that_is_too_large_is_told_once() -> None:
    key = {"name": "settings", "key": "k"}
    container = {"env": [variable(name, configMapKeyRef=key) for name in ("A", "B")]}

    environment = environment_of(pod_with(container), config_map(k="x", big="x" * LARGEST_OBJECT))

    assert [type(problem) for problem in environment.problems] == [OversizedObject]
    assert environment.error is None


def test_a_value_from_a_file_is_sensitive() -> None:
    pod = pod_with(with_source(fileKeyRef=FILE))

    environment = environment_of(pod, volumes=mounted(b"K='hunter2'"))

    assert environment.values == {"A": "hunter2"}
    assert "hunter2" not in repr(environment)
