"""Limits and requests as variables and files show them."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.containers import ResourceFieldSelector
from reflet.api.core.nodes import Node, NodeStatus
from reflet.api.core.pods import Pod
from reflet.resolution.problems import Refused, Unknown
from reflet.resolution.resource_fields import (
    UNKNOWN_NODE,
    NodeInHand,
    file_resource,
    variable_resource,
)
from tests.unit.resolution.scenes import NODE, pod_with


def in_variable(
    pod: Pod, resource: str, *, node: NodeInHand = NODE, **more: str
) -> str | Refused | Unknown:
    selector = ResourceFieldSelector(resource=resource, **more)
    return variable_resource(pod, pod.spec.containers[0], selector, node=node)


def in_file(
    pod: Pod, resource: str, *, node: NodeInHand = NODE, container_name: str = "web"
) -> str | Refused | Unknown:
    selector = ResourceFieldSelector(resource=resource, container_name=container_name)
    return file_resource(pod, selector, node=node)


def with_limits(**spec: Any) -> Pod:
    resources = {"limits": {"cpu": "1500m", "memory": "0"}, "requests": {"memory": "1M"}}
    return pod_with({"resources": resources}, **spec)


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.cpu", "", "2"),
        ("limits.cpu", "1m", "1500"),
        ("limits.memory", "1Gi", "8"),
        ("limits.ephemeral-storage", "1Ti", "1"),
        ("limits.hugepages-2Mi", "", "0"),
        ("requests.cpu", "", "0"),
        ("requests.memory", "1k", "1000"),
        ("requests.hugepages-2Mi", "", "0"),
    ],
)
def test_missing_limits_are_the_nodes_and_missing_requests_are_nothing(
    resource: str, divisor: str, value: str
) -> None:
    assert in_variable(with_limits(), resource, divisor=divisor) == value


def test_a_limit_of_the_pod_comes_before_the_node() -> None:
    pod = pod_with(resources={"limits": {"cpu": "0", "memory": "2Gi"}})

    shown = (in_variable(pod, "limits.memory"), in_variable(pod, "limits.cpu"))

    assert shown == ("2147483648", "4")


def test_a_limit_of_the_pod_counts_only_for_what_the_node_has() -> None:
    pod = pod_with(resources={"limits": {"memory": "2Gi"}})

    assert in_variable(pod, "limits.memory", node=Node()) == "0"


def test_files_know_no_limits_of_the_pod() -> None:
    pod = pod_with(resources={"limits": {"memory": "2Gi"}})

    assert in_file(pod, "limits.memory") == "8589934592"


def test_a_named_init_container_is_not_filled_in_variables_but_in_files() -> None:
    pod = pod_with(initContainers=[{"name": "setup"}])

    shown = (
        in_variable(pod, "limits.cpu", container_name="setup"),
        in_file(pod, "limits.cpu", container_name="setup"),
    )

    assert shown == ("0", "4")


def test_a_named_regular_container_is_filled() -> None:
    pod = pod_with(containers=[{"name": "web"}, {"name": "side"}])

    assert in_variable(pod, "limits.cpu", container_name="side") == "4"


@pytest.mark.parametrize("resource", ["limits.gpu", "cpu", "limits", "claims.cpu", ""])
def test_other_resources_are_refused(resource: str) -> None:
    expected = Refused(text=f"unsupported container resource : {resource}")

    assert (in_variable(pod_with(), resource), in_file(pod_with(), resource)) == (
        expected,
        expected,
    )


def test_an_unknown_container_is_refused() -> None:
    shown = (
        in_variable(pod_with(), "limits.cpu", container_name="x"),
        in_file(pod_with(), "limits.cpu", container_name=""),
    )

    assert shown == (Refused(text="container x not found"), Refused(text="container  not found"))


def test_a_kubelet_without_its_node_shows_nothing() -> None:
    pod = with_limits()

    assert (in_variable(pod, "limits.cpu", node=None), in_file(pod, "limits.cpu", node=None)) == (
        Refused(text="failed to find node object, expected a node"),
        Refused(text="error retrieving node: failed to find node object, expected a node"),
    )


def test_with_an_unknown_node_only_the_nodes_own_amounts_are_unknown() -> None:
    pod = with_limits(resources={"limits": {"memory": "2Gi"}})

    shown = [
        in_variable(pod, resource, node=UNKNOWN_NODE)
        for resource in ("limits.cpu", "limits.memory", "requests.cpu", "limits.ephemeral-storage")
    ]

    assert shown[:3] == ["2", "2147483648", "0"]
    assert isinstance(shown[3], Unknown)
    assert isinstance(in_file(pod, "limits.memory", node=UNKNOWN_NODE), Unknown)


def test_a_quantity_that_cannot_be_read_is_refused() -> None:
    node = Node(status=NodeStatus(allocatable={"cpu": "four", "memory": "8Gi"}))
    pod = pod_with(resources={"limits": {"memory": "lots"}})

    refused = in_variable(pod, "limits.cpu", node=node)

    assert isinstance(refused, Refused)
    assert "'four'" in refused.text
    assert in_variable(pod, "limits.memory", node=node) == "8589934592"


def test_an_unknown_node_shows_as_such() -> None:
    assert repr(UNKNOWN_NODE) == "UNKNOWN_NODE"
