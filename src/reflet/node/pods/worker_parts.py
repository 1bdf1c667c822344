"""What every worker of a pod needs, put together once.

Owns: nothing but the list.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from reflet.api.core.pods import Pod, PodStatus
from reflet.node.pods.admission import Allowance
from reflet.node.pods.configurations import Configurations
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.probes.handlers import HandlerRunner
from reflet.node.process_runtime import ProcessRuntime
from reflet.node.status.events import EventRecorder
from reflet.pleg.relist import Pleg
from reflet.pleg.status_cache import StatusCache
from reflet.processes.crash_backoff import CrashBackoff
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics


class StatusSink(Protocol):
    """Whoever takes the statuses of pods."""

    def report(self, pod: Pod, status: PodStatus, /) -> None:
        """This is the pod's status now."""
        ...

    async def finish(self, pod: Pod, /) -> None:
        """The pod has ended and can go; returns when it is gone, raises when it may not go."""
        ...

    def forget(self, uid: str, /) -> None:
        """Nothing more is told of this pod."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerParts:
    """The collaborators and settings of workers.

    *disk* has the threads in which volumes are written: few, and for that alone, so that a disk
    that hangs keeps nobody else from a thread.  Without *runs_commands*, nothing is started.
    *resync* and *retry* are seconds: when a pod is looked at although nothing happened, and after
    something failed.  *began* is when the agent did.
    """

    runtime: ProcessRuntime
    handlers: HandlerRunner
    cache: StatusCache
    pleg: Pleg
    configurations: Configurations
    volumes: PodVolumes
    disk: Executor
    statuses: StatusSink
    events: EventRecorder
    allowance: Allowance
    addresses: Callable[[], tuple[str, ...]]
    clock: Clock
    began: datetime
    metrics: Metrics
    chance: Callable[[], float]
    runs_commands: bool
    resync: float
    retry: float
    first_backoff: CrashBackoff
