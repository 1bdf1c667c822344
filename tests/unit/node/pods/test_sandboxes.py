from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from reflet.api.core.pods import Pod
from reflet.errors import RefletError
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.pods import worker
from reflet.node.pods.killing import ContainerStopper
from reflet.node.pods.sandboxes import (
    CHANGED,
    NetworkNotReady,
    PodSandboxes,
    needs_sandbox,
    seen_anew,
)
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.runtime_status import (
    RuntimeContainerStatus,
    RuntimeSandbox,
    RuntimeState,
    RuntimeStatus,
)
from reflet.pods.pod_sources import PodSeen
from tests.unit.node.paper_node import PaperEvents, paper_node, passing, stored_pod
from tests.unit.node.pod_scenes import container, pod


def seen(*ready: bool, **codes: int) -> RuntimeStatus:
    return RuntimeStatus(
        uid="u1",
        sandboxes=tuple(RuntimeSandbox(id=str(n), ready=each) for n, each in enumerate(ready)),
        containers=tuple(
            RuntimeContainerStatus(id=name, name=name, state=RuntimeState.EXITED, exit_code=code)
            for name, code in codes.items()
        ),
    )


@pytest.mark.parametrize(
    ("status", "needed"),
    [
        pytest.param(seen(), True, id="none yet"),
        pytest.param(seen(True), False, id="ready"),
        pytest.param(seen(True, False), False, id="ready, after another"),
        pytest.param(seen(False), True, id="ended"),
        pytest.param(seen(False, True), True, id="the newest has ended"),
        pytest.param(seen(True, True), True, id="two at once"),
    ],
)
def test_a_pod_needs_a_sandbox_unless_its_newest_and_only_it_is_ready(
    status: RuntimeStatus, needed: bool
) -> None:
    assert needs_sandbox(status) is needed


@pytest.mark.parametrize(
    ("policy", "codes", "kept"),
    [
        pytest.param("Always", {"setup": 0, "main": 0, "side": 1}, [], id="all begin again"),
        pytest.param("OnFailure", {"setup": 0, "main": 0, "side": 1}, ["main"], id="but for one"),
        pytest.param(
            "OnFailure", {"setup": 0, "main": 0, "side": 0}, ["setup", "main", "side"], id="over"
        ),
        pytest.param("Never", {"setup": 0, "main": 1}, ["setup", "main"], id="never again"),
    ],
)
def test_in_another_sandbox_everything_begins_again_that_may(
    policy: str, codes: dict[str, int], kept: list[str]
) -> None:
    of = pod(
        container(),
        container("side"),
        initContainers=[container("setup")],
        restartPolicy=policy,
    )

    assert [each.name for each in seen_anew(of, seen(False, **codes)).containers] == kept


class Steps:
    """A runtime and a stopper that note what they are asked for; *failure* is of the start."""

    def __init__(self, failure: RefletError | None = None, network: str | None = None) -> None:
        self.noted: list[str] = []
        self._failure = failure
        self._network = network

    def network_problem(self) -> str | None:
        return self._network

    async def stop_all(self, _: Pod, __: RuntimeStatus) -> None:
        self.noted.append("containers")

    async def stop_sandbox(self, _: str) -> None:
        self.noted.append("old sandbox")

    async def run_sandbox(self, _: Pod) -> bool:
        self.noted.append("new sandbox")
        if self._failure is not None:
            raise self._failure
        return True


def sandboxes(steps: Steps, events: PaperEvents) -> PodSandboxes:
    return PodSandboxes(
        cast("ContainerRuntime", steps),
        cast("ContainerStopper", steps),
        cast("NodeEvents", events),
    )


async def test_what_is_left_of_a_sandbox_ends_before_the_next_begins() -> None:
    steps, events = Steps(), PaperEvents()

    assert await sandboxes(steps, events).start(pod(), seen(False, main=1))

    assert steps.noted == ["containers", "old sandbox", "new sandbox"]
    assert events.told == [("SandboxChanged", CHANGED)]


async def test_a_sandbox_that_cannot_be_made_is_told_as_the_kubelet_does() -> None:
    steps, events = Steps(RefletError("no network")), PaperEvents()

    with pytest.raises(RefletError):
        await sandboxes(steps, events).start(pod(), seen())

    assert events.told == [("FailedCreatePodSandBox", "Failed to create pod sandbox: no network")]


async def test_without_a_network_no_sandbox_is_asked_for_but_on_the_hosts() -> None:
    steps, events = Steps(network="no plugin"), PaperEvents()

    with pytest.raises(NetworkNotReady):
        await sandboxes(steps, events).start(pod(), seen(False, main=1))
    await sandboxes(steps, events).start(pod(hostNetwork=True), seen())

    assert steps.noted == ["new sandbox"]
    assert events.told == [("NetworkNotReady", "network is not ready: no plugin")]


@pytest.mark.virtual_time
async def test_a_pod_looks_every_second_whether_there_is_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "needs_sandbox", lambda _: True)
    async with paper_node(tmp_path) as node:
        monkeypatch.setattr(node.runtime, "network_problem", lambda: "no plugin")
        node.workers.take(PodSeen(stored_pod()))
        await passing(60.0)

    assert node.events.reasons.count("NetworkNotReady") > 30
    assert node.shim.asked == []


@pytest.mark.virtual_time
async def test_variables_are_resolved_again_when_the_sandbox_has_another_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with paper_node(tmp_path) as node:
        resolved: list[Any] = []
        node.objects.on_resolve = resolved.append

        async def another(_: Pod) -> bool:
            return True

        monkeypatch.setattr(node.runtime, "run_sandbox", another)
        node.workers.take(PodSeen(stored_pod()))
        await passing(0.5)

    assert len(resolved) > 1
    assert node.shim.asked == ["start main 0"]
