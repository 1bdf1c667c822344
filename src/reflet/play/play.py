"""Who plays, and a running play beside a server.

Upstream: cmd/kube-controller-manager/app/controllermanager.go, NewControllerDescriptors
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, Protocol, final

from reflet.api.resources import Resource
from reflet.cluster import connect
from reflet.errors import ConfigurationError
from reflet.informer.handlers.changes import Change
from reflet.play import service_accounts, service_endpoints, volume_protection
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController, RunningController
from reflet.play.every_resource import EveryResource, Told
from reflet.play.garbage_collector import GarbageCollector
from reflet.play.namespace_deletion import NamespaceDeletion
from reflet.play.pod_scripts import Outcome
from reflet.play.pretend_nodes import node_controller, pod_controller
from reflet.play.workloads import daemon_set, deployment, job, replica_set, stateful_set
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import TaskOwner

GARBAGE: Final = "garbage"
ENDING: Final = "namespaces"

# What somebody who asks for the one wants too: nothing would happen without it.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "pods": ("nodes",),
    "daemonsets": ("nodes",),
    "deployments": ("replicasets",),
}
NAMES: Final = (
    *("nodes", "pods", "replicasets", "deployments", "statefulsets", "daemonsets", "jobs"),
    *("endpoints", "volumes", "serviceaccounts", GARBAGE, ENDING),
)
ALL: Final = "all"


class PlayedServer(Protocol):
    """What play asks of the server that it lives beside."""

    @property
    def kubeconfig_path(self) -> Any:
        """Where its kubeconfig is."""

    @property
    def ca_data(self) -> bytes:
        """The certificate of its authority."""


@final
class Play:
    """Which controllers run beside a development server, and how pods fare.

    ::

        async with DevServer(play=Play("pods", "deployments")) as server: ...

    ``Play("all")`` is everything.  *nodes* is how many pretend nodes there are; *outcomes* say what
    containers of some images do, see ``Outcome``; *clock* is for tests.  A value: it may be used
    for any number of servers.
    """

    def __init__(
        self,
        *names: str,
        nodes: int = 1,
        outcomes: Iterable[Outcome] = (),
        clock: Clock | None = None,
    ) -> None:
        unknown = [name for name in names if name not in {*NAMES, ALL}]
        if unknown:
            raise ConfigurationError(
                f"nobody can play {unknown[0]!r}: expected {', '.join(NAMES)} or {ALL}"
            )
        asked = NAMES if ALL in names else names
        self.names: frozenset[str] = frozenset(
            each for name in asked for each in (name, *_NEEDS.get(name, ()))
        )
        self._nodes = nodes
        self._outcomes = tuple(outcomes)
        self._clock = clock or SystemClock()

    @classmethod
    def parse(cls, text: str, **options: Any) -> Play:
        """Read names with commas between them; ConfigurationError for one that nobody plays."""
        return cls(*(name for each in text.split(",") if (name := each.strip())), **options)

    def __repr__(self) -> str:
        return f"<Play {', '.join(name for name in NAMES if name in self.names)}>"

    @property
    def collects_garbage(self) -> bool:
        """Whether objects go with their owners."""
        return GARBAGE in self.names

    @property
    def ends_namespaces(self) -> bool:
        """Whether namespaces are emptied and released."""
        return ENDING in self.names

    def beside(self, server: PlayedServer) -> AbstractAsyncContextManager[None]:
        """Play for as long as the context is open; what is there at the start has been seen."""
        return self._playing(server)

    @asynccontextmanager
    async def _playing(self, server: PlayedServer) -> AsyncIterator[None]:
        async with (
            connect(kubeconfig=str(server.kubeconfig_path), qps=0) as cluster,
            ClusterView(cluster, self._clock) as view,
            TaskOwner("play") as tasks,
        ):
            running = [RunningController(each, view) for each in self._controllers(server)]
            every = self._everything(view, running)
            if every is not None:
                await every.follow(view)
            await view.synced()
            for controller in running:
                controller.start(tasks)
            yield

    def _controllers(self, server: PlayedServer) -> list[PlayedController]:
        made: Mapping[str, Callable[[], PlayedController]] = {
            "nodes": lambda: node_controller(self._nodes),
            "pods": lambda: pod_controller(self._outcomes),
            "replicasets": lambda: replica_set.CONTROLLER,
            "deployments": lambda: deployment.CONTROLLER,
            "statefulsets": lambda: stateful_set.CONTROLLER,
            "daemonsets": lambda: daemon_set.CONTROLLER,
            "jobs": lambda: job.CONTROLLER,
            "endpoints": lambda: service_endpoints.CONTROLLER,
            "volumes": lambda: volume_protection.CONTROLLER,
            "serviceaccounts": lambda: service_accounts.controller(server.ca_data),
        }
        return [make() for name, make in made.items() if name in self.names]

    def _everything(
        self, view: ClusterView, running: list[RunningController]
    ) -> EveryResource | None:
        """Add those who look at every kind."""
        resources: dict[str, Resource] = {}
        told: list[Told] = []
        if self.collects_garbage:
            collector = GarbageCollector(resources)
            garbage = RunningController(collector.controller(), view)
            running.append(garbage)

            def tell_collector(resource: Resource, change: Change[SeenObject]) -> None:
                for key in collector.keys(view, resource, change):
                    garbage.queue.add(key)

            told.append(tell_collector)
        if self.ends_namespaces:
            deletion = NamespaceDeletion(resources)
            ending = RunningController(deletion.controller(), view)
            running.append(ending)

            def tell_ending(resource: Resource, change: Change[SeenObject]) -> None:
                for key in deletion.keys(view, resource, change.object):
                    ending.queue.add(key)

            told.append(tell_ending)
        if not told:
            return None
        every = EveryResource(resources, told)
        running.append(RunningController(every.controller(), view))
        return every
