"""What containers are given, the files and variables, and what happens when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import scene_on
from tests.node_scenes import (
    config_map,
    is_running,
    pod_document,
    until,
    waiting_of,
    waits_for,
)


@pytest.mark.parametrize("strategy", ["watch", "auto", "cache", "get"])
async def test_every_strategy_gives_a_pod_what_it_needs(
    server: RunningServer, tmp_path: Path, strategy: str
) -> None:
    async with scene_on(server, tmp_path, strategy=strategy) as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "web",
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("web", is_running)

        assert (scene.container_root(pod) / "etc/app/conf").read_text() == "1"


async def test_an_edit_reaches_the_files_of_a_running_container(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "web",
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("web", is_running)
        file = scene.container_root(pod) / "etc/app/conf"
        before = file.read_text()
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        await until(lambda: file.read_text() == "2")
        after = await scene.pods.get("web")

    assert before == "1"
    assert after.status.container_statuses[0].restart_count == 0


@pytest.mark.parametrize(("annotation", "restarts"), [("signal:USR1", 0), ("restart", 1)])
async def test_a_pod_can_ask_for_more_than_fresh_files(
    server: RunningServer, tmp_path: Path, annotation: str, restarts: int
) -> None:
    script = "trap 'echo heard' USR1; echo begun; while :; do sleep 0.05; done"
    async with scene_on(server, tmp_path) as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "web",
                ["sh", "-c", script],
                metadata={"annotations": {"reflet.dev/on-change": annotation}},
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("web", is_running)
        await until(lambda: "begun" in scene.log(pod))
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        wanted = "heard" if not restarts else "begun"
        await until(lambda: wanted in scene.log(pod, attempt=restarts))
        after = await scene.pod("web", is_running)
        await scene.pod(
            "web", lambda pod: pod.status.container_statuses[0].restart_count == restarts
        )

    assert after.status.phase == "Running"


async def test_a_missing_key_keeps_a_container_waiting_until_it_is_there(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.config_maps.create(config_map("settings", other="x"))
        reference = {"configMapKeyRef": {"name": "settings", "key": "color"}}
        await scene.pods.create(
            pod_document("web", container={"env": [{"name": "COLOR", "valueFrom": reference}]})
        )
        waiting = await scene.pod("web", waits_for("CreateContainerConfigError"))
        events = await scene.events("web", "Failed")
        await scene.config_maps.patch("settings", {"data": {"color": "red"}})
        running = await scene.pod("web", is_running)

    message = "couldn't find key color in ConfigMap default/settings"
    assert (waiting.status.phase, waiting_of(waiting).message) == ("Pending", message)
    assert f"Error: {message}" in {each.message for each in events}
    assert running.status.phase == "Running"


async def test_an_agent_of_the_1_19_rule_tells_which_keys_it_skips(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path, skip_invalid_names=True) as scene:
        await scene.config_maps.create(config_map("settings", **{"color": "red", "1st": "x"}))
        whole = [{"configMapRef": {"name": "settings"}}]
        script = ["sh", "-c", 'echo "$color"; env | grep -c 1st; sleep 600']
        await scene.pods.create(pod_document("web", script, container={"envFrom": whole}))
        pod = await scene.pod("web", is_running)
        await until(lambda: scene.log(pod).count("\n") == 2)
        events = await scene.events("web", "InvalidEnvironmentVariableNames", "Started")

    (told,) = [each for each in events if each.reason == "InvalidEnvironmentVariableNames"]
    assert (told.type, told.count, told.involved_object.field_path) == ("Warning", 1, "")
    assert told.message == (
        "Keys [1st] from the EnvFrom configMap default/settings were skipped since they are "
        "considered invalid environment variable names."
    )
    assert scene.log(pod) == "red\n0\n"


async def test_a_missing_object_keeps_a_volume_from_being_mounted_until_it_is_there(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(
            pod_document("web", volumes=[{"name": "conf", "configMap": {"name": "settings"}}])
        )
        events = await scene.events("web", "FailedMount")
        waiting = await scene.pod("web", waits_for("ContainerCreating"))
        await scene.config_maps.create(config_map("settings", conf="1"))
        running = await scene.pod("web", is_running)

    wanted = 'MountVolume.SetUp failed for volume "conf" : configmap "settings" not found'
    assert wanted in {each.message for each in events}
    assert (waiting.status.phase, running.status.phase) == ("Pending", "Running")


async def test_secrets_are_private_and_gone_with_their_pod(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "key"},
            "stringData": {"key": "s3cret"},
        }
        await scene.secrets.create(secret)
        await scene.pods.create(
            pod_document(
                "web",
                container={"volumeMounts": [{"name": "key", "mountPath": "/etc/key"}]},
                volumes=[{"name": "key", "secret": {"secretName": "key", "defaultMode": 0o400}}],
            )
        )
        pod = await scene.pod("web", is_running)
        file = scene.agent.directories.volume(pod.metadata.uid, "secret", "key") / "key"
        content, mode = file.read_text(), file.stat().st_mode & 0o777
        gate = scene.folder(pod).stat().st_mode & 0o007
        await scene.pods.delete("web")
        await scene.gone("web")

    assert (content, mode, gate, file.exists()) == ("s3cret", 0o400, 0, False)
