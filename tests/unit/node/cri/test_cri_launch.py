from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.cri.messages.containers import ContainerConfig
from reflet.cri.messages.images import Image
from reflet.errors import RpcError
from reflet.managers.manager import SecretManager
from reflet.node.container_runtime import Launched
from reflet.node.cri.cri_launch import CriLauncher, LaunchSettings
from reflet.node.cri.image_pulls import ImagePulls
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.status.container_statuses import Waiting
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.runtime_status import RuntimeContainerStatus
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.cri.test_cri_container_runtime import Scene as RuntimeScene
from tests.unit.node.paper_node import AtOnce, PaperConfigurations, PaperEvents, settings
from tests.unit.node.pod_scenes import container, only, pod


class Scene(RuntimeScene):
    """A launcher over a runtime on paper that has one image."""

    def __init__(self, folder: Path, *objects: ConfigMap) -> None:
        super().__init__(folder)
        self.objects = PaperConfigurations(*objects)
        self.events = PaperEvents()
        self.volumes = PodVolumes(self.directories)
        self.cri.images["none:latest"] = Image(id="sha256:none")
        clock = VirtualClock()
        pulls = ImagePulls(
            self.cri.image_service,
            cast("SecretManager", None),
            cast("NodeEvents", self.events),
            clock=clock,
        )
        self.launcher = CriLauncher(
            self.cri.runtime,
            self.runtime,
            pulls,
            self.volumes,
            self.directories,
            settings=LaunchSettings(
                node="worker-1",
                domain="cluster.local",
                memory=2**30,
                profiles=folder / "seccomp",
            ),
            disk=AtOnce(),
            clock=clock,
        )

    async def launch(
        self, of: Pod, last: RuntimeContainerStatus | None = None
    ) -> Launched | Waiting:
        self.runtime.make_sandbox(of)
        await self.runtime.run_sandbox(of)
        await self.objects.register(of, lambda: None)
        resolved = await self.objects.resolve(of)
        self.volumes.write(resolved)
        added = of.spec.ephemeral_containers
        return await self.launcher.launch(of, added[0] if added else only(of), resolved, last)

    @property
    def config(self) -> ContainerConfig:
        return self.cri.configs["c0"]


def asking(**fields: Any) -> Pod:
    return pod(container(imagePullPolicy="IfNotPresent", **fields), enableServiceLinks=False)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, settings(color="red"))


async def test_a_container_is_made_and_started(scene: Scene) -> None:
    launched = await scene.launch(asking(envFrom=[{"configMapRef": {"name": "settings"}}]))

    assert isinstance(launched, Launched)
    assert (launched.life.id, launched.problem) == ("c0", "")
    assert {each.key: each.value for each in scene.config.envs}["color"] == b"red"
    assert scene.cri.asked[-2:] == ["create", "start c0"]


async def test_its_files_are_there_before_it_is(scene: Scene) -> None:
    of = pod(
        container(imagePullPolicy="IfNotPresent", volumeMounts=[{"name": "s", "mountPath": "/s"}]),
        volumes=[{"name": "s", "configMap": {"name": "settings", "defaultMode": 0o644}}],
        enableServiceLinks=False,
    )

    await scene.launch(of)

    places = {each.container_path: Path(each.host_path) for each in scene.config.mounts}
    assert (places["/s"] / "color").read_text() == "red"
    assert "10.1.0.2\tweb" in places["/etc/hosts"].read_text()
    assert places["/dev/termination-log"].stat().st_mode & 0o777 == 0o666


async def test_the_next_life_counts_on_and_has_a_log_of_its_own(scene: Scene) -> None:
    last = RuntimeContainerStatus(id="x", name="main", restart_count=3)

    await scene.launch(asking(), last)

    assert scene.config.log_path == "main/4.log"
    assert scene.config.annotations["io.kubernetes.container.restartCount"] == "4"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"image": "Not An Image"}, "InvalidImageName"),
        ({"envFrom": [{"configMapRef": {"name": "absent"}}]}, "CreateContainerConfigError"),
        (
            {"securityContext": {"runAsNonRoot": True, "runAsUser": 0}},
            "CreateContainerConfigError",
        ),
        ({"volumeMounts": [{"name": "x", "mountPath": "/"}]}, "CreateContainerConfigError"),
    ],
)
async def test_what_cannot_be_made_waits_and_the_runtime_is_not_asked(
    scene: Scene, fields: dict[str, Any], reason: str
) -> None:
    waiting = await scene.launch(asking(**fields))

    assert isinstance(waiting, Waiting)
    assert waiting.reason == reason
    assert "create" not in scene.cri.asked


async def test_a_runtime_that_cannot_make_it_is_quoted(scene: Scene) -> None:
    scene.cri.failures["create"] = RpcError("Unknown", "no room")

    assert await scene.launch(asking()) == Waiting("CreateContainerError", "no room")


async def test_a_container_that_does_not_start_is_there_and_says_why(scene: Scene) -> None:
    scene.cri.failures["start"] = RpcError("Unknown", "exec: not found")

    launched = await scene.launch(asking())

    assert isinstance(launched, Launched)
    assert launched.problem == "exec: not found"


def examined() -> Pod:
    debugger = container(
        "debugger", targetContainerName="main", imagePullPolicy="IfNotPresent", image="none"
    )
    return pod(ephemeralContainers=[debugger], enableServiceLinks=False)


async def test_an_ephemeral_container_is_made_to_see_its_target(scene: Scene) -> None:
    target = await scene.started(examined())

    await scene.launch(examined())

    linux = scene.cri.configs["c1"].linux
    assert linux is not None
    assert linux.security_context is not None
    assert linux.security_context.namespace_options is not None
    assert linux.security_context.namespace_options.target_id == target


async def test_an_ephemeral_container_waits_for_its_target(scene: Scene) -> None:
    assert await scene.launch(examined()) == Waiting(
        "CreateContainerConfigError", "unable to find target container main"
    )
