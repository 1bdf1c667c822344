from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from reflet.cri.cri_client import CriClient
from reflet.cri.messages.containers import (
    ContainerConfig,
    ContainerFilter,
    CreateContainerRequest,
    CreateContainerResponse,
    ExecSyncRequest,
    ExecSyncResponse,
    KeyValue,
    ListContainersRequest,
    StopContainerRequest,
    StopContainerResponse,
)
from reflet.cri.messages.images import AuthConfig, ImageSpec, PullImageRequest, PullImageResponse
from reflet.cri.messages.sandboxes import (
    PodSandboxConfig,
    PodSandboxMetadata,
    PodSandboxStatus,
    RunPodSandboxRequest,
    RunPodSandboxResponse,
)
from reflet.cri.messages.service import (
    ContainerEventResponse,
    ContainerEventType,
    PortForwardRequest,
    PortForwardResponse,
)
from reflet.cri.wire import CriMessage
from reflet.errors import RpcDeadlineExceeded, RpcError, RpcUnimplemented
from tests.cri_server import Call, CriServer

SANDBOX = PodSandboxConfig(
    metadata=PodSandboxMetadata(name="web", uid="u1", namespace="shop"), labels={"app": "web"}
)
CONTAINER = ContainerConfig(image=ImageSpec(image="busybox"), envs=(KeyValue(key="A", value=b"b"),))
Ask = Callable[[CriClient], Awaitable[Any]]


async def asked(path: Path, ask: Ask, **answers: Any) -> tuple[Any, CriServer]:
    async with CriServer(path, **answers) as server, CriClient(server.endpoint) as cri:
        return await ask(cri), server


@pytest.mark.parametrize(
    ("ask", "answer", "sent", "got"),
    [
        (
            lambda cri: cri.runtime.run_pod_sandbox(SANDBOX, runtime_handler="runc"),
            RunPodSandboxResponse(pod_sandbox_id="s1"),
            RunPodSandboxRequest(config=SANDBOX, runtime_handler="runc"),
            "s1",
        ),
        (
            lambda cri: cri.runtime.create_container("s1", CONTAINER, SANDBOX),
            CreateContainerResponse(container_id="c1"),
            CreateContainerRequest(pod_sandbox_id="s1", config=CONTAINER, sandbox_config=SANDBOX),
            "c1",
        ),
        (
            lambda cri: cri.runtime.exec_sync("c1", ["ls", "-l"], timeout=3),
            ExecSyncResponse(stdout=b"out", exit_code=3),
            ExecSyncRequest(container_id="c1", cmd=("ls", "-l"), timeout=3),
            ExecSyncResponse(stdout=b"out", exit_code=3),
        ),
        (
            lambda cri: cri.runtime.stop_container("c1", grace=30),
            StopContainerResponse(),
            StopContainerRequest(container_id="c1", timeout=30),
            None,
        ),
        (
            lambda cri: cri.runtime.port_forward("s1", [80]),
            PortForwardResponse(url="http://127.0.0.1:1/x"),
            PortForwardRequest(pod_sandbox_id="s1", port=(80,)),
            "http://127.0.0.1:1/x",
        ),
        (
            lambda cri: cri.images.pull_image(
                ImageSpec(image="busybox"), auth=AuthConfig(username="me", password="secret")
            ),
            PullImageResponse(image_ref="sha256:1"),
            PullImageRequest(
                image=ImageSpec(image="busybox"), auth=AuthConfig(username="me", password="secret")
            ),
            "sha256:1",
        ),
    ],
)
async def test_a_method_sends_its_request_and_gives_what_matters(
    tmp_path: Path, ask: Ask, answer: CriMessage, sent: CriMessage, got: object
) -> None:
    received = []

    async def script(call: Call) -> None:
        received.append(call.message(type(sent)))
        await call.send(answer)
        call.end()

    method = type(sent).__name__.removesuffix("Request")
    result, server = await asked(tmp_path / "s", ask, **{method: script})

    assert (result, received, server.calls) == (got, [sent], [method])


async def test_a_filter_is_sent(tmp_path: Path) -> None:
    wanted = ContainerFilter(label_selector={"io.kubernetes.pod.uid": "u1"})
    received = []

    async def script(call: Call) -> None:
        received.append(call.message(ListContainersRequest).filter)
        await call.send(b"")
        call.end()

    found, _ = await asked(
        tmp_path / "s", lambda cri: cri.runtime.list_containers(wanted), ListContainers=script
    )

    assert (found, received) == ((), [wanted])


@pytest.mark.parametrize(
    ("method", "ask"),
    [
        ("RunPodSandbox", lambda cri: cri.runtime.run_pod_sandbox(SANDBOX)),
        ("CreateContainer", lambda cri: cri.runtime.create_container("s", CONTAINER, SANDBOX)),
        ("PullImage", lambda cri: cri.images.pull_image(ImageSpec(image="busybox"))),
    ],
)
async def test_an_answer_without_an_id_is_an_error(tmp_path: Path, method: str, ask: Ask) -> None:
    with pytest.raises(RpcError, match="is not set"):
        await asked(tmp_path / "s", ask, **{method: RunPodSandboxResponse()})


async def test_an_answer_that_is_garbage_is_an_error_of_the_call(tmp_path: Path) -> None:
    async def script(call: Call) -> None:
        await call.send(b"\x0a\x05shor")
        call.end()

    with pytest.raises(RpcError, match="failed to unmarshal: VersionResponse") as raised:
        await asked(tmp_path / "s", lambda cri: cri.runtime.version(), Version=script)

    assert (raised.value.code, raised.value.method) == ("Internal", "Version")


@pytest.mark.parametrize(
    ("method", "ask", "timeout"),
    [
        ("Version", lambda cri: cri.runtime.version(), "120000m"),
        ("RunPodSandbox", lambda cri: cri.runtime.run_pod_sandbox(SANDBOX), "240000m"),
        ("StopContainer", lambda cri: cri.runtime.stop_container("c", grace=30), "150000m"),
        ("ExecSync", lambda cri: cri.runtime.exec_sync("c", ["x"], timeout=5), "125000m"),
        ("ExecSync", lambda cri: cri.runtime.exec_sync("c", ["x"]), None),
        ("PullImage", lambda cri: cri.images.pull_image(ImageSpec(image="x")), None),
    ],
)
async def test_deadlines_are_the_kubelets(
    tmp_path: Path, method: str, ask: Ask, timeout: str | None
) -> None:
    async with CriServer(tmp_path / "s", **{method: RpcError("Internal", "")}) as server:
        async with CriClient(server.endpoint) as cri:
            with pytest.raises(RpcError):
                await ask(cri)
        headers = dict(server.requests[0].headers)

    assert headers.get("grpc-timeout") == timeout


@pytest.mark.virtual_time
async def test_a_runtime_that_hangs_is_waited_for_two_minutes(tmp_path: Path) -> None:
    with pytest.raises(RpcDeadlineExceeded):
        await asked(tmp_path / "s", lambda cri: cri.runtime.version(), Version=Call.hang)


async def test_events_come_one_by_one(tmp_path: Path) -> None:
    events = [
        ContainerEventResponse(container_id="c1", container_event_type=kind, created_at=7)
        for kind in ContainerEventType
    ]

    async def script(call: Call) -> None:
        for event in events:
            await call.send(event)
        call.end()

    async with (
        CriServer(tmp_path / "s", GetContainerEvents=script) as server,
        CriClient(server.endpoint) as cri,
        cri.runtime.get_container_events() as stream,
    ):
        seen = [event async for event in stream]

    assert seen == events


async def test_a_runtime_without_events_says_so(tmp_path: Path) -> None:
    async with (
        CriServer(tmp_path / "s") as server,
        CriClient(server.endpoint) as cri,
        cri.runtime.get_container_events() as stream,
    ):
        with pytest.raises(RpcUnimplemented):
            await anext(stream)


@pytest.mark.parametrize(
    "message",
    [
        PullImageRequest(auth=AuthConfig(username="me", password="hunter2", auth="hunter2")),
        CreateContainerRequest(config=ContainerConfig(envs=(KeyValue(key="A", value=b"hunter2"),))),
        AuthConfig(identity_token="hunter2", registry_token="hunter2"),
    ],
)
def test_no_secret_is_shown_by_a_message(message: CriMessage) -> None:
    assert "hunter2" not in repr(message)


def test_a_sandbox_status_tells_missing_from_empty() -> None:
    assert PodSandboxStatus().network is None
