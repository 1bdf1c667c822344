"""What the agent has of the runtime that it opened, and what a runtime is opened with.

The agent chooses a runtime by its options; everything after that is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Final

from reflet.client.client import Client
from reflet.managers.manager import SecretManager
from reflet.node.container_runtime import ContainerLauncher, ContainerRuntime, Sandbox
from reflet.node.descriptor_budget import DescriptorBudget
from reflet.node.options import NodeOptions
from reflet.node.pods.admission import Allowance
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.server.log_service import FindPod
from reflet.node.server.pod_services import PodServices
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.relist import Pleg
from reflet.pleg.status_cache import StatusCache
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import MetricText
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.volumes.pod_directories import PodDirectories

REQUESTS: Final = 1000  # pods that may wait to be looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeParts:
    """What a runtime is opened with.

    *client* reads what pods name.  *addresses* are the node's.  *on_ended* is told the uid of a pod
    of which a container has ended, *on_lost* that nobody knows what was missed.
    *containers_go_on* says, when all is closed, whether containers outlive the agent.
    """

    options: NodeOptions
    client: Client
    directories: PodDirectories
    addresses: Callable[[], tuple[str, ...]]
    on_ended: Callable[[str], None]
    on_lost: Callable[[], None]
    containers_go_on: Callable[[], bool]
    clock: Clock
    metrics: MetricText
    permanent: PermanentTasks

    def pleg_options(self) -> dict[str, Any]:
        """The options of a relist loop."""
        return {
            "clock": self.clock,
            "period": self.options.relist,
            "request_capacity": REQUESTS,
            "event_capacity": REQUESTS * 4,
            "metrics": self.metrics,
            "permanent": self.permanent,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchParts:
    """What containers are started with; *disk* has the threads in which files are written."""

    volumes: PodVolumes
    disk: Executor
    allowance: Allowance
    events: NodeEvents
    secrets: SecretManager


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRuntime:
    """A runtime that can be asked, with what belongs to it.

    *left* are the pods of an earlier life of the agent.  *version* is what the Node says of it.
    """

    runtime: ContainerRuntime
    cache: StatusCache
    pleg: Pleg
    left: tuple[Sandbox, ...]
    budget: DescriptorBudget
    version: str
    launcher: Callable[[LaunchParts], ContainerLauncher]
    services: Callable[[FindPod], PodServices]
    chores: tuple[tuple[str, Callable[[], Coroutine[Any, Any, None]]], ...] = ()
