"""``reflet node --runtime cri``: ``kubectl debug``, which adds a container to a running pod."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.containers.containerd import BUSYBOX
from tests.containers.node_scenes import ContainerNode, container, pod

pytestmark = pytest.mark.time_limit(240)

CONFIG_ERROR: Final = "CreateContainerConfigError"
DEBUG: Final = ("debug", f"--image={BUSYBOX}", "-c", "debugger")


def debugger(node: ContainerNode, name: str) -> dict[str, Any]:
    """The state of the container that was added; empty when there is none."""
    statuses = node.status(name).get("ephemeralContainerStatuses", [{"state": {}}])
    state: dict[str, Any] = statuses[0]["state"]
    return state


def test_a_shell_beside_a_container_sees_its_processes(node: ContainerNode) -> None:
    name = node.running(pod("examined", container("sleep", "4711")))
    command = (*DEBUG, name, "--target=main", "-it", "--", "sh")

    with node.terminal(*command, rows=24, columns=80, websockets="true") as terminal:
        terminal.type("ps | grep -c '[s]leep 4711'; hostname\n")
        terminal.until("\n1")
        terminal.until(name)
        running = debugger(node, name)
        terminal.type("exit 5\n")
        terminal.exit_code()
    node.until(lambda: "terminated" in debugger(node, name), "it has ended")

    (status,) = node.status(name)["ephemeralContainerStatuses"]
    assert "running" in running
    assert (status["state"]["terminated"]["exitCode"], status["restartCount"]) == (5, 0)
    assert "running" in node.state(name)
    node.delete(name)


def test_what_was_added_has_one_life_and_its_log_is_read(node: ContainerNode) -> None:
    name = node.running(pod("once"))
    node.kubectl(*DEBUG, name, "--", "sh", "-c", "echo I was here; exit 3")
    node.until(lambda: "terminated" in debugger(node, name), "it has ended")
    (before,) = node.status(name)["ephemeralContainerStatuses"]
    node.kubectl("label", "pod", name, "looked=at")
    node.kubectl(*DEBUG[:-1], "second", name, "--", "sleep", "100000")
    node.until(
        lambda: "running" in node.status(name)["ephemeralContainerStatuses"][1]["state"], "a second"
    )

    (after, _) = node.status(name)["ephemeralContainerStatuses"]
    assert after == before
    assert node.kubectl("logs", name, "-c", "debugger") == "I was here\n"
    assert node.status(name)["phase"] == "Running"
    node.delete(name)


def test_a_pod_that_is_over_takes_along_what_was_added(node: ContainerNode) -> None:
    wait = "until [ -e /over ]; do sleep 0.05; done"
    name = node.running(pod("over", container("sh", "-c", wait), restartPolicy="Never"))
    node.kubectl(*DEBUG, name, "--", "sleep", "100000")
    node.until(lambda: "running" in debugger(node, name), "it runs")
    node.kubectl("exec", name, "-c", "main", "--", "touch", "/over")
    node.until(lambda: "terminated" in debugger(node, name), "it has ended")

    assert node.status(name)["phase"] == "Succeeded"
    node.delete(name)


def test_a_container_that_is_not_there_yet_cannot_be_looked_at(node: ContainerNode) -> None:
    name = "early"
    node.apply(pod(name, initContainers=[container("sleep", "100000", name="first")]))
    debug = {"name": "debugger", "image": BUSYBOX, "targetContainerName": "main"}
    patch = json.dumps({"spec": {"ephemeralContainers": [debug]}})
    node.kubectl("patch", "pod", name, "--subresource=ephemeralcontainers", "-p", patch)
    told = "Error: unable to find target container main"
    node.until(lambda: ("Failed", told) in node.events(name), "an event")
    node.until(
        lambda: debugger(node, name).get("waiting", {}).get("reason") == CONFIG_ERROR, "it waits"
    )

    assert debugger(node, name)["waiting"]["message"] == "unable to find target container main"
    node.delete(name)
