"""An agent in each mode, as people run it, and pods that attack it and each other."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import reflet
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.processes.isolation_check import why_not_isolated
from tests.integration.node_agents import fetched, is_ready
from tests.node_chaos import ServerProcess
from tests.node_scenes import (
    AgentProcess,
    Scene,
    interpreter_variables,
    is_running,
    pod_document,
    processes_below,
    until,
    until_async,
)
from tests.other_users import AGENT, ATTACKER, NOBODY, VICTIM, reachable_folder

CANARY = "CANARY-OF-THE-VICTIM"
ENDED = ("Succeeded", "Failed")

WHY_NOT = why_not_isolated()


@dataclass(frozen=True)
class Mode:
    """How an agent runs."""

    # Names and order of tests follow from these: they are the same in every process of a run.
    is_root: bool
    isolated: bool

    @property
    def user(self) -> int | None:
        return None if self.is_root else AGENT

    def __str__(self) -> str:
        who = "root" if self.is_root else "user"
        return f"{who}-{'isolated' if self.isolated else 'plain'}"


ROOT, ROOT_PLAIN = Mode(is_root=True, isolated=True), Mode(is_root=True, isolated=False)
USER, USER_PLAIN = Mode(is_root=False, isolated=True), Mode(is_root=False, isolated=False)
EVERY = (ROOT, ROOT_PLAIN, USER, USER_PLAIN)


def tried_in(*modes: Mode) -> pytest.MarkDecorator:
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

    async def ready(self) -> None:
        """Return when the agent says where it answers and the server knows its node."""
        await until(lambda: "health at" in self.agent.said)
        async with reflet.connect(kubeconfig=str(self.server.kubeconfig)) as cluster:
            nodes = cluster.resource(Node)

            async def known() -> bool:
                return any(map(is_ready, (await nodes.list()).items))

            await until_async(known)

    @asynccontextmanager
    async def scene(self) -> AsyncIterator[Scene]:
        """The administrator's view; whatever pods a test makes are gone at its end."""
        async with reflet.connect(kubeconfig=str(self.server.kubeconfig)) as cluster:
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


@contextmanager
def opened_house(mode: Mode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An agent in *mode* and its server, until the block ends; skips where it cannot run."""
    if mode.isolated and WHY_NOT is not None:
        pytest.skip(f"containers cannot be isolated here: {WHY_NOT}")
    if mode.user is not None:
        _need_interpreter(mode)
    with reachable_folder(str(mode)) as root:
        server = ServerProcess(tmp_path_factory.mktemp("server"))
        server.start()
        try:
            asyncio.run(server.up())
            agent = _agent(mode, root, server.kubeconfig)
            agent.start()
            try:
                house = House(mode, server, agent, root)
                asyncio.run(house.ready())
                yield house
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
    return AgentProcess(own, root, *arguments, user=mode.user)


def _need_interpreter(mode: Mode) -> None:
    """Skip where another user can run nothing, or has no namespaces."""
    user = mode.user
    script = "from reflet.processes.isolation_check import why_not_isolated as w; print(w() or '')"
    tried = subprocess.run(
        ["python3", "-c", f"import reflet.node.agent; {script}"],
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
    if mode.isolated and (why := tried.stdout.strip()):
        pytest.skip(f"containers cannot be isolated here for user {user}: {why}")


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
            (house.root / "node" / "shim.log").read_text(),
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
