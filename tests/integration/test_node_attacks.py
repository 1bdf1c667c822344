"""A hostile author of pods, a hostile neighbour and bad luck, on agents as people run them.

Every attack is tried on an agent that is root and on one that is not, with and without
isolation, as far as security.md promises something there.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import reflet
from reflet.api.nodes import Node
from reflet.api.pods import Pod
from reflet.processes.isolation_check import why_not_isolated
from tests.integration.node_agents import fetched
from tests.node_chaos import ServerProcess, keepers_of
from tests.node_scenes import (
    NODE,
    PATIENCE,
    AgentProcess,
    Scene,
    interpreter_variables,
    is_running,
    pod_document,
    processes_below,
    until,
    until_async,
)

AGENT, VICTIM, ATTACKER, NOBODY = 12345, 5001, 6001, 65534
CANARY = "CANARY-OF-THE-VICTIM"
ENDED = ("Succeeded", "Failed")

WHY_NOT = why_not_isolated()
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be root and another user")


@dataclass(frozen=True)
class Mode:
    """How an agent runs."""

    user: int | None
    isolated: bool

    def __str__(self) -> str:
        who = "root" if self.user is None else "user"
        return f"{who}-{'isolated' if self.isolated else 'plain'}"


ROOT, ROOT_PLAIN = Mode(None, isolated=True), Mode(None, isolated=False)
USER, USER_PLAIN = Mode(AGENT, isolated=True), Mode(AGENT, isolated=False)
EVERY = (ROOT, ROOT_PLAIN, USER, USER_PLAIN)


def _in(*modes: Mode) -> pytest.MarkDecorator:
    """Try an attack on these agents."""
    return pytest.mark.parametrize("house", modes, ids=str, indirect=True, scope="module")


@dataclass
class House:
    """An agent in a mode, and its server."""

    mode: Mode
    server: ServerProcess
    agent: AgentProcess
    root: Path

    @property
    def health(self) -> str:
        """The address of the plain port."""
        (line,) = (line for line in self.agent.said.splitlines() if line.startswith("health at"))
        return line.split()[2].partition("/readyz")[0]

    @asynccontextmanager
    async def scene(self) -> AsyncIterator[Scene]:
        """The administrator's view; whatever pods a test makes are gone at its end."""
        async with (
            reflet.connect(kubeconfig=str(self.server.kubeconfig)) as cluster,
            asyncio.timeout(3 * PATIENCE),
        ):
            scene = Scene(cluster, self.root)
            try:
                yield scene
            finally:
                for pod in (await scene.pods.list()).items:
                    await scene.pods.delete(pod.metadata.name)
                for secret in (await scene.secrets.list()).items:
                    await scene.secrets.delete(secret.metadata.name)
                await until_async(lambda: self._is_empty(scene))

    async def _is_empty(self, scene: Scene) -> bool:
        return not (await scene.pods.list()).items


@pytest.fixture(scope="module")
def house(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    mode: Mode = request.param
    if mode.isolated and WHY_NOT is not None:
        pytest.skip(f"containers cannot be isolated here: {WHY_NOT}")
    if mode.user is not None:
        _need_interpreter(mode.user)
    root = tmp_path_factory.mktemp(str(mode))
    server = ServerProcess(tmp_path_factory.mktemp("server"))
    server.start()
    try:
        asyncio.run(server.up())
        agent = _agent(mode, root, server.kubeconfig)
        agent.start()
        try:
            asyncio.run(until(lambda: "health at" in agent.said))
            yield House(mode, server, agent, root)
        finally:
            agent.stop()
    finally:
        server.kill()
    assert processes_below(root) == []


def _agent(mode: Mode, root: Path, kubeconfig: Path) -> AgentProcess:
    own = root / "kubeconfig"
    own.write_bytes(kubeconfig.read_bytes())
    own.chmod(0o600)
    arguments = [] if mode.isolated else ["--no-isolation"]
    if mode.user is None:
        arguments += ["--user", f"{NOBODY}:{NOBODY}"]
        for each in (VICTIM, ATTACKER):
            arguments += ["--allow-users", str(each), "--allow-groups", str(each)]
    else:
        for path in (root, own):
            os.chown(path, mode.user, mode.user)
    for above in (root, *root.parents):
        if above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o011)
    return AgentProcess(own, root, *arguments, user=mode.user)


def _need_interpreter(user: int) -> None:
    tried = subprocess.run(
        ["python3", "-c", "import reflet.node.assembly"],
        env=interpreter_variables(),
        user=user,
        group=user,
        extra_groups=[],
        check=False,
        capture_output=True,
        text=True,
    )
    if tried.returncode:
        pytest.skip("no python3 of the system can run reflet as another user here")


def script(text: str, **more: Any) -> dict[str, Any]:
    """A container that runs a script once."""
    return {"name": "main", "image": "none", "command": ["sh", "-c", text], **more}


async def told_by(scene: Scene, name: str, text: str, **spec: Any) -> str:
    """What a script says in a pod of its own."""
    await scene.pods.create(
        pod_document(name, container=script(text), restartPolicy="Never", **spec)
    )
    return await said_by(scene, name)


async def said_by(scene: Scene, name: str) -> str:
    pod = await scene.pod(name, lambda pod: pod.status.phase in ENDED)
    return scene.log(pod)


async def everything_told(scene: Scene, house: House, name: str) -> str:
    """All words that leave the agent about a pod."""
    pod = await scene.pods.get(name)
    events = await scene.events(name)
    return "\n".join(
        (
            str(pod.status),
            *(each.message for each in events),
            house.agent.said,
            (house.root / "node" / "keeper.log").read_text(),
            (await fetched(f"{house.health}/pods"))[1],
        )
    )


async def victim(scene: Scene, **spec: Any) -> Pod:
    """A pod with a Secret in a file and in a variable."""
    await scene.secrets.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "victim"},
            "stringData": {"password": CANARY},
        }
    )
    reference = {"secretKeyRef": {"name": "victim", "key": "password"}}
    await scene.pods.create(
        pod_document(
            "victim",
            ["sleep", "86400"],
            container={
                "env": [{"name": "P", "valueFrom": reference}],
                "volumeMounts": [{"name": "s", "mountPath": "/etc/key"}],
            },
            volumes=[{"name": "s", "secret": {"secretName": "victim"}}],
            **spec,
        )
    )
    return await scene.pod("victim", is_running)


def as_user(user: int) -> dict[str, Any]:
    return {"securityContext": {"runAsUser": user, "runAsGroup": user}}


# What is another's


@needs_root
@_in(ROOT, ROOT_PLAIN, USER)
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
@_in(ROOT, USER)
async def test_other_pods_and_the_agent_are_not_to_be_seen(house: House) -> None:
    text = f"""
        cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep ^P=
        kill -9 {house.agent.pid} {keepers_of(house.root / "node")[0]} && echo killed
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
@_in(ROOT, USER)
async def test_nothing_of_a_pod_outlives_it(house: House) -> None:
    text = "setsid env -i /bin/sleep 31337 & setsid sleep 31338 & exec sleep 86400"
    async with house.scene() as scene:
        await scene.pods.create(pod_document("stray", container=script(text)))
        await scene.pod("stray", is_running)
        await until(lambda: len(_sleepers()) == 2)
        await scene.pods.delete("stray")
        await scene.gone("stray")

        assert _sleepers() == []


def _sleepers() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if words.endswith((b"sleep\x0031337\x00", b"sleep\x0031338\x00")):
            found.append(words)
    return found


@needs_root
@_in(ROOT, ROOT_PLAIN)
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
    ids=str,
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
@_in(*EVERY)
async def test_output_can_be_opened_again(house: House) -> None:
    async with house.scene() as scene:
        said = await told_by(scene, "web", "echo one > /dev/stdout; echo two > /dev/stderr")

    assert said.split() == ["one", "two"]


@needs_root
@_in(USER_PLAIN)
async def test_what_is_given_up_without_isolation_is_said(house: House) -> None:
    said = house.agent.said
    async with house.scene() as scene:
        node = await scene.cluster.resource(Node).get(NODE)

    assert "WARNING: --no-isolation" in said
    assert "every Secret" in said
    assert node.status.node_info.container_runtime_version.startswith("reflet-processes://")
