"""Shutdown: what is done about pods when the agent is told to stop.

Everything that runs is ended, each pod within its grace period; what was written for it is
removed, and how it ended is told.  Whether any of that is wanted is for ``agent`` to say: with
``--keep-running`` containers go on, and the next agent takes them over.

Upstream: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go, killPods.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from reflet.errors import RefletError
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.pods.killing import USUAL_GRACE
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.pods.worker import PodWorker
from reflet.node.pods.workers import PodWorkers
from reflet.node.status.status_manager import StatusManager
from reflet.pleg.runtime_status import RuntimeState
from reflet.volumes.volume_errors import VolumeError

logger = logging.getLogger(__name__)


async def end_containers(runtime: ContainerRuntime, workers: Sequence[PodWorker] = ()) -> bool:
    """End everything that runs, each pod within its grace period; whether nothing runs any more.

    Pods that one of *workers* knows end in their order and with their hooks.
    """
    graces = {each.uid: each.grace for each in runtime.sandboxes}
    try:
        await runtime.up()
        pods = await runtime.list_pods()
    except RefletError as error:
        logger.warning("the containers cannot be ended: %s", error)
        return False
    running = [
        (pod.uid, each.id)
        for pod in pods
        for each in pod.containers
        if each.state is RuntimeState.RUNNING
    ]
    known = {worker.uid: worker for worker in workers}
    results = await asyncio.gather(
        *(known[uid].kill() for uid in {uid for uid, _ in running} & known.keys()),
        *(
            runtime.end(container, graces.get(uid, USUAL_GRACE))
            for uid, container in running
            if uid not in known
        ),
        return_exceptions=True,
    )
    results += await asyncio.gather(
        *(runtime.stop_sandbox(pod.uid) for pod in pods if pod.sandboxes), return_exceptions=True
    )
    failures = [result for result in results if isinstance(result, BaseException)]
    for failure in failures:
        logger.warning("a container was not ended: %s", failure)
    return not failures


def clear_volumes(runtime: ContainerRuntime, volumes: PodVolumes) -> None:
    """Remove the configuration of pods that have ended; the next agent writes it again."""
    for sandbox in runtime.sandboxes:
        try:
            volumes.clear(sandbox.uid)
        except VolumeError as error:
            logger.warning("left behind of pod %s: %s", sandbox.uid, error)


async def tell_ends(
    workers: PodWorkers, runtime: ContainerRuntime, reporter: StatusManager | None
) -> None:
    """Tell how every pod ended, and return when *reporter*, if there is one, has written it."""
    for worker in workers.workers:
        pod = await runtime.find_pod(worker.uid)
        if pod is not None:
            worker.report_end(await runtime.pod_status(pod))
            if reporter is not None:
                await reporter.written(worker.uid)
