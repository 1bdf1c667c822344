"""``reflet node --runtime cri``: pods that ask for a RuntimeClass."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from reflet.cri.cri_client import CriClient
from tests.containers.containerd import Containerd
from tests.containers.node_scenes import ContainerNode, pod

pytestmark = pytest.mark.time_limit(240)

SANDBOX: Final = "FailedCreatePodSandBox"


def runtime_class(name: str, handler: str) -> dict[str, Any]:
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": handler,
    }


@pytest.fixture
def classes(node: ContainerNode) -> Iterator[None]:
    node.apply(runtime_class("second", "other"))
    node.apply(runtime_class("nowhere", "nobody"))
    yield
    node.kubectl("delete", "runtimeclass", "second", "nowhere", "--ignore-not-found")


async def handlers(runtime: Containerd, pod: str) -> list[str]:
    async with CriClient(runtime.endpoint) as cri:
        return [
            each.runtime_handler
            for each in await cri.runtime.list_pod_sandbox()
            if each.metadata is not None and each.metadata.name == pod
        ]


@pytest.mark.usefixtures("classes")
async def test_a_pod_runs_with_the_handler_of_its_class(node: ContainerNode) -> None:
    name = node.running(pod("classy", runtimeClassName="second"))

    assert await handlers(node.runtime, name) == ["other"]
    node.delete(name)


@pytest.mark.usefixtures("classes")
def test_a_class_that_is_gone_is_told_and_waited_for(node: ContainerNode) -> None:
    name = "early"
    document = pod(name, runtimeClassName="second")
    # The server takes no pod whose class does not exist: it goes afterwards.
    node.kubectl("apply", "-f", "-", given=json.dumps(document))
    node.kubectl("delete", "runtimeclass", "second")
    node.bind(name)
    node.until(lambda: SANDBOX in dict(node.events(name)), "an event")
    told = node.events(name)
    state = node.state(name)
    node.apply(runtime_class("second", "other"))
    node.until(lambda: node.status(name)["phase"] == "Running", "it runs")

    words = 'Failed to create pod sandbox: runtimeclass.node.k8s.io "second" not found'
    assert told == [(SANDBOX, words)]
    assert state["waiting"]["reason"] == "ContainerCreating"
    node.delete(name)


@pytest.mark.usefixtures("classes")
def test_a_handler_that_the_runtime_does_not_know_is_told(node: ContainerNode) -> None:
    name = "astray"
    node.apply(pod(name, runtimeClassName="nowhere"))
    node.until(lambda: SANDBOX in dict(node.events(name)), "an event")

    _, told = node.events(name)[0]  # each try has a sandbox of its own, whose id is in the message
    assert told.startswith("Failed to create pod sandbox: rpc error: code = Unknown desc = ")
    assert told.endswith('no runtime for "nobody" is configured')
    node.delete(name)
