"""The pod status cache on a real container runtime: relists, events, and a runtime that fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reflet.cri import CriClient, CriRuntime
from reflet.cri.conversions import (
    CONTAINER_NAME_LABEL,
    POD_NAME_LABEL,
    POD_NAMESPACE_LABEL,
    POD_UID_LABEL,
    RESTART_COUNT_ANNOTATION,
)
from reflet.cri.messages.containers import ContainerConfig, ContainerMetadata
from reflet.cri.messages.images import ImageSpec
from reflet.cri.messages.isolation import (
    LinuxSandboxSecurityContext,
    NamespaceMode,
    NamespaceOption,
)
from reflet.cri.messages.sandboxes import (
    LinuxPodSandboxConfig,
    PodSandboxConfig,
    PodSandboxMetadata,
)
from reflet.errors import RpcUnavailable
from reflet.pleg import (
    EventedPleg,
    Pleg,
    PodEvent,
    PodEventType,
    RuntimeState,
    RuntimeStatus,
    StatusCache,
)
from tests.containers.containerd import BUSYBOX, Containerd

pytestmark = pytest.mark.time_limit(120)


class Pod:
    """One pod with one container, made as a kubelet makes it."""

    def __init__(self, cri: CriClient, folder: Path, uid: str, *, network: bool = False) -> None:
        self.cri = cri
        self.uid = uid
        labels = {POD_NAME_LABEL: uid, POD_NAMESPACE_LABEL: "shop", POD_UID_LABEL: uid}
        mode = NamespaceMode.POD if network else NamespaceMode.NODE
        self.config = PodSandboxConfig(
            metadata=PodSandboxMetadata(name=uid, uid=uid, namespace="shop"),
            log_directory=str(folder),
            labels=labels,
            linux=LinuxPodSandboxConfig(
                security_context=LinuxSandboxSecurityContext(
                    namespace_options=NamespaceOption(network=mode)
                )
            ),
        )
        self.sandbox = ""
        self.container = ""

    async def start(self, script: str, *, attempt: int = 0) -> None:
        """Run the sandbox, if it does not yet, and a container with this script."""
        if not self.sandbox:
            self.sandbox = await self.cri.runtime.run_pod_sandbox(self.config)
        config = ContainerConfig(
            metadata=ContainerMetadata(name="web", attempt=attempt),
            image=ImageSpec(image=BUSYBOX),
            command=("/bin/sh", "-c", script),
            labels={**self.config.labels, CONTAINER_NAME_LABEL: "web"},
            annotations={RESTART_COUNT_ANNOTATION: str(attempt)},
            log_path=f"web-{attempt}.log",
        )
        self.container = await self.cri.runtime.create_container(self.sandbox, config, self.config)
        await self.cri.runtime.start_container(self.container)

    async def remove(self) -> None:
        if self.sandbox:
            await self.cri.runtime.stop_pod_sandbox(self.sandbox)
            await self.cri.runtime.remove_pod_sandbox(self.sandbox)
            self.sandbox = ""


@asynccontextmanager
async def pod_on(
    runtime: Containerd, folder: Path, uid: str, *, network: bool = False
) -> AsyncIterator[Pod]:
    async with CriClient(runtime.endpoint) as cri:
        pod = Pod(cri, folder, uid, network=network)
        try:
            yield pod
        finally:
            await pod.remove()


async def until(claim: Callable[[], object]) -> None:
    """Wait for what another program does; the test's own time limit ends it."""
    while not claim():  # noqa: ASYNC110 - another program sets no event of ours
        await asyncio.sleep(0.01)


async def told(pleg: Pleg, kind: PodEventType, container: str) -> PodEvent:
    async for event in pleg.events:
        if event.type is kind and event.container_id == container:
            return event
    raise AssertionError("the events ended")


def status_of(cache: StatusCache, uid: str) -> RuntimeStatus:
    inspection = cache.get(uid)
    assert inspection.error is None
    return inspection.status


async def test_the_runtime_says_what_it_is(containerd: Containerd) -> None:
    async with CriClient(containerd.endpoint) as cri:
        version = await cri.runtime.version()
        status = await cri.runtime.status()

    assert (version.runtime_name, version.runtime_api_version) == ("containerd", "v1")
    assert status.status is not None
    assert {each.type: each.status for each in status.status.conditions}["RuntimeReady"]


async def test_a_container_is_seen_from_its_start_to_its_removal(
    containerd: Containerd, tmp_path: Path
) -> None:
    cache = StatusCache()
    async with (
        pod_on(containerd, tmp_path, "seen", network=True) as pod,
        CriClient(containerd.endpoint) as cri,
        EventedPleg(CriRuntime(cri.runtime), cache) as pleg,
    ):
        await until(pleg.healthy)
        await pod.start("echo out of luck; sleep 0.3; exit 7")
        await told(pleg, PodEventType.CONTAINER_STARTED, pod.container)
        running = status_of(cache, "seen")
        await told(pleg, PodEventType.CONTAINER_DIED, pod.container)
        ended = status_of(cache, "seen").containers[0]
        sandbox = pod.sandbox
        await pod.remove()
        await told(pleg, PodEventType.CONTAINER_REMOVED, sandbox)
        gone = status_of(cache, "seen")
        is_streaming = pleg.is_streaming

    assert [each.ready for each in running.sandboxes] == [True]
    assert len(running.ips) == 1
    assert running.containers[0].state in {RuntimeState.RUNNING, RuntimeState.EXITED}
    assert (ended.name, ended.state, ended.exit_code, ended.reason) == ("web", "exited", 7, "Error")
    assert ended.image == BUSYBOX
    assert ended.finished_at is not None
    assert ended.started_at is not None
    assert ended.finished_at >= ended.started_at
    assert gone == RuntimeStatus(uid="seen")
    assert is_streaming


async def test_lives_of_a_container_are_ordered_and_counted(
    containerd: Containerd, tmp_path: Path
) -> None:
    cache = StatusCache()
    async with (
        pod_on(containerd, tmp_path, "lives") as pod,
        CriClient(containerd.endpoint) as cri,
        Pleg(CriRuntime(cri.runtime), cache, period=0.05) as pleg,
    ):
        await pod.start("exit 1")
        await told(pleg, PodEventType.CONTAINER_DIED, pod.container)
        first = pod.container
        await pod.start("exec sleep 1000", attempt=1)
        await told(pleg, PodEventType.CONTAINER_STARTED, pod.container)
        lives = status_of(cache, "lives").containers

    assert [(each.id, each.restart_count) for each in lives] == [(pod.container, 1), (first, 0)]


async def test_a_runtime_that_is_killed_and_comes_back_is_followed_again(tmp_path: Path) -> None:
    cache = StatusCache()
    with Containerd() as runtime:
        async with (
            pod_on(runtime, tmp_path, "survivor") as pod,
            CriClient(runtime.endpoint) as cri,
            EventedPleg(CriRuntime(cri.runtime), cache) as pleg,
        ):
            await pod.start("exec sleep 1000")
            await told(pleg, PodEventType.CONTAINER_STARTED, pod.container)
            runtime.kill()
            with pytest.raises(RpcUnavailable):
                await cri.runtime.version()
            await asyncio.to_thread(runtime.start)
            await pod.cri.runtime.stop_container(pod.container, grace=0)
            await told(pleg, PodEventType.CONTAINER_DIED, pod.container)

            assert status_of(cache, "survivor").containers[0].exit_code == 137
            assert pleg.healthy()


async def test_a_runtime_that_hangs_is_waited_for_and_then_answers(tmp_path: Path) -> None:
    cache = StatusCache()
    with Containerd() as runtime:
        async with (
            pod_on(runtime, tmp_path, "patient") as pod,
            CriClient(runtime.endpoint, timeout=0.5) as impatient,
            CriClient(runtime.endpoint) as cri,
            EventedPleg(CriRuntime(cri.runtime), cache) as pleg,
        ):
            await pod.start("exec sleep 1000")
            await told(pleg, PodEventType.CONTAINER_STARTED, pod.container)
            runtime.pause()
            try:
                waiting = asyncio.create_task(
                    cache.newer_than("patient", asyncio.get_running_loop().time())
                )
                with pytest.raises(Exception, match=r"DeadlineExceeded|Unavailable"):
                    await impatient.runtime.version()
                assert not waiting.done()
            finally:
                runtime.resume()
            inspection = await waiting

        assert inspection.status.containers[0].state is RuntimeState.RUNNING
