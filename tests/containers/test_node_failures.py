"""``reflet node --runtime cri``, when things go wrong: crashes, memory, images, kills."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.containers.containerd import Containerd
from tests.containers.images import PATH, busybox_image
from tests.containers.node_scenes import SLEEP, ContainerNode, container, new_namespace, pod
from tests.containers.registry import Registry
from tests.real.kube_server import KubeServer

pytestmark = pytest.mark.time_limit(240)


def test_a_crash_is_told_and_held_back_and_its_log_is_kept(node: ContainerNode) -> None:
    name = "crash"
    node.apply(
        pod(
            name,
            container(
                "sh",
                "-c",
                "echo boom; echo why > /dev/termination-log; exit 7",
            ),
        )
    )
    node.until(
        lambda: node.state(name).get("waiting", {}).get("reason") == "CrashLoopBackOff",
        "CrashLoopBackOff",
    )
    (status,) = node.status(name)["containerStatuses"]

    ended = status["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"], ended["message"]) == (7, "Error", "why\n")
    assert status["state"]["waiting"]["message"].startswith("back-off 10s restarting failed")
    assert node.kubectl("logs", name, "--previous" if status["restartCount"] else name) != ""
    assert "BackOff" in [reason for reason, _ in node.events(name)]
    node.delete(name)


def test_a_container_without_memory_is_killed_and_told_so(node: ContainerNode) -> None:
    name = "greedy"
    eat = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done"
    node.apply(
        pod(
            name,
            container("sh", "-c", eat, resources={"limits": {"memory": "16Mi"}}),
            restartPolicy="Never",
        )
    )
    node.until(lambda: "terminated" in node.state(name), "it ends")

    ended = node.state(name)["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
    assert node.status(name)["phase"] == "Failed"
    node.delete(name)


def test_a_deleted_pod_has_its_grace_period(node: ContainerNode) -> None:
    patient = "trap 'echo bye; sleep 1; exit 0' TERM; while :; do sleep 0.1; done"
    name = node.running(pod("leaving", container("sh", "-c", patient)))
    with node.followed("logs", "-f", name) as following:
        began = time.monotonic()
        node.delete(name)
        took = time.monotonic() - began
        said, _ = following.communicate(timeout=30)

    assert said == "bye\n"
    assert took < 5
    assert node.runtime.containers() == []


def test_an_image_that_is_not_there_is_tried_again_later(
    node: ContainerNode, registry: Registry
) -> None:
    name, image = "nowhere", f"{registry.address}/nobody/nothing:1"
    node.apply(pod(name, container(*SLEEP, image=image)))
    node.until(
        lambda: node.state(name).get("waiting", {}).get("reason") == "ErrImagePull", "ErrImagePull"
    )
    node.until(
        lambda: node.state(name).get("waiting", {}).get("reason") == "ImagePullBackOff",
        "ImagePullBackOff",
    )

    message = node.state(name)["waiting"]["message"]
    assert message.startswith(f'Back-off pulling image "{image}": ErrImagePull: rpc error: ')
    told = node.events(name)
    assert ("Pulling", f'Pulling image "{image}"') in told
    assert ("BackOff", f'Back-off pulling image "{image}"') in told
    assert ("Failed", "Error: ErrImagePull") in told
    node.delete(name)


def test_a_private_image_is_pulled_with_the_pods_secret(
    node: ContainerNode, containerd: Containerd
) -> None:
    with Registry() as private:
        containerd.trust(private)
        image = private.push(
            # An image of its own: one with two names would be shown by either in other tests.
            "team/app:1",
            busybox_image(containerd.programs, environment=(PATH, "TEAM=private")),
        )
        private.accounts = {"robot": "s3cret"}
        node.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "pull"},
                "type": "kubernetes.io/dockerconfigjson",
                "stringData": {
                    ".dockerconfigjson": private.docker_config("robot", "s3cret").decode()
                },
            }
        )
        node.apply(pod("refused", container(*SLEEP, image=image)))
        name = node.running(
            pod("private", container(*SLEEP, image=image), imagePullSecrets=[{"name": "pull"}])
        )
        node.until(lambda: "ErrImagePull" in json.dumps(node.state("refused")), "it is refused")

    pulled = dict(node.events(name))["Pulled"]
    assert re.fullmatch(
        rf'Successfully pulled image "{re.escape(image)}" in \S+ \(\S+ including waiting\)\. '
        r"Image size: [1-9][0-9]* bytes\.",
        pulled,
    )
    node.delete(name, "refused")


@pytest.mark.parametrize(
    ("image", "policy", "reason"),
    [
        ("localhost/absent:1", "Never", "ErrImageNeverPull"),
        ("Not/An Image", "Always", "InvalidImageName"),
    ],
)
def test_an_image_that_cannot_be_is_told_as_the_kubelet_does(
    node: ContainerNode, image: str, policy: str, reason: str
) -> None:
    name = f"no-{reason.lower()}"
    node.apply(pod(name, container(*SLEEP, image=image, imagePullPolicy=policy)))

    node.until(lambda: node.state(name).get("waiting", {}).get("reason") == reason, reason)
    node.delete(name)


# Another agent


def test_an_agent_that_was_killed_comes_back_to_its_pods(node: ContainerNode) -> None:
    kept = node.running(pod("kept"))
    gone = node.running(pod("gone"))
    before = node.status(kept)["containerStatuses"][0]
    node.kill()
    node.kubectl("delete", "pod", gone, "--grace-period=0", "--force")

    node.start()
    node.until(lambda: len(node.runtime.processes()) == 2, "only one pod is left")

    after = node.status(kept)["containerStatuses"][0]
    assert after["containerID"] == before["containerID"]
    assert after["restartCount"] == 0
    assert after["state"] == before["state"]
    assert node.kubectl("exec", kept, "--", "echo", "here") == "here\n"
    node.delete(kept)
    assert node.runtime.containers() == []
    assert [*(node.root / "pods").iterdir()] == []


def test_a_runtime_that_is_killed_and_comes_back_ends_no_pod(kube: KubeServer) -> None:
    with (
        Containerd() as runtime,
        ContainerNode(kube, runtime, new_namespace(kube)) as node,
    ):
        name = node.running(pod("kept"))
        before = node.status(name)["containerStatuses"][0]
        runtime.kill()
        runtime.start()
        later = node.running(pod("later"))

        assert node.status(name)["containerStatuses"][0] == before
        assert node.kubectl("exec", name, "--", "echo", "here") == "here\n"
        node.delete(name, later)
        assert runtime.containers() == []


def test_a_pod_whose_sandbox_died_begins_again(node: ContainerNode) -> None:
    name = node.running(pod("unlucky"))
    (pause,) = [
        each
        for each in node.runtime.processes()
        if b"100000" not in Path(f"/proc/{each}/cmdline").read_bytes()
    ]
    os.kill(pause, signal.SIGKILL)
    node.until(
        lambda: (
            node.status(name)["containerStatuses"][0]["restartCount"] == 1
            and "running" in node.state(name)
        ),
        "it runs again",
    )

    assert "SandboxChanged" in [reason for reason, _ in node.events(name)]
    node.delete(name)
    assert node.runtime.containers() == []
