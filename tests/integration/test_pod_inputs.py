"""``reflet.pod_inputs`` gets a pod and what its containers get, or says why it cannot."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import reflet
from reflet.devserver.faults import Fault
from reflet.errors import ConfigurationError, Forbidden, NotFound, TransportError, Unauthorized
from reflet.resolution.pod_inputs import ONLY_THE_POD
from reflet.testing.pytest_plugin import RunningServer
from reflet.transport.config.settings import ConnectionSettings

ENV = [
    {"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "colour"}}},
    {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "password"}}},
]
SPEC = {
    "containers": [{"name": "web", "image": "web", "env": ENV}],
    "volumes": [{"name": "files", "configMap": {"name": "settings"}}],
}
LABELS = {"app": "web"}
OBJECTS: tuple[dict[str, Any], ...] = (
    {"kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"colour": "blue"}},
    {"kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"password": "geheim"}},
    {"kind": "Pod", "metadata": {"name": "web-1", "labels": LABELS}, "spec": SPEC},
)
DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": SPEC},
    },
}


@asynccontextmanager
async def shop(server: RunningServer) -> AsyncIterator[reflet.Cluster]:
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        for item in OBJECTS:
            await cluster.resource(f"{item['kind'].lower()}s").create(item)
        await cluster.resource("deployments.apps").create(DEPLOYMENT)
        yield cluster


@pytest.mark.parametrize(
    ("target", "kind", "name"),
    [("pod/web-1", "Pod", "web-1"), ("web-1", "Pod", "web-1"), ("deploy/web", "Deployment", "web")],
)
async def test_a_target_is_what_the_command_line_takes(
    reflet_server: RunningServer, target: str, kind: str, name: str
) -> None:
    async with shop(reflet_server) as cluster:
        inputs = await reflet.pod_inputs(cluster, target)

        assert (inputs.kind, inputs.name, inputs.from_template) == (kind, name, kind != "Pod")
        values = inputs.environment("web").values
        assert (values["COLOUR"], values["PASSWORD"]) == ("blue", "geheim")
        assert inputs.volume("files").files["colour"].data == b"blue"
        assert "geheim" not in repr(inputs)


async def test_a_selector_may_choose_the_pod(reflet_server: RunningServer) -> None:
    async with shop(reflet_server) as cluster:
        found = [
            await reflet.pod_inputs(cluster, selector="app=web", namespace=namespace)
            for namespace in (None, "default", reflet.ALL_NAMESPACES)
        ]

        assert [inputs.target for inputs in found] == ["pod/web-1"] * 3


async def test_an_object_that_is_missing_or_forbidden_is_a_problem_and_no_error(
    reflet_server: RunningServer,
) -> None:
    async with shop(reflet_server) as cluster:
        await cluster.resource("configmaps").delete("settings")
        reflet_server.add_fault(Fault("status", status=403, reason="Forbidden", resource="secrets"))

        environment = (await reflet.pod_inputs(cluster, "web-1")).environment("web")

        assert [type(problem).__name__ for problem in environment.problems] == [
            "MissingObject",
            "UnreadableObject",
        ]
        assert environment.error == 'configmap "settings" not found'


async def test_a_pod_that_is_missing_or_forbidden_is_an_error(reflet_server: RunningServer) -> None:
    async with shop(reflet_server) as cluster:
        with pytest.raises(NotFound):
            await reflet.pod_inputs(cluster, "deploy/gone")
        reflet_server.add_fault(Fault("status", status=403, reason="Forbidden", resource="pods"))
        with pytest.raises(Forbidden):
            await reflet.pod_inputs(cluster, "web-1")


@pytest.mark.parametrize(
    ("target", "selector", "message"),
    [
        ("cm/settings", "", "configmaps are no pods and make none"),
        ("deploy/", "", "is not of the form TYPE/NAME"),
        ("", "", "name the pod, as in"),
        ("web-1", "app=web", "a name needs no selector"),
        ("", "app=other", "no pods with app=other in namespace default"),
    ],
)
async def test_what_is_not_clear_is_said_before_anything_is_read(
    reflet_server: RunningServer, target: str, selector: str, message: str
) -> None:
    async with shop(reflet_server) as cluster:
        with pytest.raises(ConfigurationError, match=message):
            await reflet.pod_inputs(cluster, target, selector=selector)


async def test_a_server_that_does_not_know_us_is_an_error_whatever_it_answered_first(
    reflet_server: RunningServer,
) -> None:
    async with shop(reflet_server) as cluster:
        reflet_server.add_fault(
            Fault("status", status=401, reason="Unauthorized", resource="configmaps", times=2)
        )

        with pytest.raises(Unauthorized):
            await reflet.pod_inputs(cluster, "web-1")


async def test_a_server_that_cannot_be_reached_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    nowhere = ConnectionSettings(server=f"http://127.0.0.1:{port}")

    async with reflet.Cluster(nowhere) as cluster:
        with pytest.raises(TransportError):
            await reflet.pod_inputs(cluster, "web-1")


async def test_only_what_is_needed_is_asked_for(reflet_server: RunningServer) -> None:
    async with shop(reflet_server) as cluster:
        before = len(reflet_server.requests)

        await reflet.pod_inputs(cluster, "web-1", needs=ONLY_THE_POD)

        assert len(reflet_server.requests) == before + 1


def test_programs_without_an_event_loop_get_the_same(reflet_server: RunningServer) -> None:
    with reflet.blocking.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        for item in OBJECTS:
            cluster.resource(f"{item['kind'].lower()}s").create(item)

        inputs = cluster.pod_inputs("web-1")

        assert inputs.environment("web").values["COLOUR"] == "blue"
        with pytest.raises(NotFound):
            cluster.pod_inputs("deploy/gone")
