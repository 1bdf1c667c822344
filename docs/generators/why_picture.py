"""The picture of ``reflet why deploy/web``, recorded from a run.

``python -m docs.generators.why_picture`` starts a development server with somebody who plays
controllers and kubelets, rolls a Deployment out that serves, then a version of it that asks for a
key that its Secret does not have, and writes ``docs/images/why.svg`` from what the command prints.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, Final

from docs.generators.terminal_svg import COLUMNS, still
from reflet.api import Secret
from reflet.cluster import Cluster, connect
from reflet.devserver.server import DevServer
from reflet.play import Play

IMAGE: Final = Path(__file__).parents[1] / "images/why.svg"
COMMAND: Final = ("why", "deploy/web")
REPLICAS: Final = 3


def picture(printed: str) -> str:
    """Draw the command and what it printed, as lines of a terminal."""
    typed = f"reflet {' '.join(COMMAND)}"
    return still(f"What {typed} prints", f"\x1b[1m$ {typed}\x1b[0m\n{printed}")


async def recorded() -> str:
    """What the command prints of the scene."""
    async with (
        DevServer(tls=False, play=Play("all")) as server,
        connect(kubeconfig=str(server.kubeconfig_path)) as cluster,
    ):
        await _stage(cluster)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "reflet", *COMMAND),
            env={
                **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
                "KUBECONFIG": str(server.kubeconfig_path),
                "COLUMNS": str(COLUMNS),
                "FORCE_COLOR": "1",
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        printed, complaints = await process.communicate()
    if process.returncode != 1:  # something is wrong there, which is the point
        raise RuntimeError(f"reflet {' '.join(COMMAND)}: {complaints.decode()}")
    return printed.decode()


async def _stage(cluster: Cluster) -> None:
    await cluster.resource(Secret).create(
        {"metadata": {"name": "db"}, "stringData": {"pass": "sesame", "user": "shop"}}
    )
    container: dict[str, Any] = {"name": "web", "image": "registry.example/web:1"}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": REPLICAS, "selector": {"matchLabels": labels}, "template": template}
    deployments = cluster.resource("deployments")
    await deployments.create({"metadata": {"name": "web"}, "spec": spec})
    await _until(cluster, "deployments", lambda status: status.get("availableReplicas") == REPLICAS)
    key = {"secretKeyRef": {"name": "db", "key": "password"}}
    container = {
        "name": "web",
        "image": "registry.example/web:2",
        "env": [{"name": "DB_PASSWORD", "valueFrom": key}],
    }
    await deployments.patch("web", {"spec": {"template": {"spec": {"containers": [container]}}}})
    await _until(cluster, "pods", lambda status: "CreateContainerConfigError" in str(status))


async def _until(cluster: Cluster, kind: str, test: Any) -> None:
    resource = await cluster.find(kind)
    async with cluster.mirror(resource, raw=True) as mirror:
        async for change in mirror.changes():
            if test(change.object.status):
                return


if __name__ == "__main__":
    IMAGE.write_text(picture(asyncio.run(recorded())))
    sys.stdout.write(f"wrote {IMAGE.relative_to(IMAGE.parents[2])}\n")
