from __future__ import annotations

import asyncio
import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.node.pods.admission import Allowance, RunAs
from reflet.node.pods.starting import ContainerStarter
from reflet.node.shim.protocol import ShimUnavailable
from reflet.node.status.container_statuses import Waiting
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeState
from reflet.pods.pod_sources import PodSeen
from tests.unit.node.paper_node import PaperNode, paper_node, passing, settings
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container

pytestmark = pytest.mark.virtual_time


def starter_of(node: PaperNode, interrupted: asyncio.Event | None = None) -> ContainerStarter:
    return node.factory.starter(interrupted or asyncio.Event(), lambda _: nullcontext())


async def started(
    node: PaperNode,
    of: Pod,
    *,
    starter: ContainerStarter | None = None,
    last: RuntimeContainerStatus | None = None,
    after_crash: bool = False,
) -> Waiting | None:
    await node.objects.register(of, lambda: None)
    resolved = await node.objects.resolve(of)
    starter = starter or starter_of(node)
    return await starter.start(of, "main", resolved, last, after_crash=after_crash)


def crashed(node: PaperNode, attempt: int = 0) -> RuntimeContainerStatus:
    return RuntimeContainerStatus(
        id="x",
        name="main",
        state=RuntimeState.EXITED,
        finished_at=node.clock.now(),
        exit_code=1,
        restart_count=attempt,
    )


async def test_a_container_gets_its_variables_its_arguments_and_its_root(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    of = pod(
        container(
            command=["show", "$(color)", "$(REFLET_ROOT)/x"],
            envFrom=[{"configMapRef": {"name": "settings"}}],
        )
    )

    waiting = await started(node, of)

    (order,) = node.shim.orders
    root = str(node.directories.container("u1", "main") / "root")
    assert waiting is None
    assert order.arguments == ("show", "red", f"{root}/x")
    assert (order.environment["color"], order.environment["REFLET_ROOT"]) == ("red", root)
    assert order.record.directory == root
    assert order.root is None


async def test_a_working_folder_is_one_of_the_containers_own_where_there_is_one(
    tmp_path: Path,
) -> None:
    node = PaperNode(tmp_path)
    of = pod(
        container(workingDir="/work", volumeMounts=[{"name": "work", "mountPath": "/work"}]),
        volumes=[{"name": "work", "emptyDir": {}}],
    )
    node.directories.make_volume("u1", "emptyDir", "work")

    await started(node, of)

    assert node.shim.orders[0].record.directory.endswith("/main/root/work")


async def test_what_cannot_be_resolved_is_not_started(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    of = pod(container(envFrom=[{"configMapRef": {"name": "settings"}}]))

    waiting = await started(node, of)

    message = 'configmap "settings" not found'
    assert waiting == Waiting("CreateContainerConfigError", message)
    assert node.shim.orders == []
    assert node.events.told == [("Failed", f"Error: {message}")]


async def test_keys_that_are_skipped_are_told_before_the_container_is(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red", **{"1a": "x", "0 b": "y"}))
    of = pod(container(envFrom=[{"configMapRef": {"name": "settings"}}]))

    await started(node, of)

    message = (
        "Keys [0 b, 1a] from the EnvFrom configMap shop/settings were skipped since they "
        "are considered invalid environment variable names."
    )
    assert node.events.told == [
        ("InvalidEnvironmentVariableNames", message),
        ("Created", "Container created"),
        ("Started", "Container started"),
    ]
    assert node.shim.orders[0].environment["color"] == "red"


async def test_a_volume_that_cannot_be_shown_is_told(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    of = pod(container(volumeMounts=[{"name": "nowhere", "mountPath": "/x"}]))

    waiting = await started(node, of)

    assert waiting == Waiting("CreateContainerConfigError", "the pod has no volume nowhere")
    assert node.shim.orders == []


async def test_a_command_that_is_not_there_is_told_as_a_start_that_failed(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)

    waiting = await started(node, pod(container(command=["/no/such/program"])))

    assert waiting == Waiting("RunContainerError", "not found")
    assert node.events.told == [
        ("Created", "Container created"),
        ("Failed", "Error: not found"),
    ]
    assert node.metrics.counted("reflet_node_container_starts_total", result="failed") == 1


async def test_a_shim_that_is_away_is_told_and_nothing_counts_as_started(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    node.shim.failures["start"] = ShimUnavailable("away")

    waiting = await started(node, pod())

    assert waiting == Waiting("RunContainerError", "away")
    assert node.metrics.counted("reflet_node_container_starts_total", result="started") == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
async def test_an_agent_that_is_root_lets_its_containers_through_the_gate(tmp_path: Path) -> None:
    allowance = Allowance(own_user=0, own_group=0, default=RunAs(65534, 65534))
    node = PaperNode(tmp_path, allowance=allowance)

    await started(node, pod(securityContext={"fsGroup": 77}))

    (order,) = node.shim.orders
    given = [order.record.user, order.record.group, order.record.groups]
    assert given == [65534, 65534, (77, 65534)]


async def test_the_first_restart_is_at_once_and_the_second_is_held_back(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    starter = starter_of(node)
    first = starter.held_back(crashed(node))
    await started(node, pod(), starter=starter, last=crashed(node), after_crash=True)
    second = starter.held_back(crashed(node, 1))
    await passing(4.0)

    assert (first, second) == (0, 10)
    assert starter.held_back(replace(crashed(node, 1), finished_at=None)) == 0


async def test_a_restart_that_was_wanted_holds_nothing_back(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    starter = starter_of(node)

    await started(node, pod(), starter=starter, last=crashed(node), after_crash=False)

    assert starter.held_back(crashed(node, 1)) == 0


async def test_who_is_held_back_is_told_as_the_kubelet_tells_it(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    starter = starter_of(node)
    await started(node, pod(), starter=starter, last=crashed(node), after_crash=True)
    node.events.told.clear()

    waiting = starter.hold(pod(), "main")

    assert waiting == Waiting(
        "CrashLoopBackOff", "back-off 10s restarting failed container=main pod=web_shop(u1)"
    )
    assert node.events.told == [
        ("BackOff", "Back-off restarting failed container main in pod web_shop(u1)")
    ]


# The hook after a start


def hooked(**hook: Any) -> Pod:
    return pod(container(lifecycle={"postStart": hook}), terminationGracePeriodSeconds=9)


async def test_a_start_is_over_when_its_hook_is(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)

    waiting = await started(node, hooked(sleep={"seconds": 5}))

    assert waiting is None
    assert node.clock.monotonic() >= 5
    assert node.events.reasons == ["Created", "Started"]


async def test_a_hook_that_fails_ends_its_container_and_tells_nothing_of_itself(
    tmp_path: Path,
) -> None:
    node = PaperNode(tmp_path)
    node.handlers.exit_codes["main"] = 1

    waiting = await started(node, hooked(exec={"command": ["s3cret"]}))

    assert waiting is not None
    assert waiting.reason == "PostStartHookError"
    assert "s3cret" not in waiting.message
    assert node.shim.asked == ["start main 0", "end main 9"]
    assert node.events.told[2:] == [
        ("FailedPostStartHook", "PostStartHook failed"),
        ("Killing", "FailedPostStartHook"),
    ]


async def test_a_container_that_could_not_be_started_has_no_hook(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    of = pod(
        container(command=["/no/where"], lifecycle={"postStart": {"exec": {"command": ["x"]}}})
    )

    await started(node, of)

    assert node.handlers.asked == []


async def test_a_hook_is_given_up_when_the_pod_has_to_go(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    told = asyncio.Event()
    asyncio.get_running_loop().call_later(3, told.set)

    await started(node, hooked(sleep={"seconds": 3600}), starter=starter_of(node, told))

    assert node.clock.monotonic() < 3600
    assert node.shim.asked == ["start main 0"]  # whoever ends the pod ends it too


# In a worker


def deleted(seconds: int) -> dict[str, Any]:
    return {
        "deletionTimestamp": "2026-01-02T03:04:05Z",
        "deletionGracePeriodSeconds": seconds,
        "finalizers": [],
    }


async def settled(node: PaperNode, of: Pod, seconds: float = 5.0) -> None:
    node.workers.take(PodSeen(of))
    await passing(seconds)


async def test_a_hook_after_the_start_holds_back_what_comes_after(tmp_path: Path) -> None:
    slow = container("first", lifecycle={"postStart": {"sleep": {"seconds": 20}}})
    async with paper_node(tmp_path) as node:
        await settled(node, pod(slow, container()), 15.0)
        before = (list(node.shim.asked), node.statuses.latest.phase)
        await passing(10.0)

    assert before == (["start first 0"], "Pending")
    assert node.shim.asked == ["start first 0", "start main 0"]
    assert node.statuses.latest.phase == "Running"


async def test_a_hook_that_fails_is_a_crash(tmp_path: Path) -> None:
    hook = {"postStart": {"exec": {"command": ["x"]}}}
    async with paper_node(tmp_path) as node:
        node.handlers.exit_codes["main"] = 1
        await settled(node, pod(container(lifecycle=hook)), 9.0)
        first = list(node.shim.asked)
        node.handlers.exit_codes.clear()
        await passing(30.0)

    assert first == ["start main 0", "end main 30", "start main 1", "end main 30"]
    assert node.shim.asked[4:] == ["start main 2"]
    assert node.statuses.latest.phase == "Running"


async def test_a_pod_that_is_deleted_during_a_hook_ends_and_starts_nothing_more(
    tmp_path: Path,
) -> None:
    slow = container("first", lifecycle={"postStart": {"sleep": {"seconds": 3600}}})
    async with paper_node(tmp_path) as node:
        await settled(node, pod(slow, container()))
        await settled(node, pod(slow, container(), metadata=deleted(30)))

    assert node.shim.asked == ["start first 0", "end first 30"]
    assert node.statuses.finished == ["u1"]


async def test_a_long_hook_is_no_sign_of_a_stuck_worker(tmp_path: Path) -> None:
    slow = container(lifecycle={"postStart": {"sleep": {"seconds": 3600}}})
    async with paper_node(tmp_path) as node:
        await settled(node, pod(slow), 3000.0)

        assert node.workers.complaints() == {}
