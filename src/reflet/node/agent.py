"""The agent, put together: which part knows which, and in which order they start and stop.

The only module of ``node`` that knows all the others; what the parts do is theirs.

Upstream: pkg/kubelet/kubelet.go, NewMainKubelet and Run.
"""

from __future__ import annotations

import asyncio
import logging
import random
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self

from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.cluster import Cluster
from reflet.controllers.event_recorder import NORMAL
from reflet.errors import Forbidden, RefletError
from reflet.informer.mirror import Mirror
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.managers.strategies import ManagerOptions
from reflet.managers.ttl import ttl_from
from reflet.node.identity.machine import node_addresses, read_machine
from reflet.node.identity.node_lease import NodeLease
from reflet.node.identity.node_registration import NodeRegistration
from reflet.node.identity.node_status import NodeFacts
from reflet.node.node_shutdown import clear_volumes, end_containers, tell_ends
from reflet.node.open_process import open_process_runtime
from reflet.node.opened_runtime import LaunchParts, RuntimeParts
from reflet.node.options import NodeOptions, check_isolation
from reflet.node.pods.binding import PodBinder
from reflet.node.pods.configurations import Configurations
from reflet.node.pods.manifest_defaults import with_defaults
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.pods.workers import WorkerFactory
from reflet.node.probes.handlers import Handlers
from reflet.node.root_lock import locked_root, memory_name
from reflet.node.server.node_page import follow_objects, on_written, page_of, shown_statuses
from reflet.node.server.pages import AgentPages
from reflet.node.server.ports import AgentPorts
from reflet.node.server.review import ReaderReview
from reflet.node.server.serving_certificates import ServingCertificates
from reflet.node.status.node_events import NodeEvents
from reflet.node.status.status_manager import LocalStatuses, StatusManager, StatusSink
from reflet.podconfig.pod_wakeups import PodWakeups
from reflet.podconfig.service_account_tokens import ServiceAccountTokens
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.pods.folder_pods import FolderPods
from reflet.pods.pod_sources import PodFeed, pods_of_node
from reflet.processes.crash_backoff import CrashBackoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import MetricText
from reflet.runtime.permanent_tasks import PermanentTasks, TaskEnded
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.volumes.mounts import memory_backed_root, remove_empty_folders
from reflet.volumes.pod_directories import PodDirectories

LAST_WORDS: Final = 5.0  # seconds for what is still to be told when the agent stops
SERVICE_FIELDS: Final = "spec.clusterIP!=None"
DISK_THREADS: Final = 2  # more would only take turns with the loop: what they do is Python

logger = logging.getLogger(__name__)


class NodeAgent:
    """Plays the kubelet's part for processes, while the context is open.

    ::

        async with NodeAgent(cluster, options) as agent:
            await agent.ready()
            await agent.ended()

    Entering it finds the shim or starts one, takes over what an earlier agent left, and
    begins to serve.  Leaving it ends all containers in order, unless *options* say to keep
    them; being killed, or left with the ``TaskEnded`` that ``ended`` raises, leaves them to the
    next agent.
    """

    def __init__(
        self, cluster: Cluster, options: NodeOptions, *, clock: Clock | None = None
    ) -> None:
        self._cluster = cluster
        self.options = options
        self._clock = clock or SystemClock()
        self._closing = AsyncExitStack()
        self._tasks = TaskOwner(f"node {options.name}")
        self._permanent = PermanentTasks(clock=self._clock)
        self.page = page_of(options, self._clock)
        self.metrics = MetricText()
        self.address: tuple[str, ...] = ()
        self._registration: NodeRegistration | None = None
        self._lease: NodeLease | None = None
        self._secure: tuple[tuple[str, int], ssl.SSLContext] | None = None
        self._ports: AgentPorts | None = None
        self._containers_go_on = True
        self._refusals: asyncio.Queue[Forbidden] = asyncio.Queue()

    @property
    def health_url(self) -> str:
        """Where health, metrics and, without TLS, logs are answered; empty when they are not."""
        return "" if self._ports is None else self._ports.plain_url

    @property
    def secure_url(self) -> str:
        """Where everything is answered over TLS; empty when nothing is."""
        return "" if self._ports is None else self._ports.secure_url

    @property
    def directories(self) -> PodDirectories:
        """Where the pods' volumes are, once the agent is entered."""
        return self._directories

    @property
    def node(self) -> Node | None:
        """The Node as the server has it, None before it is registered."""
        return None if self._registration is None else self._registration.node

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            await self._open(undo)
            self._closing = undo.pop_all()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    async def ready(self) -> None:
        """Return when every pod of this node is known."""
        await self._feed.complete()

    async def refused(self) -> NoReturn:
        """Wait for ever, or raise Forbidden if the server does not let this agent be a node."""
        raise await self._refusals.get()

    async def ended(self) -> NoReturn:
        """Wait for ever, or raise TaskEnded if a task has ended without which it is no agent.

        Whoever supervises it should start it again.
        """
        await self._permanent.ended()

    # Opening

    async def _open(self, undo: AsyncExitStack) -> None:
        options, clock = self.options, self._clock
        self._allowance = options.allowance()
        if self._allowance.isolates:
            await asyncio.to_thread(check_isolation)
        if (secure := options.secure) is not None:
            self._secure = (secure.place, ServingCertificates(secure).context())
        undo.enter_context(locked_root(options.root))
        self.address = node_addresses(options.address, self._cluster.settings.server)
        self._directories = PodDirectories(options.root, memory_root=self._memory_root(undo))
        await self._open_runtime(undo)
        await self._open_configuration(undo)
        self._events = NodeEvents(self._cluster, options.name, clock=clock, metrics=self.metrics)
        self._open_workers()
        await self._open_ports(undo)
        await undo.enter_async_context(self._tasks)
        undo.push_async_exit(self._stop)
        await self._register()
        self._start()

    def _memory_root(self, undo: AsyncExitStack) -> Path | None:
        memory = memory_backed_root(memory_name(self.options.root))
        if isinstance(memory, Path):
            undo.callback(self._leave_memory, memory)
            return memory
        logger.warning("Secrets are written to disk: %s", memory.reason)
        return None

    def _leave_memory(self, root: Path) -> None:
        """Leave nothing in memory but what is somebody's."""
        # Where containers go on, an empty folder may be the volume of one.
        remove_empty_folders(root, below=not self._containers_go_on)

    async def _open_runtime(self, undo: AsyncExitStack) -> None:
        parts = RuntimeParts(
            options=self.options,
            client=self._cluster,
            directories=self._directories,
            addresses=lambda: self.address,
            on_ended=self._look,
            on_lost=self._look_at_all,
            containers_go_on=lambda: self._containers_go_on,
            clock=self._clock,
            metrics=self.metrics,
            permanent=self._permanent,
        )
        opening = open_process_runtime
        if self.options.runtime is not None:
            # Only here: whoever runs processes needs no client of container runtimes.
            from reflet.node.cri.open_cri import open_cri_runtime as opening  # noqa: PLC0415
        self._opened = await opening(undo, parts)
        self._runtime, self._pleg = self._opened.runtime, self._opened.pleg

    async def _open_configuration(self, undo: AsyncExitStack) -> None:
        cluster, options = self._cluster, self.options
        settings: ManagerOptions = {"clock": self._clock}
        if options.strategy == "cache":
            settings["ttl"] = ttl_from(lambda: self.node)
        if options.strategy in {"watch", "auto"}:
            settings["metrics"] = self.metrics
        config_maps = await undo.enter_async_context(
            ConfigMapManager(cluster, strategy=options.strategy, **settings)
        )
        secrets = await undo.enter_async_context(
            SecretManager(cluster, strategy=options.strategy, **settings)
        )
        self._services: Mirror[Service] = await undo.enter_async_context(
            cluster.mirror(Service, namespace="*", field_selector=SERVICE_FIELDS, clock=self._clock)
        )
        bundles = await undo.enter_async_context(TrustBundles(cluster, clock=self._clock))
        wakeups = await undo.enter_async_context(
            PodWakeups(
                config_maps,
                secrets,
                services=self._services,
                bundles=bundles,
                clock=self._clock,
                permanent=self._permanent,
            )
        )
        self._disk = ThreadPoolExecutor(DISK_THREADS, thread_name_prefix="volumes")
        undo.callback(self._disk.shutdown, wait=False)
        self._volumes = PodVolumes(self._directories, host_paths=options.host_paths)
        self._managers = (config_maps, secrets)
        self._configurations = Configurations(
            config_maps,
            secrets,
            wakeups,
            services=self._services,
            node=lambda: self.node,
            tokens=ServiceAccountTokens(cluster, clock=self._clock),
            bundles=bundles,
            addresses=lambda: self.address,
            pod_addresses=self._runtime.addresses,
            mounted=self._volumes.mounted,
            skip_invalid_names=options.skip_invalid_names,
            clock=self._clock,
        )
        undo.push_async_callback(self._configurations.close)

    def _open_workers(self) -> None:
        options = self.options
        self._statuses: StatusSink
        self._status_manager: StatusManager | None = None
        if options.folder is None:
            self._feed = PodFeed(pods_of_node(self._cluster, options.name, clock=self._clock))
            self._statuses = self._status_manager = StatusManager(
                self._cluster, clock=self._clock, metrics=self.metrics
            )
        else:
            self._feed = PodFeed(
                FolderPods(
                    options.folder,
                    every=options.relist,
                    complete=partial(with_defaults, node=options.name),
                    clock=self._clock,
                )
            )
            self._statuses = LocalStatuses()
        factory = WorkerFactory(
            runtime=self._runtime,
            launcher=self._opened.launcher(
                LaunchParts(
                    volumes=self._volumes,
                    disk=self._disk,
                    allowance=self._allowance,
                    events=self._events,
                    secrets=self._managers[1],
                )
            ),
            handlers=Handlers(self._runtime, self._runtime.addresses),
            cache=self._opened.cache,
            pleg=self._pleg,
            configurations=self._configurations,
            volumes=self._volumes,
            disk=self._disk,
            statuses=shown_statuses(self._statuses, self.page),
            events=self._events,
            allowance=self._allowance,
            addresses=lambda: self.address,
            clock=self._clock,
            began=self._clock.now(),
            metrics=self.metrics,
            chance=random.random,
            runs_commands=options.run,
            resync=options.resync,
            retry=options.retry,
            first_backoff=CrashBackoff(
                first=options.backoff_first, ceiling=options.backoff_ceiling
            ),
            on_written=on_written(self.page),
        )
        self._workers = factory.workers(self._tasks)

    async def _open_ports(self, undo: AsyncExitStack) -> None:
        options = self.options
        pages = AgentPages(
            runtime=self._runtime,
            pleg=self._pleg,
            feed=self._feed,
            services=self._services,
            managers=self._managers,
            workers=self._workers,
            statuses=self._statuses,
            registration=lambda: self._registration,
            heartbeat=lambda: self._lease,
            pod_services=self._opened.services(self._find_pod),
            permanent=self._permanent,
            metrics=self.metrics,
            clock=self._clock,
        )
        self._ports = await undo.enter_async_context(
            AgentPorts(
                pages.answer,
                ReaderReview(self._cluster, options.name, clock=self._clock),
                plain=options.health,
                secure=self._secure,
                connections=self._opened.budget.connections,
                permanent=self._permanent,
            )
        )
        if self.page is not None:
            await undo.enter_async_context(self.page)

    async def _register(self) -> None:
        if not self.options.register:
            return
        facts = NodeFacts(
            name=self.options.name,
            machine=read_machine(),
            addresses=self.address,
            port=0 if self._ports is None else self._ports.logs_port,
            runs_commands=self.options.run,
            runtime=self._opened.version,
            most_pods=self._opened.budget.pods,
            has_images=self._allowance.runs_images,
        )
        self._registration = NodeRegistration(
            self._cluster,
            facts,
            folder=self.options.root,
            not_ready=lambda: self._runtime.problem() or self._pleg.why_unhealthy(),
            clock=self._clock,
        )
        self._lease = NodeLease(
            self._cluster,
            lambda: self.node,
            registered=self._registration.registered,
            clock=self._clock,
        )

    def _start(self) -> None:
        keep = partial(self._permanent.keep, self._tasks)
        keep(self._events.run, name="events")
        if self._status_manager is not None:
            keep(self._status_manager.run, name="statuses")
        if self._registration is not None and self._lease is not None:
            # Apart: what ails the one must not keep the other from its work.
            serve = partial(self._registration.serve, self._tell_start, self._refusals.put_nowait)
            keep(serve, name="node status")
            keep(self._lease.run, name="lease")
        for name, chore in self._opened.chores:
            keep(chore, name=name)
        keep(partial(self._workers.hear, self._pleg.events), name="runtime events")
        keep(partial(self._feed.run, self._workers.take), name="pods")
        keep(self._services.informer.watching_ended, name="services")
        if self.page is not None:
            follow_objects(self.page, *self._managers, keep)
        self._tasks.start(self._end_orphans(), name="orphans")
        if self.options.selector:
            binder = PodBinder.of(self.options, self._cluster, clock=self._clock)
            keep(binder.run, name="binder")

    def _tell_start(self, node: Node) -> None:
        self._events.of_node(node, NORMAL, "Starting", "Starting reflet node.")

    async def _end_orphans(self) -> None:
        """Once every pod is known, what is left of others is ended."""
        await self._feed.complete()
        self._workers.end_orphans(self._opened.left)

    # Closing

    async def _stop(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Say good-bye, and end the containers if that was not forbidden."""
        if isinstance(error, TaskEnded):
            # As after a kill: everything goes on, and the next agent takes it over.
            await self._workers.stop()
            return
        try:
            await self._workers.stop()
            ends = not self.options.keep_running
            workers = self._workers.workers
            if ends and await end_containers(self._runtime, workers):
                self._containers_go_on = False
                await asyncio.to_thread(clear_volumes, self._runtime, self._volumes)
            async with asyncio.timeout(LAST_WORDS):
                if ends:
                    await tell_ends(self._workers, self._runtime, self._status_manager)
                if self._registration is not None and self._registration.node is not None:
                    await self._registration.report(not_ready="the agent was told to stop")
                await self._events.sent()
        except (OSError, RefletError) as failure:  # a TimeoutError is one, and has no words
            logger.warning("not everything was told before the end: %s", str(failure) or "no time")

    # What parts ask

    def _look(self, uid: str) -> None:
        self._pleg.request_relist(uid)

    def _look_at_all(self) -> None:
        self._workers.look_at_all()

    def _find_pod(self, namespace: str, name: str) -> Pod | None:
        worker = self._workers.find(namespace, name)
        return None if worker is None else worker.pod
