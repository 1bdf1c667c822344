"""``reflet ps`` on a real container runtime."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from reflet.cri.messages.containers import ContainerState
from tests.containers.containerd import BUSYBOX, Containerd
from tests.containers.test_pleg import Pod, pod_on

pytestmark = pytest.mark.time_limit(120)


async def started(runtime: Containerd, *arguments: str) -> asyncio.subprocess.Process:
    flags = ("--runtime-endpoint", runtime.endpoint, *arguments)
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "reflet", "ps", *flags, stdout=asyncio.subprocess.PIPE
    )


async def ps(runtime: Containerd, *arguments: str) -> str:
    program = await started(runtime, *arguments)
    shown, _ = await program.communicate()
    assert program.returncode == 0
    return shown.decode()


async def ended(pod: Pod) -> None:
    while True:
        answer = await pod.cri.runtime.container_status(pod.container)
        if answer.status is not None and answer.status.state is ContainerState.EXITED:
            return


async def test_what_runs_and_what_has_ended_are_shown(
    containerd: Containerd, tmp_path: Path
) -> None:
    async with pod_on(containerd, tmp_path, "shown") as pod:
        await pod.start("exit 7")
        await ended(pod)
        await pod.start("exec sleep 1000", attempt=1)
        running = await ps(containerd, "--no-headers")
        everything = json.loads(await ps(containerd, "-a", "-o", "json"))

    assert running.split()[:5] == ["shop", "shown", "web", "Running", "1"]
    (found,) = everything["items"]
    assert [each["state"] for each in found["containers"]] == ["running", "exited"]
    assert found["containers"][1]["exitCode"] == 7
    assert {each["image"] for each in found["containers"]} == {BUSYBOX}


async def test_a_change_is_shown_when_it_happens(containerd: Containerd, tmp_path: Path) -> None:
    watching = await started(containerd, "-w", "-o", "json")
    assert watching.stdout is not None
    try:
        async with pod_on(containerd, tmp_path, "watched") as pod:
            await pod.start("exec sleep 1000")
            await pod.cri.runtime.stop_container(pod.container, grace=0)
            async for line in watching.stdout:
                event = json.loads(line)
                if (event["type"], event["containerID"]) == ("ContainerDied", pod.container):
                    break
    finally:
        watching.terminate()
        await watching.communicate()

    assert event["object"]["name"] == "watched"
    assert event["object"]["containers"][0]["exitCode"] == 137
