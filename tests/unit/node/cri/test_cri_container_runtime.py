from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from reflet.api.core.pods import Pod
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.cri.messages.containers import ContainerConfig, ContainerMetadata, ExecSyncResponse
from reflet.cri.messages.sandboxes import DNSConfig, PodSandboxConfig
from reflet.errors import RpcDeadlineExceeded, RpcUnavailable
from reflet.node.container_runtime import Sandbox
from reflet.node.cri.agents_pods import OwnedPods
from reflet.node.cri.cri_container_runtime import CriContainerRuntime, NodeNetwork, NoSandbox
from reflet.node.cri.pod_dns import ClusterDns
from reflet.node.cri.runtime_classes import RuntimeClasses
from reflet.node.cri.runtime_health import RuntimeHealth
from reflet.node.cri.runtime_labels import container_annotations, container_labels
from reflet.node.pod_folders import PodFolders
from reflet.node.shim.protocol import Executed
from reflet.pleg.runtime_status import EventedRuntime, RuntimePod, RuntimeState, RuntimeStatus
from reflet.testing.virtual_time import VirtualClock
from reflet.volumes.pod_directories import PodDirectories
from tests.unit.node.cri.paper_cri import PaperCri
from tests.unit.node.fake_cluster import FakeCluster
from tests.unit.node.pod_scenes import container, only, pod


class Statuses:
    """Says what pods are doing."""

    def __init__(self) -> None:
        self.ips: tuple[str, ...] = ()

    async def pod_status(self, found: RuntimePod) -> RuntimeStatus:
        return RuntimeStatus(uid=found.uid, ips=self.ips)


class Scene:
    """A runtime on paper; *again* is the next life of the agent."""

    def __init__(self, folder: Path, cri: PaperCri | None = None) -> None:
        self.folder = folder
        self.cri = cri or PaperCri()
        self.pods = Statuses()
        self.cluster = FakeCluster()
        clock = VirtualClock()
        self.directories = PodDirectories(folder / "root")
        self.runtime = CriContainerRuntime(
            OwnedPods(self.cri.runtime, "worker-1"),
            cast("EventedRuntime", self.pods),
            self.directories,
            PodFolders(self.directories, clock=clock),
            scheme="paper",
            health=RuntimeHealth(self.cri.runtime, clock=clock),
            network=NodeNetwork(
                addresses=lambda: ("10.0.0.1",), dns=DNSConfig, cluster=ClusterDns()
            ),
            handlers=RuntimeClasses(cast("Client", self.cluster)),
            logs=folder / "logs",
        )

    def again(self) -> Scene:
        return Scene(self.folder, self.cri)

    async def started(self, of: Pod, attempt: int = 0) -> str:
        """Have a container run that nobody launched."""
        config = ContainerConfig(
            metadata=ContainerMetadata(name="main", attempt=attempt),
            labels=container_labels(of, only(of), "worker-1"),
            annotations=container_annotations(of, only(of), fingerprint="abc", restarts=attempt),
        )
        made = await self.cri.create_container("s0", config, PodSandboxConfig())
        await self.cri.start_container(made)
        return made


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


# Sandboxes


async def test_a_sandbox_is_started_with_an_address_and_a_folder_for_logs(scene: Scene) -> None:
    assert await scene.runtime.run_sandbox(pod())

    live = await scene.runtime.live_sandbox(pod())
    assert (live.id, live.addresses) == ("s0", ("10.1.0.2",))
    assert scene.runtime.addresses("u1") == ("10.1.0.2",)
    assert (scene.folder / "logs" / "shop_web_u1").is_dir()


async def test_a_sandbox_is_run_by_the_handler_of_the_pods_class(scene: Scene) -> None:
    scene.cluster.objects["safe"] = AnyObject.from_dict({"handler": "kata"})

    await scene.runtime.run_sandbox(pod(runtimeClassName="safe"))

    assert "run kata" in scene.cri.asked


async def test_the_next_sandbox_counts_on(scene: Scene) -> None:
    await scene.runtime.run_sandbox(pod())
    await scene.runtime.stop_sandbox("u1")
    with pytest.raises(NoSandbox):
        await scene.runtime.live_sandbox(pod())

    await scene.runtime.run_sandbox(pod())

    live = await scene.runtime.live_sandbox(pod())
    assert live.config.metadata is not None
    assert (live.id, live.config.metadata.attempt) == ("s1", 1)


async def test_a_sandbox_that_has_ended_is_not_stopped_again(scene: Scene) -> None:
    await scene.runtime.run_sandbox(pod())
    await scene.runtime.stop_sandbox("u1")
    await scene.runtime.stop_sandbox("u1")

    assert scene.cri.asked.count("stop sandbox s0") == 1
    assert await scene.runtime.sandbox_id("u1") is None


async def test_on_the_nodes_network_a_pod_has_the_nodes_address(scene: Scene) -> None:
    scene.runtime.make_sandbox(pod(hostNetwork=True))

    assert scene.runtime.addresses("u1") == ("10.0.0.1",)


async def test_the_address_that_a_status_tells_is_kept(scene: Scene) -> None:
    scene.pods.ips = ("10.1.0.9",)

    await scene.runtime.pod_status(RuntimePod(uid="u1"))

    assert scene.runtime.addresses("u1") == ("10.1.0.9",)


async def test_nothing_is_left_of_a_pod_that_is_removed(scene: Scene) -> None:
    gone: list[str] = []
    scene.runtime.on_removed = gone.append
    scene.runtime.make_sandbox(pod())
    await scene.runtime.run_sandbox(pod())

    assert await scene.runtime.remove_pod("u1") == ()

    assert scene.cri.sandboxes == {}
    assert not scene.directories.pod("u1").exists()
    assert [*(scene.folder / "logs").iterdir()] == []
    assert (scene.runtime.sandboxes, gone) == ((), ["u1"])


async def test_another_agent_finds_pods_in_the_runtime_and_in_folders(scene: Scene) -> None:
    in_both = pod(terminationGracePeriodSeconds=7)
    scene.runtime.make_sandbox(in_both)
    await scene.runtime.run_sandbox(in_both)
    elsewhere = pod(metadata={"name": "db", "uid": "u2"}, terminationGracePeriodSeconds=9)
    await scene.runtime.run_sandbox(elsewhere)
    await scene.started(elsewhere)

    left = await scene.again().runtime.load()

    assert {(each.uid, each.name, each.grace) for each in left} == {
        ("u1", "web", 7),
        ("u2", "db", 9),
    }
    assert all(isinstance(each, Sandbox) for each in left)


async def test_a_runtime_that_is_away_is_told(scene: Scene) -> None:
    scene.cri.failures["version"] = RpcUnavailable("Unavailable", "gone")

    with pytest.raises(RpcUnavailable):
        await scene.runtime.up()
    assert scene.runtime.problem() is not None


# Containers


async def test_a_container_ends_within_whole_seconds_and_one_that_is_gone_has_ended(
    scene: Scene,
) -> None:
    made = await scene.started(pod())

    await scene.runtime.end(made, 2.5)
    await scene.runtime.end("absent", 1)

    assert f"stop {made} 3" in scene.cri.asked


async def test_a_command_is_run_and_killed_when_its_time_is_over(scene: Scene) -> None:
    scene.cri.executed = ExecSyncResponse(stdout=b"out", stderr=b"err", exit_code=3)

    done = await scene.runtime.execute("c0", ["look", "here"], timeout=0.5)
    scene.cri.failures["exec"] = RpcDeadlineExceeded("DeadlineExceeded", "late")
    late = await scene.runtime.execute("c0", ["look"], timeout=2)

    assert done == Executed(3, "outerr")
    assert late == Executed(None)
    assert scene.cri.asked[0] == "exec c0 look here 1"


async def test_lives_are_told_newest_first_with_their_logs(scene: Scene) -> None:
    of = pod()
    first = await scene.started(of)
    await scene.runtime.end(first, 1)
    second = await scene.started(of, 1)

    lives = await scene.runtime.records("u1")

    assert [(each.id, each.state) for each in lives] == [
        (second, RuntimeState.RUNNING),
        (first, RuntimeState.EXITED),
    ]
    assert lives[1].log == scene.folder / "logs/shop_web_u1/main/0.log"
    assert await scene.runtime.fingerprints("u1") == {"main": "abc"}


async def test_another_image_is_another_container(scene: Scene) -> None:
    first, second = (only(pod(container(image=name))) for name in ("a", "b"))

    assert scene.runtime.fingerprint(first) != scene.runtime.fingerprint(second)


async def test_a_signal_goes_to_the_process_that_the_runtime_names(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await scene.started(pod())
    sent: list[Any] = []
    opened = os.open("/dev/null", os.O_RDONLY)

    def pidfd_open(pid: int) -> int:
        sent.append(pid)
        return opened

    monkeypatch.setattr(os, "pidfd_open", pidfd_open)
    monkeypatch.setattr("signal.pidfd_send_signal", lambda _, number: sent.append(number))

    assert await scene.runtime.signal(made, 1)
    assert sent == [4194305, 1]


async def test_a_container_that_has_ended_gets_no_signal(scene: Scene) -> None:
    made = await scene.started(pod())
    await scene.runtime.end(made, 1)

    assert not await scene.runtime.signal(made, 1)
