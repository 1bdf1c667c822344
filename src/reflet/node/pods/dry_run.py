"""What an agent does that may not run commands: it writes everything down.

Owns: the environment files, and why containers wait.  Must not know when.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from reflet.node.pods.worker_parts import WorkerParts
from reflet.node.status.container_statuses import CONFIG_ERROR, Waiting
from reflet.node.status.events import WARNING
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.runtime.threads import in_thread

NOT_RUN: Final = "ProcessRuntimeDisabled"
WHY_NOT: Final = "this agent runs no commands without --run; volumes and variables are written"


async def describe_instead(parts: WorkerParts, resolved: ResolvedPod) -> dict[str, Waiting]:
    """Write each container's variables into a file; why each of them waits."""
    pod = resolved.pod
    waiting: dict[str, Waiting] = {}
    for name, environment in resolved.environments.items():
        if environment.error is not None:
            waiting[name] = Waiting(CONFIG_ERROR, environment.error)
            parts.events.of_pod(
                pod, WARNING, "Failed", f"Error: {environment.error}", container=name
            )
            continue
        write = partial(parts.volumes.write_environment, pod, name, environment)
        path = await in_thread(write, executor=parts.disk)
        waiting[name] = Waiting(
            NOT_RUN, f"this agent runs no commands; the variables are in {path} on the node"
        )
    return waiting
