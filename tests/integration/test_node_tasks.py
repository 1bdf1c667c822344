"""Every task of a whole agent is struck, and the agent goes on, or ends and says so.

Nothing here names a part: whatever the agent keeps is struck, so a new task is, too.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Self, cast

import pytest

import reflet
from reflet.api.core.pods import Pod
from reflet.node import agent
from reflet.node.agent import NodeAgent
from reflet.node.process_runtime import ProcessRuntime
from reflet.runtime import permanent_tasks
from reflet.runtime.clock import Clock
from reflet.runtime.permanent_tasks import PermanentTasks, TaskEnded, Work
from reflet.runtime.tasks import TaskOwner
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import fetched, is_ready, scene_on
from tests.node_scenes import (
    PATIENCE,
    AgentProcess,
    Scene,
    agent_process,
    config_map,
    is_running,
    node_options,
    pod_document,
    until,
)

pytestmark = pytest.mark.time_limit(4 * PATIENCE)

PAGE: Final = Path(__file__).parents[2] / "docs/explanation/node-agent.md"
LABELS: Final = {"app": "bound"}
ALL_TASKS: Final = {"selector": "app=bound"}
"""The settings of an agent that has nearly every task there is."""

WITH_A_CERTIFICATE: Final = "port with TLS"
THE_ONE_THAT_TELLS: Final = "plain port"

MAY_END: Final = (
    r"orphans",  # ends what an earlier agent left, once
    r"pod [^/]+/.+",  # with its pod; begun again by the workers
    r"status writer \d+|watch of pods|pods that went unseen|accepting",  # pieces of what is kept
    r"reflector .+|idle .+ streams|handler .+",  # of a mirror or manager; see the page
    r"request|end of a wait|kept .+",  # of one peer; of whoever waits; of this test
)


class Struck(PermanentTasks):
    """Keeps tasks, each of which can be struck by an error in the middle of its life."""

    latest: Struck

    def __init__(self, *, clock: Clock | None = None) -> None:
        super().__init__(clock=clock)
        self.lives: Counter[str] = Counter()
        self._blows: dict[str, asyncio.Future[None]] = {}
        type(self).latest = self

    def keep(self, tasks: TaskOwner, work: Work, /, *, name: str) -> asyncio.Task[None]:
        async def struck() -> None:
            self.lives[name] += 1
            blow = self._blows[name] = asyncio.get_running_loop().create_future()
            life = asyncio.ensure_future(work())
            life.set_name(f"kept {name}")
            try:
                done, _ = await asyncio.wait((life, blow), return_when=asyncio.FIRST_COMPLETED)
            finally:
                life.cancel()
                await asyncio.wait((life,))
            done.pop().result()

        return super().keep(tasks, struck, name=name)

    def strike(self, error: Exception, *, spare: str = "") -> None:
        """Let every task fail, but for one."""
        for name, blow in self._blows.items():
            if name != spare:
                blow.set_exception(error)


@pytest.fixture
def _struck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents whose tasks can be struck, and begin again at once."""
    monkeypatch.setattr(agent, "PermanentTasks", Struck)
    monkeypatch.setattr(permanent_tasks, "FIRST_PAUSE", 0.01)


async def works(scene: Scene, name: str) -> None:
    """A pod is bound, its volume is filled and refreshed, it runs and goes."""
    await scene.config_maps.create(config_map(name, value="1"))
    document = pod_document(
        name,
        container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
        metadata={"labels": LABELS},
        volumes=[{"name": "conf", "configMap": {"name": name}}],
    )
    del document["spec"]["nodeName"]
    await scene.pods.create(document)
    pod = await scene.pod(name, is_running)
    await scene.events(name, "Started")
    file = scene.container_root(pod) / "etc/app/value"
    await scene.config_maps.patch(name, {"data": {"value": "2"}})
    await until(lambda: file.read_text() == "2")
    await scene.pods.delete(name)
    await scene.gone(name)


@pytest.mark.usefixtures("_struck")
async def test_every_task_goes_on_after_an_error_that_passes(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path, **ALL_TASKS) as scene:
        permanent = Struck.latest
        await works(scene, "before")
        permanent.strike(OSError(errno.EMFILE, "Too many open files"))
        await until(lambda: set(permanent.lives.values()) == {2})
        await works(scene, "after")
        status, words = await fetched(f"{scene.agent.health_url}/livez?verbose")

        assert (status, set(permanent.problems.values())) == (200, {None}), words


@asynccontextmanager
async def broken(server: RunningServer, root: Path) -> AsyncIterator[tuple[Scene, NodeAgent]]:
    """An agent with a pod that runs, to be left with the error that ended it."""
    options = node_options(root, **ALL_TASKS)
    async with (
        reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster,
        NodeAgent(cluster, options) as agent,
    ):
        scene = Scene(cluster, root)
        await until(lambda: is_ready(agent.node))
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)
        yield scene, agent
        await agent.ended()


class Ended:
    """Takes the error that an agent ends with."""

    error: TaskEnded

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> bool:
        assert isinstance(error, TaskEnded), error
        self.error = error
        return True


@pytest.mark.usefixtures("_struck")
async def test_a_task_that_nothing_helps_fails_livez_and_ends_the_agent_but_no_container(
    server: RunningServer, tmp_path: Path
) -> None:
    ended = Ended()
    async with ended, broken(server, tmp_path) as (scene, agent):
        permanent = Struck.latest
        permanent.strike(TypeError("a mistake"), spare=THE_ONE_THAT_TELLS)
        await until(lambda: list(permanent.problems.values()).count(None) == 1)
        status, words = await fetched(f"{agent.health_url}/livez")
        shim, before = (
            cast("ProcessRuntime", agent._opened.runtime)._shim.pid,
            await scene.pods.get("web"),
        )

    assert ended.error.why == "TypeError"
    assert status == 503
    for name in permanent.problems.keys() - {THE_ONE_THAT_TELLS}:
        assert f"[-]task/{name} failed: it has ended: TypeError" in words.splitlines()
    async with scene_on(server, tmp_path) as scene:
        after = await scene.pod("web", is_running)
        assert container_id(after) == container_id(before)
    await asyncio.to_thread(os.waitpid, shim, 0)  # a child of the first agent


def container_id(pod: Pod) -> str:
    return pod.status.container_statuses[0].container_id


@pytest.mark.usefixtures("_struck")
async def test_every_task_of_an_agent_is_kept_or_may_end(
    server: RunningServer, tmp_path: Path
) -> None:
    before = asyncio.all_tasks()
    async with scene_on(server, tmp_path, **ALL_TASKS) as scene:
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)
        names = {task.get_name() for task in asyncio.all_tasks() - before}

    forgotten = names - set(Struck.latest.problems)
    assert [name for name in forgotten if not re.fullmatch("|".join(MAY_END), name)] == []


@pytest.mark.usefixtures("_struck")
async def test_the_page_names_every_task_that_is_kept(
    server: RunningServer, tmp_path: Path
) -> None:
    section = PAGE.read_text().partition("## What is never to end")[2].partition("\n## ")[0]
    named = {name for line in section.splitlines() for name in re.findall(r"`task/([^`]+)`", line)}
    async with scene_on(server, tmp_path, **ALL_TASKS):
        kept = set(Struck.latest.problems)
    async with scene_on(server, tmp_path, strategy="cache"):
        kept |= set(Struck.latest.problems)

    assert named == kept | {WITH_A_CERTIFICATE}


MISTAKEN: Final = """
from reflet.node.identity.node_lease import NodeLease
from reflet.cli.main import main

async def renew(self):
    raise TypeError("a mistake")

NodeLease.renew = renew
main()
"""


async def test_the_command_ends_with_one_line_and_leaves_its_containers_to_the_next(
    server: RunningServer, tmp_path: Path
) -> None:
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        scene = Scene(cluster, tmp_path)
        with agent_process(server.kubeconfig, tmp_path) as agent:
            await scene.pods.create(pod_document("web"))
            before = await scene.pod("web", is_running)
            agent.kill()
            ended = await asyncio.to_thread(run_mistaken, agent)
            agent.start()
            await until(lambda: agent.said.count("kept in") == 2)
            after = await scene.pod("web", is_running)

    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "error: the task 'lease' has ended for good: TypeError; the log says where"
    )
    assert container_id(after) == container_id(before)


def run_mistaken(agent: AgentProcess) -> subprocess.CompletedProcess[str]:
    command = [agent.command[0], "-c", MISTAKEN, *agent.command[3:]]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, env=os.environ, check=False
    )
