"""A node on paper: a shim without processes, objects in hand, and notes of what was told.

Owns: the fakes at the edges of the agent, and workers put together over them.  What is between
the edges, the runtime, the relist loop, the status cache and the volumes, is the real thing.
Must not know what a test claims.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod, PodStatus
from reflet.api.meta import ObjectMeta
from reflet.errors import RefletError
from reflet.node.pods.admission import Allowance
from reflet.node.pods.configurations import Configurations
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.pods.workers import WorkerFactory
from reflet.node.probes.handlers import Outcome, Target
from reflet.node.probes.http_probes import HttpAnswer
from reflet.node.probes.probe_spec import ExecAction, Handler, HttpGetAction
from reflet.node.process_launch import ProcessLauncher
from reflet.node.process_runtime import Launch, ProcessRuntime
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import ContainerList, Executed, ListedContainer, StartContainer
from reflet.node.shim.shim_client import ShimClient
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.relist import Pleg
from reflet.pleg.status_cache import StatusCache
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.processes.crash_backoff import CrashBackoff
from reflet.processes.exit_status import Ending, Exited
from reflet.processes.process_table import ProcessIdentity
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.places import containers_of
from reflet.resolution.volumes.volume_contents import configuration_volumes, resolve_volume
from reflet.runtime.metrics import MemoryMetrics
from reflet.runtime.tasks import TaskOwner
from reflet.testing.virtual_time import VirtualClock
from reflet.volumes.pod_directories import PodDirectories
from tests.unit.node.pod_scenes import pod

NOBODY = Allowance(own_user=1000, own_group=1000)
"""An agent that is not root, whose containers run as itself."""


def stored_pod(*containers: dict[str, Any], **fields: Any) -> Pod:
    """A pod with what a server adds."""
    return pod(*containers, **{"enableServiceLinks": True, **fields})


def settings(**data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="settings", namespace="shop"), data=data)


class PaperShim:
    """Keeps records and starts nothing.

    A command that begins with ``/no/`` cannot be started; an end takes ``takes`` seconds, or with
    ``never_ends`` for ever.  What is in ``failures`` is raised instead of doing what it is named
    after, by verb or by verb and name.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._pids = itertools.count(100)
        self.kept: dict[str, ContainerRecord] = {}
        self.orders: list[StartContainer] = []
        self.asked: list[str] = []
        self.failures: dict[str, RefletError] = {}
        self.takes = 0.0
        self.never_ends = False

    async def up(self) -> None:
        self._fail("up")

    async def start(self, order: StartContainer) -> ContainerRecord:
        record = order.record
        self._note(f"start {record.name} {record.attempt}")
        self.orders.append(order)
        now = self._clock.now()
        if order.arguments[0].startswith("/no/"):
            record = record.not_started("not found", now)
        else:
            record = record.running(ProcessIdentity(next(self._pids), 1, "boot"), now)
        self.kept[record.id] = record
        return record

    async def listed(self, uid: str = "") -> tuple[ListedContainer, ...]:
        self._fail("list")
        return tuple(
            ListedContainer(each.id, each.uid, each.name, each.state)
            for each in self.kept.values()
            if uid in {"", each.uid}
        )

    async def listing(self, _: ContainerList) -> ContainerList:
        listed = await self.listed()
        return ContainerList(str(hash(listed)), listed)

    async def records(self, uid: str) -> list[ContainerRecord]:
        self._fail("records")
        found = [each for each in self.kept.values() if each.uid == uid]
        return sorted(found, key=lambda each: -each.attempt)

    async def signal(self, container: str, number: int) -> bool:
        self._note(f"signal {self.kept[container].name} {number}")
        return self.kept[container].finished_at is None

    async def end(self, container: str, grace: float) -> ContainerRecord:
        self._note(f"end {self.kept[container].name} {grace:g}")
        await self._clock.sleep(math.inf if self.never_ends else min(grace, self.takes))
        self._end(container, Exited(0))
        return self.kept[container]

    async def remove(self, container: str) -> None:
        del self.kept[container]

    # What happens by itself

    def exits(self, name: str, code: int) -> None:
        """The process of a container ends."""
        newest = max(
            (each for each in self.kept.values() if each.name == name),
            key=lambda each: each.attempt,
        )
        self._end(newest.id, Exited(code))

    def _end(self, container: str, ending: Ending) -> None:
        self.kept[container] = self.kept[container].ended(ending, self._clock.now())

    def _note(self, what: str) -> None:
        self._fail(what)
        self.asked.append(what)

    def _fail(self, what: str) -> None:
        for name, failure in self.failures.items():
            if f"{what} ".startswith(f"{name} "):
                raise failure


class PaperConfigurations:
    """Resolves pods from objects in hand; ``on_resolve`` is called first and may fail.

    Keys that are no names for variables are skipped, as by an agent that was told so.
    """

    def __init__(self, *objects: ConfigMap | Secret) -> None:
        self._objects = objects
        self.registered: dict[str, Callable[[], None]] = {}
        self.due: float | None = None
        self.on_resolve: Callable[[Pod], None] = lambda _: None
        self._pods: dict[str, Pod] = {}

    def put(self, *objects: ConfigMap | Secret) -> None:
        """From now on these are the objects, and whoever is registered hears of it."""
        self._objects = objects
        for wake in tuple(self.registered.values()):
            wake()

    async def register(self, pod: Pod, wake: Callable[[], None]) -> None:
        self.registered[pod.metadata.uid] = wake
        self._pods[pod.metadata.uid] = pod

    async def unregister(self, pod: Pod) -> None:
        self.registered.pop(pod.metadata.uid, None)

    async def resolve(self, pod: Pod) -> ResolvedPod:
        self.on_resolve(pod)
        pod = self._pods[pod.metadata.uid]
        objects = ObjectsInHand(self._objects)
        return ResolvedPod(
            pod=pod,
            environments={
                each.container.name: resolve_environment(
                    pod, each.container.name, objects, services=(), skip_invalid_names=True
                )
                for each in containers_of(pod.spec)
            },
            volumes={
                name: resolve_volume(pod, name, objects) for name in configuration_volumes(pod)
            },
        )

    def refresh_due(self, _: Pod) -> float | None:
        return self.due


@dataclass
class PaperEvents:
    """Remembers what was told of pods."""

    told: list[tuple[str, str]] = field(default_factory=list)

    def of_pod(self, _: Pod, type_: str, reason: str, message: str, *, container: str = "") -> None:
        self.told.append((reason, message))

    @property
    def reasons(self) -> list[str]:
        return [reason for reason, _ in self.told]


class PaperHandlers:
    """Runs no handler: says what *outcomes* has for a container, else that all is well.

    What is in *outcomes* may be an error to raise.  ``asked`` are the handlers that were run, with
    the moment and the life of the container.  Is a ``HandlerRunner``.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.asked: list[tuple[float, str, Handler]] = []
        self.outcomes: dict[str, Outcome | Exception] = {}
        self.exit_codes: dict[str, int | None] = {}
        self.takes = 0.0

    async def probe(self, handler: Handler, target: Target, _: float, /) -> Outcome:
        await self._run(handler, target)
        outcome = self.outcomes.get(target.container.name, Outcome(True))
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def execute(self, action: ExecAction, target: Target, seconds: float, /) -> Executed:
        await self._run(action, target, seconds)
        code = self.exit_codes.get(target.container.name, 0)
        return Executed(code if self.takes < seconds else None, "what it wrote")

    async def get(self, action: HttpGetAction, target: Target, /) -> HttpAnswer:
        await self._run(action, target)
        outcome = self.outcomes.get(target.container.name)
        if isinstance(outcome, Exception):
            raise outcome
        return HttpAnswer(500)

    async def _run(self, handler: Handler, target: Target, limit: float = 1e9) -> None:
        self.asked.append((self._clock.monotonic(), target.container.name, handler))
        await self._clock.sleep(min(self.takes, limit))


@dataclass
class PaperStatuses:
    """Takes statuses; *refusals* are raised first, one for each pod that is to go.

    Is a ``StatusSink``.
    """

    reported: list[PodStatus] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    refusals: list[RefletError] = field(default_factory=list)

    def report(self, _: Pod, status: PodStatus, /) -> None:
        self.reported.append(status)

    async def finish(self, pod: Pod, /) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        self.finished.append(pod.metadata.uid)

    def forget(self, uid: str, /) -> None:
        self.forgotten.append(uid)

    @property
    def latest(self) -> PodStatus:
        return self.reported[-1]


class AtOnce(Executor):
    """Does work where it is asked for, so that no thread outlives a test."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*args, **options))
        except Exception as error:  # noqa: BLE001 - it is the asker's
            done.set_exception(error)
        return done


class PaperNode:
    """A factory of workers, over the fakes."""

    def __init__(self, root: Path, *objects: ConfigMap | Secret, **changes: Any) -> None:
        self.clock = VirtualClock()
        self.shim = PaperShim(self.clock)
        self.objects = PaperConfigurations(*objects)
        self.events = PaperEvents()
        self.handlers = PaperHandlers(self.clock)
        self.statuses = PaperStatuses()
        self.metrics = MemoryMetrics()
        self.directories = PodDirectories(root)
        self.runtime = ProcessRuntime(
            self.directories,
            cast("ShimClient", self.shim),
            addresses=lambda: ("10.0.0.1",),
            clock=self.clock,
        )
        self.volumes = PodVolumes(self.directories)
        cache = StatusCache()
        self.pleg = Pleg(self.runtime, cache, clock=self.clock)
        given: dict[str, Any] = {
            "runtime": self.runtime,
            "handlers": self.handlers,
            "cache": cache,
            "pleg": self.pleg,
            "configurations": cast("Configurations", self.objects),
            "volumes": self.volumes,
            "disk": AtOnce(),
            "statuses": self.statuses,
            "events": cast("NodeEvents", self.events),
            "allowance": NOBODY,
            "addresses": lambda: ("10.0.0.1",),
            "clock": self.clock,
            "began": self.clock.now(),
            "metrics": self.metrics,
            "chance": lambda: 0.0,
            "runs_commands": True,
            "resync": 60.0,
            "retry": 10.0,
            "first_backoff": CrashBackoff(),
        }
        given |= changes
        given.setdefault(
            "launcher",
            ProcessLauncher(
                self.runtime,
                given["volumes"],
                allowance=given["allowance"],
                disk=given["disk"],
            ),
        )
        self.factory = WorkerFactory(**given)
        self.tasks = TaskOwner("paper node")
        self.workers = self.factory.workers(self.tasks)

    async def start(self, of: Pod) -> None:
        """Have the containers of a pod run that no worker looks after."""
        self.runtime.make_sandbox(of)
        for placed in containers_of(of.spec):
            launch = Launch(container=placed.container.name, arguments=("run",), environment={})
            await self.runtime.start(of.metadata.uid, launch)


@asynccontextmanager
async def paper_node(
    root: Path, *objects: ConfigMap | Secret, **changes: Any
) -> AsyncIterator[PaperNode]:
    """A node whose relist loop runs and whose workers hear it; *changes* are of its factory."""
    node = PaperNode(root, *objects, **changes)
    async with node.tasks, node.pleg:
        node.tasks.start(node.workers.hear(node.pleg.events), name="runtime events")
        yield node


async def passing(seconds: float) -> None:
    """Let virtual time pass."""
    await asyncio.sleep(seconds)
