"""Where pods come from when nobody has bound them to the node."""

from __future__ import annotations

from pathlib import Path

from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import fetched, scene_on
from tests.node_scenes import (
    NODE,
    is_running,
    pod_document,
    processes_below,
    until,
)


async def test_pods_can_come_from_a_folder(server: RunningServer, tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    manifest = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: none
    command: [sh, -c, 'echo "$COLOR"; while :; do sleep 0.05; done']
    env: [{name: COLOR, value: WORD}]
"""
    (folder / "web.yaml").write_text(manifest.replace("WORD", "red"))

    def logs() -> list[str]:
        pods = (tmp_path / "node" / "pods").glob("*/containers/main/*.log")
        return [path.read_text().split(" ", 3)[3].strip() for path in pods if path.stat().st_size]

    async with scene_on(server, tmp_path, pods_from=str(folder), relist=0.1) as scene:
        await until(lambda: logs() == ["red"])
        _, shown = await fetched(f"{scene.agent.health_url}/pods")
        (folder / "web.yaml").write_text(manifest.replace("WORD", "blue"))
        await until(lambda: "blue" in logs())
        (folder / "web.yaml").unlink()
        await until(lambda: not processes_below(tmp_path) and not logs())

    assert '"name":"web"' in shown


async def test_unbound_pods_that_a_selector_chooses_are_bound_to_the_node(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path, selector="app=web") as scene:
        chosen = pod_document("web", metadata={"labels": {"app": "web"}})
        other = pod_document("other")
        for document in (chosen, other):
            del document["spec"]["nodeName"]
            await scene.pods.create(document)
        pod = await scene.pod("web", is_running)
        left = await scene.pods.get("other")

    assert (pod.spec.node_name, left.spec.node_name) == (NODE, "")
