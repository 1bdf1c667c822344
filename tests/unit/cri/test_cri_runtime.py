from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reflet.cri.cri_client import CriClient
from reflet.cri.cri_runtime import CriRuntime
from reflet.cri.messages.containers import ContainerState, ContainerStatusResponse
from reflet.cri.messages.sandboxes import PodSandbox, PodSandboxMetadata, PodSandboxState
from reflet.cri.messages.service import ContainerEventType, PodSandboxStatusResponse
from reflet.errors import RpcError, RpcUnimplemented
from reflet.pleg.runtime_status import (
    EventedRuntime,
    RuntimeEvent,
    RuntimePod,
    RuntimeSandbox,
    RuntimeState,
)
from tests.cri_scenes import Pods, container, sandbox
from tests.cri_server import CriServer


@asynccontextmanager
async def runtime_of(
    path: Path, pods: Pods, **answers: object
) -> AsyncIterator[tuple[EventedRuntime, CriServer]]:
    script: dict[str, object] = {**pods.answers(), **answers}
    async with (
        CriServer(path / "s", **script) as server,  # type: ignore[arg-type]  # a test's own
        CriClient(server.endpoint) as cri,
    ):
        yield CriRuntime(cri.runtime), server


def running(*uids: str) -> Pods:
    pods = Pods()
    pods.run(*uids)
    return pods


async def found(runtime: EventedRuntime, uid: str) -> RuntimePod:
    pod = await runtime.find_pod(uid)
    assert pod is not None
    return pod


async def test_a_list_is_one_look_at_sandboxes_and_one_at_containers(tmp_path: Path) -> None:
    async with runtime_of(tmp_path, running("p", "q")) as (runtime, server):
        pods = await runtime.list_pods()

    assert {pod.uid for pod in pods} == {"p", "q"}
    assert server.calls == ["ListPodSandbox", "ListContainers"]


async def test_one_pod_is_found_as_it_would_be_listed(tmp_path: Path) -> None:
    async with runtime_of(tmp_path, running("p", "q")) as (runtime, server):
        pod = await runtime.find_pod("q")

        assert server.calls == ["ListPodSandbox", "ListContainers"]
        assert pod in await runtime.list_pods()


async def test_a_pod_that_is_not_there_is_none(tmp_path: Path) -> None:
    async with runtime_of(tmp_path, running("p")) as (runtime, _):
        assert await runtime.find_pod("other") is None


async def test_a_sandbox_without_labels_is_found_by_its_metadata(tmp_path: Path) -> None:
    pods = Pods()
    pods.add(PodSandbox(id="s", metadata=PodSandboxMetadata(name="n", uid="u", namespace="ns")))

    async with runtime_of(tmp_path, pods) as (runtime, _):
        pod = await found(runtime, "u")

    assert (pod.name, pod.namespace) == ("n", "ns")


async def test_a_status_has_everything_about_the_pod(tmp_path: Path) -> None:
    pods = running("p")
    pods.exit("p", code=3)
    pods.add(container("web-again", "p", at=9))

    async with runtime_of(tmp_path, pods) as (runtime, _):
        status = await runtime.pod_status(await found(runtime, "p"))

    assert (status.uid, status.name, status.namespace) == ("p", "name-of-p", "shop")
    assert status.ips == ("10.0.0.7",)
    assert status.sandboxes == (
        RuntimeSandbox(
            id="sandbox-of-p", ready=True, created_at=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
        ),
    )
    assert [(each.id, each.state, each.exit_code) for each in status.containers] == [
        ("web-again", RuntimeState.RUNNING, None),
        ("web-of-p", RuntimeState.EXITED, 3),
    ]


async def test_what_was_removed_since_the_list_is_left_out(tmp_path: Path) -> None:
    pods = running("p")
    async with runtime_of(tmp_path, pods) as (runtime, _):
        pod = await found(runtime, "p")
        pods.remove("p")
        status = await runtime.pod_status(pod)

    assert (status.uid, status.containers, status.sandboxes, status.ips) == ("p", (), (), ())


async def test_an_older_sandbox_does_not_lend_its_address(tmp_path: Path) -> None:
    pods = running("p")
    pods.add(sandbox("second", "p", attempt=1, state=PodSandboxState.NOTREADY))
    async with runtime_of(tmp_path, pods) as (runtime, _):
        pod = await found(runtime, "p")
        before = await runtime.pod_status(pod)
        del pods.sandboxes["second"]
        after = await runtime.pod_status(pod)

    assert (before.ips, after.ips) == ((), ())


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("PodSandboxStatus", PodSandboxStatusResponse()),
        ("ContainerStatus", ContainerStatusResponse()),
        ("ContainerStatus", RpcError("Internal", "status is nil too")),
    ],
)
async def test_a_status_that_cannot_be_had_is_an_error(
    tmp_path: Path, method: str, answer: object
) -> None:
    async with runtime_of(tmp_path, running("p"), **{method: answer}) as (runtime, _):
        pod = await found(runtime, "p")
        with pytest.raises(RpcError, match="status is nil"):
            await runtime.pod_status(pod)


async def test_last_words_are_read_of_those_that_ended(tmp_path: Path) -> None:
    pods = running("p")
    (tmp_path / "0.log").write_bytes(b"2026-01-01T00:00:00Z stdout F out of luck\n")
    pods.add(container("web-of-p", "p", state=ContainerState.EXITED))
    pods.exit_code = 1
    pods.log_path = str(tmp_path / "0.log")
    pods.annotations = {"io.kubernetes.container.terminationMessagePolicy": "FallbackToLogsOnError"}

    async with runtime_of(tmp_path, pods) as (runtime, _):
        status = await runtime.pod_status(await found(runtime, "p"))

    assert status.containers[0].message == "out of luck\n"


async def test_events_name_the_pod(tmp_path: Path) -> None:
    pods = running("p")
    async with runtime_of(tmp_path, pods) as (runtime, server), runtime.events() as events:
        await server.until(lambda: pods.streams)
        pods.notify("p", ContainerEventType.STOPPED)
        pods.notify("p", ContainerEventType.DELETED, whose="")
        seen = [await anext(events), await anext(events)]

    at = datetime.fromtimestamp(3, UTC)
    assert seen == [
        RuntimeEvent(uid="p", container_id="web-of-p", at=at),
        RuntimeEvent(uid="", container_id="web-of-p", at=at),
    ]


async def test_a_runtime_without_events_says_so(tmp_path: Path) -> None:
    no_events = RpcError("Unimplemented", "no events")
    async with (
        runtime_of(tmp_path, Pods(), GetContainerEvents=no_events) as (runtime, _),
        runtime.events() as events,
    ):
        with pytest.raises(RpcUnimplemented):
            await anext(events)
