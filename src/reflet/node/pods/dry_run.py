"""An agent without ``--run``: nothing is started, and everything is written down instead.

Volumes are filled as usual; the variables of each container go to a private file that a shell can
read, and its status says where that is.
"""

from __future__ import annotations

from concurrent.futures import Executor
from functools import partial
from typing import Final

from reflet.controllers.event_recorder import NORMAL, WARNING
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.status.container_statuses import CONFIG_ERROR, Waiting
from reflet.node.status.node_events import NodeEvents
from reflet.node.status.pod_events import tell_skipped_names
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.runtime.threads import in_thread

NOT_RUN: Final = "ProcessRuntimeDisabled"
WHY_NOT: Final = "this agent runs no commands without --run; volumes and variables are written"


class DryRun:
    """Describes the containers of one pod; *disk* has the threads in which files are written."""

    def __init__(self, volumes: PodVolumes, events: NodeEvents, *, disk: Executor) -> None:
        self._volumes = volumes
        self._events = events
        self._disk = disk
        self._was_told = False

    async def describe(self, resolved: ResolvedPod) -> dict[str, Waiting]:
        """Write each container's variables into a file; why each of them waits.

        What would be started is told once, and not before all of it could be.
        """
        pod = resolved.pod
        waiting: dict[str, Waiting] = {}
        for name, environment in resolved.environments.items():
            if environment.error is not None:
                waiting[name] = Waiting(CONFIG_ERROR, environment.error)
                self._events.of_pod(
                    pod, WARNING, "Failed", f"Error: {environment.error}", container=name
                )
                continue
            write = partial(self._volumes.write_environment, pod, name, environment)
            path = await in_thread(write, executor=self._disk)
            waiting[name] = Waiting(
                NOT_RUN, f"this agent runs no commands; the variables are in {path} on the node"
            )
        if not self._was_told and all(each.reason == NOT_RUN for each in waiting.values()):
            self._was_told = True
            self._tell(resolved)
        return waiting

    def _tell(self, resolved: ResolvedPod) -> None:
        pod = resolved.pod
        for environment in resolved.environments.values():
            tell_skipped_names(self._events, pod, environment)
        self._events.of_pod(
            pod, NORMAL, NOT_RUN, f"would start {', '.join(resolved.environments)}: {WHY_NOT}"
        )
