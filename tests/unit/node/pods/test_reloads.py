from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from reflet.api.core.pods import Pod
from reflet.node.pods.pod_volumes import Written
from reflet.node.pods.reloads import PodReloads
from reflet.podconfig.resolved_pod import ResolvedPod
from tests.unit.node.paper_node import PaperNode, settings
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container

MOUNT = [{"name": "conf", "mountPath": "/etc/app"}]
CONF = {"name": "conf", "configMap": {"name": "settings", "defaultMode": 0o644}}
COLOR = {"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "color"}}}
CHANGED = Written(frozenset({"conf"}))
NOTHING = Written()


def wanting(how: str, *containers: dict[str, Any]) -> Pod:
    annotations = {"reflet.dev/on-change": how}
    return pod(*containers, metadata={"annotations": annotations}, volumes=[CONF])


async def resolved(node: PaperNode, of: Pod, **data: str) -> ResolvedPod:
    """The pod as it is when the settings are these."""
    await node.objects.register(of, lambda: None)
    node.objects.put(settings(**data))
    return await node.objects.resolve(of)


def reloads_of(node: PaperNode) -> PodReloads:
    return PodReloads(node.runtime, node.factory.events)


# Signals


async def test_those_who_mount_what_changed_get_the_signal_and_it_is_told(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("signal:HUP", container(volumeMounts=MOUNT), container("other"))
    await node.start(web)
    now = await resolved(node, web, color="blue")

    to_restart = await reloads_of(node).reload(now, now, CHANGED)

    assert node.shim.asked[2:] == [f"signal main {signal.SIGHUP:d}"]
    assert node.events.told == [
        ("ConfigurationChanged", "Sent signal 1 to container main: its files have changed")
    ]
    assert to_restart == frozenset()


async def test_what_did_not_change_signals_nobody(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("signal:HUP", container(volumeMounts=MOUNT))
    await node.start(web)
    now = await resolved(node, web, color="blue")

    await reloads_of(node).reload(now, now, NOTHING)

    assert (node.shim.asked, node.events.told) == (["start main 0"], [])


async def test_a_container_that_has_ended_gets_no_signal(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("signal:HUP", container(volumeMounts=MOUNT))
    await node.start(web)
    node.shim.exits("main", 1)
    now = await resolved(node, web, color="blue")

    await reloads_of(node).reload(now, now, CHANGED)

    assert (node.shim.asked, node.events.told) == (["start main 0"], [])


async def test_only_the_life_that_runs_gets_the_signal(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("signal:USR1", container(volumeMounts=MOUNT))
    await node.start(web)
    node.shim.exits("main", 1)
    await node.start(web)
    now = await resolved(node, web, color="blue")

    await reloads_of(node).reload(now, now, CHANGED)

    assert node.shim.asked[2:] == [f"signal main {signal.SIGUSR1:d}"]


# Starting anew


async def test_those_who_mount_what_changed_start_anew(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("restart", container(volumeMounts=MOUNT), container("other"))
    before = await resolved(node, web, color="red")
    now = await resolved(node, web, color="blue")

    assert await reloads_of(node).reload(before, now, CHANGED) == {"main"}


async def test_those_whose_variables_changed_start_anew(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("restart", container(env=[COLOR]), container("other"))
    before = await resolved(node, web, color="red")
    now = await resolved(node, web, color="blue")

    assert await reloads_of(node).reload(before, now, NOTHING) == {"main"}
    assert await reloads_of(node).reload(now, now, NOTHING) == frozenset()


async def test_whoever_could_not_be_started_with_the_new_variables_goes_on(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("restart", container(env=[COLOR]))
    before = await resolved(node, web, color="red")
    now = await resolved(node, web, size="big")

    assert await reloads_of(node).reload(before, now, NOTHING) == frozenset()


async def test_variables_that_were_never_seen_before_are_no_change(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("restart", container(env=[COLOR]))
    now = await resolved(node, web, color="red")

    assert await reloads_of(node).reload(None, now, NOTHING) == frozenset()


async def test_a_container_that_is_new_in_the_pod_is_no_change(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    before = await resolved(node, wanting("restart", container("other")), color="red")
    both = wanting("restart", container("other"), container(env=[COLOR]))
    now = await resolved(node, both, color="red")

    assert await reloads_of(node).reload(before, now, NOTHING) == frozenset()


# Nothing but files


async def test_without_a_wish_only_files_change(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    web = wanting("", container(volumeMounts=MOUNT, env=[COLOR]))
    await node.start(web)
    before = await resolved(node, web, color="red")
    now = await resolved(node, web, color="blue")

    assert await reloads_of(node).reload(before, now, CHANGED) == frozenset()
    assert (node.shim.asked, node.events.told) == (["start main 0"], [])


async def test_a_wish_that_cannot_be_read_is_told_once_for_each_way_of_putting_it(
    tmp_path: Path,
) -> None:
    node = PaperNode(tmp_path)
    reloads = reloads_of(node)
    for wish in ("dance", "dance", "sing", "sing"):
        now = await resolved(node, wanting(wish, container(volumeMounts=MOUNT)), color="red")
        await reloads.reload(now, now, CHANGED)

    assert node.events.told == [
        (
            "InvalidAnnotation",
            f"reflet.dev/on-change: {wish!r} is none of none, restart and signal:NAME",
        )
        for wish in ("dance", "sing")
    ]
