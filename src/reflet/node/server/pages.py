"""What the agent answers: health, metrics, pods, logs and streams, and which page is where.

Upstream: pkg/kubelet/server/server.go, Server.InstallAuthNotRequiredHandlers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from reflet.api.codec import encode
from reflet.api.core.pods import PodStatus
from reflet.api.core.services import Service
from reflet.errors import CacheNotSynced, RefletError
from reflet.informer.mirror import Mirror
from reflet.managers.manager import ObjectManager
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.identity.node_lease import LEASE_DURATION, NodeLease
from reflet.node.identity.node_registration import NodeRegistration
from reflet.node.pods.workers import PodWorkers
from reflet.node.server.pod_services import PodServices
from reflet.node.status.container_statuses import SCHEME
from reflet.node.status.status_manager import LocalStatuses, StatusSink
from reflet.pleg.relist import Pleg
from reflet.pods.pod_sources import PodFeed
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import CONTENT_TYPE, MetricText
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.transport.serving.health_checks import Health
from reflet.transport.serving.http_answers import Answer, Question, Upgrade

CONTAINER_STATUSES: Final = (
    "containerStatuses",
    "initContainerStatuses",
    "ephemeralContainerStatuses",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPages:
    """Answers questions about the parts of one agent."""

    runtime: ContainerRuntime
    pleg: Pleg
    feed: PodFeed
    services: Mirror[Service]
    managers: Sequence[ObjectManager[Any]]
    workers: PodWorkers
    statuses: StatusSink
    registration: Callable[[], NodeRegistration | None]
    heartbeat: Callable[[], NodeLease | None]
    pod_services: PodServices
    permanent: PermanentTasks
    metrics: MetricText
    clock: Clock

    async def answer(self, question: Question) -> Answer | Upgrade:
        """Answer one question."""
        match question.path:
            case ("livez" | "readyz" | "healthz", *_):
                return self._health().answer(question)
            case ("metrics",):
                return Answer(200, self.metrics.text().encode(), CONTENT_TYPE)
            case ("pods",):
                return self._pods(tells_all=question.is_reader)
            case _:
                return await self.pod_services.answer(question)

    def _health(self) -> Health:
        return Health(
            live={
                "shim" if self.runtime.scheme == SCHEME else "runtime": self.runtime.problem,
                "pleg": self.pleg.why_unhealthy,
                **{
                    f"task/{name}": partial(self._task_problem, name)
                    for name in self.permanent.problems
                },
            },
            ready={
                "pods": self.feed.why_not_ready,
                "services": self._services_problem,
                "node": self._node_problem,
                "lease": self._lease_problem,
            },
            many=self._what_comes_and_goes,
        )

    def _task_problem(self, name: str) -> str | None:
        why = self.permanent.problems[name]
        return None if why is None else f"it has ended: {why}"

    def _services_problem(self) -> str | None:
        return None if self.services.is_synced else "the services have not been read yet"

    def _node_problem(self) -> str | None:
        registration = self.registration()
        if registration is None or registration.node is not None:
            return None
        return "the node is not registered yet"

    def _lease_problem(self) -> str | None:
        heartbeat = self.heartbeat()
        if heartbeat is None:
            return None
        if heartbeat.renewed_at is None:
            return "the lease was never renewed"
        age = self.clock.monotonic() - heartbeat.renewed_at
        return None if age < LEASE_DURATION else f"the lease was last renewed {age:.0f} s ago"

    def _what_comes_and_goes(self) -> Mapping[str, str | None]:
        wrong = self.workers.complaints()
        checks: dict[str, str | None] = {
            f"task/{name}": f"it waits to be started again: {why}"
            for name, why in self.permanent.troubles.items()
        }
        for worker in self.workers.workers:
            name = f"{worker.pod.metadata.namespace}/{worker.pod.metadata.name}"
            checks[f"worker/{name}"] = wrong.get(name)
        for manager in self.managers:
            kind = type(manager).__name__.removesuffix("Manager").lower()
            for stream in manager.plan().streams:
                name = f"stream/{kind}/{stream.namespace}/{stream.name or '*'}"
                checks[name] = _stream_problem(manager, stream.namespace, stream.name)
        return checks

    def _pods(self, *, tells_all: bool) -> Answer:
        """The pods here and their statuses; what containers said is not for everybody."""
        latest = self.statuses.latest if isinstance(self.statuses, LocalStatuses) else {}
        pods = [
            {
                "namespace": worker.pod.metadata.namespace,
                "name": worker.pod.metadata.name,
                "uid": worker.uid,
                "status": _status(latest.get(worker.uid, worker.pod.status), tells_all=tells_all),
            }
            for worker in self.workers.workers
        ]
        return Answer(200, msgspec.json.encode({"pods": pods}), "application/json")


def _status(status: PodStatus, *, tells_all: bool) -> dict[str, Any]:
    """A status; without what its containers said unless it *tells_all*.

    A container's last word may be the end of its log, and hold whatever it knew.
    """
    document: dict[str, Any] = msgspec.json.decode(encode(status))
    if tells_all:
        return document
    for kind in CONTAINER_STATUSES:
        for container in document.get(kind, ()):
            for time in ("state", "lastState"):
                for state in container.get(time, {}).values():
                    state.pop("message", None)
    return document


def _stream_problem(manager: ObjectManager[Any], namespace: str, name: str | None) -> str | None:
    """Why a stream has brought nothing yet; that an object does not exist is an answer too."""
    if name is None:
        return None
    try:
        manager.peek(namespace, name)
    except CacheNotSynced as error:
        return str(error.__cause__ or error)
    except RefletError:
        return None
    return None
