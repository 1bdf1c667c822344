"""Killing containers: the grace period, preStop hooks, the order, and whom a probe has failed.

All containers of a pod are told at the same time that they are ending, and run their preStop
hooks; then containers get their signal at once, and sidecars when the containers have ended, the
last sidecar first.  All share one grace period, which a second deletion may shorten while the pod
ends.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, killContainersWithSyncResult and
killContainer; pkg/kubelet/kuberuntime/kuberuntime_termination_order.go, terminationOrdering.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Final

from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import NORMAL, WARNING
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.pods.pod_actions import PodActions, UnhealthyContainer
from reflet.node.pods.restart_policy import is_running, is_sidecar
from reflet.node.probes.handlers import Target
from reflet.node.probes.lifecycle_hooks import HookFailed, LifecycleHooks
from reflet.node.probes.probe_spec import Handler, pre_stop_of, probe_of
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeStatus
from reflet.resolution.places import container_named, containers_of
from reflet.runtime.clock import Clock
from reflet.runtime.waits import came_within

USUAL_GRACE: Final = 30  # seconds
LEAST_GRACE: Final = 2.0
"""Seconds between the signal and the kill whatever is left: the kubelet's minimum, too."""

logger = logging.getLogger(__name__)


def grace_of(pod: Pod) -> float:
    """The seconds that a pod has to end: what its deletion says, else what the pod says."""
    asked = pod.metadata.deletion_grace_period_seconds
    if asked is None:
        asked = pod.spec.termination_grace_period_seconds
    return float(USUAL_GRACE if asked is None else asked)


def grace_after_probe(pod: Pod, unhealthy: UnhealthyContainer) -> float:
    """The seconds that a container has to end because of a probe, which may say so itself."""
    if pod.metadata.deletion_grace_period_seconds is not None:
        return grace_of(pod)
    probe = probe_of(container_named(pod, unhealthy.name).container, unhealthy.probe)
    return grace_of(pod) if probe is None or probe.grace is None else probe.grace


class Killer:
    """Ends containers of any pod, with their hooks and events."""

    def __init__(
        self, runtime: ContainerRuntime, hooks: LifecycleHooks, events: NodeEvents, *, clock: Clock
    ) -> None:
        self._runtime = runtime
        self._hooks = hooks
        self._events = events
        self._clock = clock

    async def kill_pod(self, pod: Pod, seen: RuntimeStatus, grace: float) -> None:
        """End everything of a pod within *grace* seconds."""
        async with self._killing(pod, seen.containers) as killing:
            await killing.run(grace)

    async def kill_leaving_pod(
        self, latest: Callable[[], Pod], seen: RuntimeStatus, shorter: asyncio.Event
    ) -> None:
        """End the pod that *latest* gives; whoever shortens its grace period meanwhile is heard.

        *shorter* is set when *latest* may give another grace period.
        """
        grace = grace_of(latest())
        async with (
            self._killing(latest(), seen.containers) as whole,
            asyncio.TaskGroup() as tasks,
        ):
            ending = {tasks.create_task(whole.run(grace), name="end")}
            while not any(task.done() for task in ending):
                # Looked at before each wait: it may have changed before this began.
                if grace_of(latest()) < grace:
                    grace = grace_of(latest())
                    ending.add(tasks.create_task(whole.run(grace), name="end sooner"))
                shorter.clear()
                told = tasks.create_task(shorter.wait(), name="shorter grace period")
                await asyncio.wait((*ending, told), return_when=asyncio.FIRST_COMPLETED)
                told.cancel()
            for task in ending:
                task.cancel()  # nothing runs any more, and it may wait for a hook for long

    async def kill_container(
        self, pod: Pod, container: RuntimeContainerStatus, grace: float, *, why: str = ""
    ) -> None:
        """End one container within *grace* seconds."""
        async with self._killing(pod, (container,)) as killing:
            await killing.run(grace, why=why)

    @asynccontextmanager
    async def _killing(
        self, pod: Pod, lives: Iterable[RuntimeContainerStatus]
    ) -> AsyncIterator[_Killing]:
        running = filter(is_running, lives)
        killing = _Killing(
            pod, running, self._runtime, self._hooks, self._events, clock=self._clock
        )
        try:
            yield killing
        except ExceptionGroup as group:
            # Whoever waits for an end wants to know what is wrong, and not how many waited for it.
            raise _first_of(group) from group
        finally:
            await killing.close()


def _first_of(group: ExceptionGroup[Exception]) -> Exception:
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, ExceptionGroup) else first


class _Killing:
    """The end of containers that run, which may be told to be sooner while it goes on."""

    def __init__(
        self,
        pod: Pod,
        running: Iterable[RuntimeContainerStatus],
        runtime: ContainerRuntime,
        hooks: LifecycleHooks,
        events: NodeEvents,
        *,
        clock: Clock,
    ) -> None:
        self._pod = pod
        self._running = tuple(running)
        self._runtime = runtime
        self._hooks = hooks
        self._events = events
        self._clock = clock
        self._ended = {each.name: asyncio.Event() for each in self._running}
        self._pre_stops: dict[str, asyncio.Task[None]] = {}

    async def run(self, grace: float, *, why: str = "") -> None:
        """End everything; called again, with less time, it hastens what is under way."""
        deadline = self._clock.monotonic() + grace
        going = [each for each in self._running if not self._ended[each.name].is_set()]
        # All to their end: that one cannot be ended is no reason to leave the others running.
        results = await asyncio.gather(
            *(self._end(each, deadline, why) for each in going), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def close(self) -> None:
        """Give up hooks that outlast their containers."""
        for hook in self._pre_stops.values():
            hook.cancel()
        if self._pre_stops:
            await asyncio.wait(self._pre_stops.values())

    async def _end(self, life: RuntimeContainerStatus, deadline: float, why: str) -> None:
        message = why or f"Stopping container {life.name}"
        self._events.of_pod(self._pod, NORMAL, "Killing", message, container=life.name)
        await self._run_hook(life, deadline)
        for name in self._before(life.name):
            await came_within(self._ended[name], self._left(deadline), clock=self._clock)
        await self._runtime.end(life.id, max(LEAST_GRACE, self._left(deadline)))
        self._ended[life.name].set()

    async def _run_hook(self, life: RuntimeContainerStatus, deadline: float) -> None:
        """Wait for the container's hook, which is run once, however often it is hastened."""
        left = self._left(deadline)
        container = next(
            (
                each.container
                for each in containers_of(self._pod.spec)
                if each.container.name == life.name
            ),
            None,
        )
        hook = None if container is None else pre_stop_of(container)
        if container is None or hook is None or left <= 0:
            return
        if life.id not in self._pre_stops:
            running = self._pre_stop(Target(container, life.id, self._pod.metadata.uid), hook, left)
            self._pre_stops[life.id] = asyncio.create_task(running, name=f"preStop of {life.name}")
        is_over = asyncio.Event()
        self._pre_stops[life.id].add_done_callback(lambda _: is_over.set())
        await came_within(is_over, left, clock=self._clock)

    async def _pre_stop(self, target: Target, hook: Handler, left: float) -> None:
        name = target.container.name
        try:
            await self._hooks.run(self._pod, target, hook, seconds=left)
        except HookFailed as error:
            logger.warning("the preStop hook of %s failed: %s", name, error)
            self._events.of_pod(
                self._pod, WARNING, "FailedPreStopHook", "PreStopHook failed", container=name
            )
        except Exception:
            # A mistake of ours: a container that has to end does so without its hook.
            logger.exception("the preStop hook of %s could not be run", name)

    def _before(self, name: str) -> list[str]:
        """Those who must have ended before this one gets its signal."""
        sidecars = [each.name for each in self._pod.spec.init_containers if is_sidecar(each)]
        if name not in sidecars:
            return []
        later = sidecars[sidecars.index(name) + 1 :]
        return [each for each in self._ended if each not in sidecars or each in later]

    def _left(self, deadline: float) -> float:
        return max(0.0, deadline - self._clock.monotonic())


class ContainerStopper:
    """Ends containers of one pod, which may go on without them, or with new ones.

    *interrupted* is set when the whole pod has to go, and nothing else is waited for then;
    *allowing* is entered while an end takes the seconds that it may.  ``failed`` are those who
    were ended because of a probe, until whoever starts them takes them out.
    """

    def __init__(
        self,
        killer: Killer,
        *,
        interrupted: asyncio.Event,
        allowing: Callable[[float], AbstractContextManager[None]],
    ) -> None:
        self._killer = killer
        self._interrupted = interrupted
        self._allowing = allowing
        self.failed: set[str] = set()

    async def stop(self, pod: Pod, seen: RuntimeStatus, actions: PodActions) -> set[str]:
        """End what is to end; those of it that are to start anew because they changed."""
        anew: set[str] = set()
        if actions.is_over:
            await self.stop_all(pod, seen)
            return anew
        for name in actions.stop:
            why = f"Container {name} changed, will be restarted"
            if await self._end(pod, seen, name, grace_of(pod), why):
                anew.add(name)
        for each in actions.unhealthy:
            grace = grace_after_probe(pod, each)
            if await self._end(pod, seen, each.name, grace, each.why) and each.starts_again:
                self.failed.add(each.name)
        return anew

    async def stop_all(self, pod: Pod, seen: RuntimeStatus) -> None:
        """End everything that runs of a pod which is over."""
        grace = grace_of(pod)
        await self._waited_for(self._killer.kill_pod(pod, seen, grace), grace)

    async def kill(self, pod: Pod, seen: RuntimeStatus) -> None:
        """End everything that runs of a pod, and let nothing interrupt that."""
        await self._killer.kill_pod(pod, seen, grace_of(pod))

    async def kill_leaving(self, latest: Callable[[], Pod], seen: RuntimeStatus) -> None:
        """End everything that runs of a pod that has to go; a shorter grace period is heard."""
        with self._allowing(grace_of(latest())):
            await self._killer.kill_leaving_pod(latest, seen, self._interrupted)

    async def _end(self, pod: Pod, seen: RuntimeStatus, name: str, grace: float, why: str) -> bool:
        found = seen.container(name)
        if found is None:
            return False
        killing = self._killer.kill_container(pod, found, grace, why=why)
        return await self._waited_for(killing, grace)

    async def _waited_for(self, ending: Coroutine[Any, Any, None], grace: float) -> bool:
        """Wait for an end, unless the whole pod has to go meanwhile; whether it came."""
        with self._allowing(grace):
            return await unless_interrupted(self._interrupted, ending)


async def unless_interrupted(interrupted: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Do the work, or drop it when *interrupted* is set; whether it was done."""
    doing = asyncio.create_task(work, name="what may be dropped")
    hearing = asyncio.create_task(interrupted.wait(), name="whether it is dropped")
    try:
        await asyncio.wait((doing, hearing), return_when=asyncio.FIRST_COMPLETED)
        is_done = doing.done()
    finally:
        doing.cancel()
        hearing.cancel()
        await asyncio.wait((doing, hearing))
    if is_done:
        doing.result()
    elif not doing.cancelled() and (error := doing.exception()) is not None:
        logger.info("what was dropped failed: %s", error)
    return is_done
