"""One pod on a node on paper, with files of a ConfigMap."""

from __future__ import annotations

from reflet.api.core.pods import Pod
from reflet.node.pods.worker import PodWorker
from reflet.pods.pod_sources import PodSeen
from tests.unit.node.paper_node import PaperNode, passing
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container

CONF = {"name": "conf", "configMap": {"name": "settings", "defaultMode": 0o644}}
MOUNT = [{"name": "conf", "mountPath": "/etc/app"}]


def reloading(how: str) -> Pod:
    return pod(
        container(volumeMounts=MOUNT),
        metadata={"annotations": {"reflet.dev/on-change": how}},
        volumes=[CONF],
    )


def conf(node: PaperNode) -> str:
    return (node.directories.volume("u1", "configMap", "conf") / "color").read_text()


async def settled(node: PaperNode, of: Pod, seconds: float = 5.0) -> PodWorker:
    node.workers.take(PodSeen(of))
    await passing(seconds)
    (worker,) = node.workers.workers
    return worker
