from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reflet.api.codec import decode
from reflet.api.core.pods import Pod
from reflet.resolution.references.references import shows_node

LIMIT = {"resourceFieldRef": {"resource": "limits.cpu", "containerName": "main"}}


def pod(*, env: list[Any] | None = None, volumes: list[Any] | None = None) -> Pod:
    containers = [{"name": "main", "image": "i", "env": env or []}]
    spec = {"containers": containers, "volumes": volumes or []}
    return decode(msgspec.json.encode({"metadata": {"name": "web"}, "spec": spec}), Pod)


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ([], False),
        ([{"name": "A", "value": "$(B)"}], False),
        ([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}], False),
        ([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}], True),
        ([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIPs"}}}], True),
        ([{"name": "A", "valueFrom": LIMIT}], True),
    ],
)
def test_addresses_of_the_host_and_limits_are_the_nodes(env: list[Any], expected: bool) -> None:
    assert shows_node(pod(env=env)) is expected


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ({"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}, False),
        ({"path": "cpu", **LIMIT}, True),
    ],
)
def test_a_file_with_a_limit_is_the_nodes(
    file: dict[str, Any], expected: bool, projected: bool
) -> None:
    source: dict[str, Any] = {"downwardAPI": {"items": [file]}}
    volume = {"projected": {"sources": [source]}} if projected else source

    assert shows_node(pod(volumes=[{"name": "info", **volume}])) is expected
