"""A hostile author of pods, a hostile neighbour and bad luck, on agents as people run them.

Every attack is tried on an agent that is root and on one that is not, with and without
isolation, as far as security.md promises something there.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import reflet
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.node.shim.container_records import records_below
from reflet.processes.isolation_check import why_not_isolated
from reflet.processes.process_table import process_entries
from tests.integration.node_agents import fetched
from tests.node_chaos import ServerProcess, shims_of
from tests.node_scenes import (
    NODE,
    PATIENCE,
    AgentProcess,
    Scene,
    config_map,
    end_of,
    interpreter_variables,
    is_running,
    pod_document,
    processes_below,
    until,
    until_async,
    waiting_of,
    waits_for,
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
        _need_interpreter(mode)
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


# What is too much


def doubling(count: int) -> list[dict[str, str]]:
    """Variables that a few hundred bytes make into gigabytes."""
    first = [{"name": "A0", "value": "x" * 64}]
    chain = [{"name": f"A{n}", "value": f"$(A{n - 1})" * 2} for n in range(1, 18)]
    return [*first, *chain, *({"name": f"B{n}", "value": "$(A17)"} for n in range(count))]


@needs_root
@_in(ROOT, USER_PLAIN)
@pytest.mark.parametrize("where", ["env", "args"])
async def test_a_few_lines_do_not_become_gigabytes(house: House, where: str) -> None:
    container = script("true", env=doubling(300 if where == "env" else 0))
    if where == "args":
        container["args"] = ["$(A17)"] * 300
    async with house.scene() as scene:
        await scene.pods.create(pod_document("wide", container=container, restartPolicy="Never"))
        pod = await scene.pod("wide", waits_for("CreateContainerConfigError"))

    assert "8" in waiting_of(pod).message
    assert _peak(house.agent.pid) < 400 * 2**20
    assert _peak(shims_of(house.root / "node")[0]) < 200 * 2**20


def _peak(pid: int) -> int:
    """The most memory that a process ever had."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


@needs_root
@_in(*EVERY)
async def test_a_secret_in_a_sub_path_is_not_told(house: House) -> None:
    values = {"long": f"{CANARY}{'z' * 300}", "link": f"{CANARY}-link", "file": f"{CANARY}/file"}
    prepare = f"ln -s /etc {CANARY}-link; echo > {CANARY}"
    async with house.scene() as scene:
        await scene.secrets.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "paths"},
                "stringData": values,
            }
        )
        mount = {"name": "e", "mountPath": "/e"}
        for name in values:
            reference = {"secretKeyRef": {"name": "paths", "key": name}}
            container = script(
                "true",
                env=[{"name": "S", "valueFrom": reference}],
                volumeMounts=[mount | {"subPathExpr": "$(S)"}],
            )
            first = script(f"cd $REFLET_ROOT/e; {prepare}", volumeMounts=[mount])
            document = pod_document(
                name,
                container=container,
                initContainers=[first | {"name": "first"}],
                volumes=[{"name": "e", "emptyDir": {}}],
            )
            await scene.pods.create(document)
        for name in values:
            await scene.pod(name, waits_for("CreateContainerConfigError"))
            assert CANARY not in await everything_told(scene, house, name)


@needs_root
@_in(ROOT, ROOT_PLAIN)
async def test_a_lock_on_a_volume_stops_nobody(house: House) -> None:
    async with house.scene() as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "locks",
                ["sh", "-c", "exec flock -x $REFLET_ROOT/etc/app sh -c 'echo locked; sleep 600'"],
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("locks", is_running)
        await until(lambda: "locked" in scene.log(pod))
        file = scene.container_root(pod) / "etc/app/conf"
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        await until(lambda: file.read_text() == "2")
        await scene.config_maps.delete("settings")


# Bad luck


@needs_root
@_in(ROOT, ROOT_PLAIN)
async def test_a_container_that_dies_while_the_shim_lacks_descriptors_is_told_dead(
    house: House,
) -> None:
    (shim,) = shims_of(house.root / "node")
    async with house.scene() as scene:
        await scene.pods.create(pod_document("web", ["sleep", "86400"], restartPolicy="Never"))
        pod = await scene.pod("web", is_running)
        pid = next(
            each.pid
            for each in records_below(house.root / "node" / "pods")
            if each.uid == pod.metadata.uid and each.pid is not None
        )
        limits = resource.prlimit(shim, resource.RLIMIT_NOFILE)
        used = len(list(Path(f"/proc/{shim}/fd").iterdir()))
        resource.prlimit(shim, resource.RLIMIT_NOFILE, (used, limits[1]))
        try:
            os.kill(pid, signal.SIGKILL)
            dead = await scene.pod("web", lambda pod: pod.status.phase == "Failed")
        finally:
            resource.prlimit(shim, resource.RLIMIT_NOFILE, limits)
        await scene.pods.delete("web")
        await scene.gone("web")
        await until(lambda: not _zombies_of(shim))

    assert end_of(dead).exit_code == 137


def _zombies_of(pid: int) -> list[int]:
    return [each.pid for each in process_entries() if each.parent == pid and each.has_ended]
