"""Fields of a pod as variables and files show them."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.containers import ObjectFieldSelector
from reflet.api.core.nodes import Node, NodeAddress, NodeStatus
from reflet.api.core.pods import Pod
from reflet.resolution.pod_fields import file_field, variable_field
from reflet.resolution.problems import Refused, Unknown
from tests.unit.resolution.scenes import NODE, pod_with

RUNNING = pod_with(
    metadata={"uid": "u-1", "labels": {"b": "2", "a": "1"}, "annotations": {"A/x": "y"}},
    nodeName="node-1",
    serviceAccountName="robot",
    status={"podIPs": [{"ip": "fd00::9"}, {"ip": "10.1.0.9"}]},
)


def shown(pod: Pod, path: str, **options: Any) -> str | Refused | Unknown:
    selector = ObjectFieldSelector(api_version="v1", field_path=path)
    return variable_field(pod, selector, **options)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "web-0"),
        ("metadata.namespace", "shop"),
        ("metadata.uid", "u-1"),
        ("metadata.labels", 'a="1"\nb="2"'),
        ("metadata.labels['b']", "2"),
        ("metadata.labels['missing']", ""),
        ("metadata.annotations['A/x']", "y"),
        ("spec.nodeName", "node-1"),
        ("spec.host", "node-1"),
        ("spec.serviceAccountName", "robot"),
        ("status.hostIP", "10.0.0.5"),
        ("status.hostIPs", "10.0.0.5,fd00::5"),
        ("status.podIP", "10.1.0.9"),
        ("status.podIPs", "10.1.0.9,fd00::9"),
    ],
)
def test_a_variable_shows_a_field_of_a_running_pod(path: str, value: str) -> None:
    assert shown(RUNNING, path, node=NODE) == value


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("status.phase", "unsupported fieldPath: status.phase"),
        ("spec.restartPolicy", "unsupported fieldPath: spec.restartPolicy"),
        ("spec.schedulerName", "unsupported fieldPath: spec.schedulerName"),
        ("spec.hostname", "field label not supported: spec.hostname"),
        ("spec.x['a']", "field label does not support subscript: spec.x['a']"),
    ],
)
def test_other_fields_are_refused_in_the_words_of_the_kubelet(path: str, text: str) -> None:
    assert shown(RUNNING, path, node=NODE) == Refused(text=text)


def test_only_version_one_of_the_pod_is_known() -> None:
    selector = ObjectFieldSelector(api_version="v2", field_path="metadata.name")

    assert variable_field(RUNNING, selector) == Refused(text="unsupported pod version: v2")


@pytest.mark.parametrize(
    "path",
    [
        *("metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
        *("status.podIP", "status.podIPs", "status.hostIP", "status.hostIPs"),
    ],
)
def test_what_only_a_running_pod_has_is_unknown(path: str) -> None:
    assert isinstance(shown(pod_with(), path), Unknown)


def test_without_a_node_the_hosts_addresses_are_those_of_the_status() -> None:
    pod = pod_with(status={"hostIP": "10.0.0.7"})
    both = pod_with(status={"hostIP": "10.0.0.7", "hostIPs": [{"ip": "10.0.0.7"}, {"ip": "::7"}]})

    assert (shown(pod, "status.hostIPs"), shown(both, "status.hostIPs")) == (
        "10.0.0.7",
        "10.0.0.7,::7",
    )


def test_the_main_family_of_the_node_comes_first() -> None:
    addresses = (NodeAddress(type="InternalIP", address="fd00::1"),)
    node = Node(status=NodeStatus(addresses=addresses))

    assert shown(RUNNING, "status.podIPs", node=node) == "fd00::9,10.1.0.9"


def test_a_node_without_addresses_has_no_host_address() -> None:
    addresses = (NodeAddress(type="Hostname", address="a"), NodeAddress(type="InternalIP"))

    value = shown(RUNNING, "status.hostIP", node=Node(status=NodeStatus(addresses=addresses)))

    assert value == Refused(text="host IP unknown; known addresses: [{Hostname a} {InternalIP }]")


def test_the_sandbox_knows_the_addresses_better_than_the_status() -> None:
    assert shown(RUNNING, "status.podIP", pod_ips=["10.1.0.10"]) == "10.1.0.10"


def test_an_address_that_nobody_can_read_is_still_the_first_address() -> None:
    values = [shown(RUNNING, path, pod_ips=["x"]) for path in ("status.podIP", "status.podIPs")]

    assert values == ["x", Unknown(text="the pod has no address yet")]


@pytest.mark.parametrize("path", ["spec.nodeName", "status.podIP", "status.hostIP"])
def test_files_show_only_metadata(path: str) -> None:
    assert file_field(RUNNING, path) == Refused(text=f"unsupported fieldPath: {path}")


def test_an_empty_field_is_an_empty_file() -> None:
    assert file_field(pod_with(), "metadata.uid") == ""
