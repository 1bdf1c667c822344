"""An agent in this process on a development server, and the pages that it answers.

Owns: starting it and asking it.  Must not know what is tested.
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import reflet
from reflet.api.core.nodes import Node
from reflet.api.core.small_kinds import Lease
from reflet.testing.pytest_plugin import RunningServer
from tests.node_scenes import (
    NODE,
    PATIENCE,
    Scene,
    declared,
    is_running,
    pod_document,
    running_agent,
    until,
    until_async,
)
from tests.patience import within


@asynccontextmanager
async def scene_on(server: RunningServer, root: Path, **changes: Any) -> AsyncIterator[Scene]:
    """An agent that knows its pods and whose node is ready; *changes* are of its settings."""
    async with (
        reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster,
        within(2 * PATIENCE),
        running_agent(cluster, root, **changes) as agent,
    ):
        await agent.ready()
        # The server has no patience with pods whose node is not ready: deleted, they are gone.
        await until(lambda: not agent.options.register or is_ready(agent.node))
        scene = Scene(cluster, root)
        scene.agent = agent
        yield scene


def is_ready(node: Node | None) -> bool:
    """Whether the server knows that the node is ready."""
    conditions = () if node is None else node.status.conditions
    return any((each.type, each.status) == ("Ready", "True") for each in conditions)


async def registered(scene: Scene) -> tuple[Node, Lease]:
    """The node and its lease, as soon as the agent has made both and the node is ready.

    The node of an agent before it may be there, not ready.
    """
    leases = scene.cluster.resource(Lease, namespace="kube-node-lease")

    async def has_lease() -> bool:
        return NODE in {each.metadata.name for each in (await leases.list()).items}

    await until(lambda: is_ready(scene.agent.node))
    await until_async(has_lease)
    return await scene.cluster.resource(Node).get(NODE), await leases.get(NODE)


async def fetched(url: str | urllib.request.Request) -> tuple[int, str]:
    """The status and the text of a page."""
    return await asyncio.to_thread(_page, url)


def _page(url: str | urllib.request.Request) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@asynccontextmanager
async def web_on(server: RunningServer, root: Path) -> AsyncIterator[Scene]:
    """An agent with one pod that sleeps."""
    async with scene_on(server, root) as scene:
        command = ["sh", "-c", "echo one; echo two; exec sleep 60"]
        document = pod_document("web", command, container=declared(1))
        await scene.pods.create(document)
        await scene.pod("web", is_running)
        yield scene
