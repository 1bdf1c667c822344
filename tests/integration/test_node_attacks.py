"""A hostile author of pods and a hostile neighbour, on agents as people run them.

Every attack is tried on an agent that is root and on one that is not, with and without
isolation, as far as security.md promises something there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from tests.integration.attack_scenes import (
    CANARY,
    ENDED,
    EVERY,
    ROOT,
    ROOT_PLAIN,
    USER,
    USER_PLAIN,
    House,
    as_user,
    everything_told,
    opened_house,
    script,
    told_by,
    tried_in,
    victim,
)
from tests.node_chaos import shims_of
from tests.node_scenes import (
    NODE,
    Scene,
    is_running,
    pod_document,
    until,
)
from tests.other_users import ATTACKER, VICTIM, needs_root
from tests.sleepers import own_time, sleepers


@pytest.fixture(scope="module")
def house(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    with opened_house(request.param, tmp_path_factory) as made:
        yield made


# What is another's


@needs_root
@tried_in(ROOT, ROOT_PLAIN, USER)
async def test_a_working_folder_passes_no_gate(house: House) -> None:
    own, other = ({}, {}) if house.mode.user else (as_user(ATTACKER), as_user(VICTIM))
    async with house.scene() as scene:
        await victim(scene, **other)
        place = await secret_folder(house, scene)
        texts = set()
        for name, folder in (("there", str(place)), ("nowhere", f"{place}-not-there")):
            container = script("cat password", workingDir=folder)
            await scene.pods.create(
                pod_document(name, container=container, restartPolicy="Never", **own)
            )
            pod = await scene.pod(name, _has_tried)
            said = await everything_told(scene, house, name)
            texts.add(_why(pod))
            assert CANARY not in said + scene.log(pod)

    # Nothing tells a folder that is there from one that is not.
    assert len(texts) == 1, texts


async def secret_folder(house: House, scene: Scene) -> Path:
    """Where the victim's Secret is on the machine."""
    uid = (await scene.pods.get("victim")).metadata.uid
    mounts = Path(f"/proc/{house.agent.pid}/root")
    found = [
        path
        for place in ("dev/shm", "run")
        for path in (mounts / place).glob(f"reflet-*/pods/{uid}/volumes/*/s")
    ]
    return Path("/", *found[0].parts[4:])


def _has_tried(pod: Pod) -> bool:
    statuses = pod.status.container_statuses
    waiting = statuses[0].state.waiting if statuses else None
    return pod.status.phase in ENDED or (
        waiting is not None and waiting.reason not in {"ContainerCreating", "PodInitializing"}
    )


def _why(pod: Pod) -> str:
    state = pod.status.container_statuses[0].state
    if state.waiting is not None:
        return state.waiting.message
    return "" if state.terminated is None else state.terminated.message


@needs_root
@tried_in(ROOT, USER)
async def test_other_pods_and_the_agent_are_not_to_be_seen(house: House) -> None:
    text = f"""
        cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep ^P=
        kill -9 {house.agent.pid} {shims_of(house.root / "node")[0]} && echo killed
        cat {house.root}/kubeconfig && echo read
        ls {house.root}/node {house.root}/node/pods && echo listed
        find /dev/shm /run /root /home /var/lib -mindepth 1 2>/dev/null
        cat /etc/shadow && echo shadow
        for path in / /usr /etc /dev /proc/sys/kernel/hostname; do
          (echo x > $path/x || echo x > $path) 2>/dev/null && echo wrote $path; done
        hostname; echo done"""
    async with house.scene() as scene:
        await victim(scene)
        said = await told_by(scene, "attacker", text)

    errors = ("sh: ", "cat: ", "ls: ")
    lines = [line for line in said.splitlines() if line and not line.startswith(errors)]
    assert lines == ["attacker", "done"]


@needs_root
@tried_in(ROOT, USER)
async def test_nothing_of_a_pod_outlives_it(house: House) -> None:
    seconds = own_time()
    text = f"setsid env -i /bin/sleep {seconds} & setsid sleep {seconds} & exec sleep 86400"
    async with house.scene() as scene:
        await scene.pods.create(pod_document("stray", container=script(text)))
        await scene.pod("stray", is_running)
        await until(lambda: len(sleepers(seconds)) == 2)
        await scene.pods.delete("stray")
        await scene.gone("stray")

        assert sleepers(seconds) == []


@needs_root
@tried_in(ROOT, ROOT_PLAIN)
@pytest.mark.parametrize(
    "context",
    [
        {"supplementalGroups": [42]},
        {"supplementalGroups": [6]},
        {"fsGroup": 42},
        {"runAsUser": 7001},
        {"runAsUser": 1},
        {"runAsUser": 0},
        {"runAsUser": ATTACKER, "runAsGroup": 42},
    ],
    ids="-".join,
)
async def test_nobody_is_given_a_user_or_a_group_that_was_not_named(
    house: House, context: dict[str, Any]
) -> None:
    async with house.scene() as scene:
        await scene.pods.create(
            pod_document("other", container=script("id"), securityContext=context)
        )
        pod = await scene.pod("other", lambda pod: pod.status.phase in ENDED)

    assert pod.status.reason == "ProcessRuntimeRefused"
    assert "--allow-" in pod.status.message or "root" in pod.status.message


@needs_root
@tried_in(*EVERY)
async def test_output_can_be_opened_again(house: House) -> None:
    async with house.scene() as scene:
        said = await told_by(scene, "web", "echo one > /dev/stdout; echo two > /dev/stderr")

    assert said.split() == ["one", "two"]


@needs_root
@tried_in(USER_PLAIN)
async def test_what_is_given_up_without_isolation_is_said(house: House) -> None:
    said = house.agent.said
    async with house.scene() as scene:
        node = await scene.cluster.resource(Node).get(NODE)

    assert "WARNING: --no-isolation" in said
    assert "every Secret" in said
    assert node.status.node_info.container_runtime_version.startswith("reflet-processes://")
