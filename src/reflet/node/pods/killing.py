"""Ending the containers of a pod.

Owns: the order, the hooks before an end, the grace period and the events.  Must not know why the
pod ends.

Ending containers of a pod that may go on without them, or with new ones.

Owns: how long each has, what is said of it, and who was ended because of a probe.  How an end goes
is ``pod_endings``.  Must not know which container has to end, nor when one starts again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Final

from reflet.api.core.pods import Pod
from reflet.node.pods.pod_actions import PodActions, UnhealthyContainer, is_running, is_sidecar
from reflet.node.pods.worker_parts import WorkerParts
from reflet.node.probes.handlers import Target
from reflet.node.probes.lifecycle_hooks import HookFailed, run_hook, unless_told
from reflet.node.probes.probe_spec import Handler, pre_stop_of, probe_of
from reflet.node.status.events import NORMAL, WARNING
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeStatus
from reflet.resolution.places import container_named, containers_of
from reflet.runtime.waits import came_within

USUAL_GRACE: Final = 30  # seconds
LEAST_GRACE: Final = 2.0
"""Seconds between the signal and the kill whatever is left: few need more, all need some."""

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


class PodEnding:
    """The end of containers that run, which may be told to be sooner while it goes on.

    All are told at the same time that they are ending, and run their hooks; then containers get
    their signal at once, and sidecars when the containers have ended, the last sidecar first.
    All share one grace period.
    """

    def __init__(
        self, parts: WorkerParts, pod: Pod, running: Iterable[RuntimeContainerStatus]
    ) -> None:
        self._parts = parts
        self._pod = pod
        self._running = tuple(running)
        self._ended = {each.name: asyncio.Event() for each in self._running}
        self._hooks: dict[str, asyncio.Task[None]] = {}

    async def run(self, grace: float, *, why: str = "") -> None:
        """End everything; called again, with less time, it hastens what is under way."""
        deadline = self._parts.clock.monotonic() + grace
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
        for hook in self._hooks.values():
            hook.cancel()
        if self._hooks:
            await asyncio.wait(self._hooks.values())

    async def _end(self, life: RuntimeContainerStatus, deadline: float, why: str) -> None:
        message = why or f"Stopping container {life.name}"
        self._parts.events.of_pod(self._pod, NORMAL, "Killing", message, container=life.name)
        await self._run_hook(life, deadline)
        for name in self._before(life.name):
            await came_within(self._ended[name], self._left(deadline), clock=self._parts.clock)
        await self._parts.runtime.end(life.id, max(LEAST_GRACE, self._left(deadline)))
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
        if life.id not in self._hooks:
            running = self._pre_stop(Target(container, life.id), hook, left)
            self._hooks[life.id] = asyncio.create_task(running, name=f"preStop of {life.name}")
        is_over = asyncio.Event()
        self._hooks[life.id].add_done_callback(lambda _: is_over.set())
        await came_within(is_over, left, clock=self._parts.clock)

    async def _pre_stop(self, target: Target, hook: Handler, left: float) -> None:
        name = target.container.name
        try:
            await run_hook(self._parts, self._pod, target, hook, seconds=left)
        except HookFailed as error:
            logger.warning("the preStop hook of %s failed: %s", name, error)
            self._parts.events.of_pod(
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
        return max(0.0, deadline - self._parts.clock.monotonic())


async def end_pod(parts: WorkerParts, pod: Pod, seen: RuntimeStatus, grace: float) -> None:
    """End everything of a pod within *grace* seconds."""
    async with _ending(parts, pod, seen.containers) as ending:
        await ending.run(grace)


async def end_pod_in_time(
    parts: WorkerParts, latest: Callable[[], Pod], seen: RuntimeStatus, shorter: asyncio.Event
) -> None:
    """End the pod that *latest* gives; whoever shortens its grace period meanwhile is heard.

    *shorter* is set when *latest* may give another grace period.
    """
    grace = grace_of(latest())
    async with _ending(parts, latest(), seen.containers) as whole, asyncio.TaskGroup() as tasks:
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


async def end_container(
    parts: WorkerParts, pod: Pod, container: RuntimeContainerStatus, grace: float, *, why: str = ""
) -> None:
    """End one container within *grace* seconds."""
    async with _ending(parts, pod, (container,)) as ending:
        await ending.run(grace, why=why)


@asynccontextmanager
async def _ending(
    parts: WorkerParts, pod: Pod, lives: Iterable[RuntimeContainerStatus]
) -> AsyncIterator[PodEnding]:
    ending = PodEnding(parts, pod, filter(is_running, lives))
    try:
        yield ending
    except ExceptionGroup as group:
        # Whoever waits for an end wants to know what is wrong, and not how many waited for it.
        raise _first_of(group) from group
    finally:
        await ending.close()


def _first_of(group: ExceptionGroup[Exception]) -> Exception:
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, ExceptionGroup) else first


class ContainerStopper:
    """Ends containers of one pod.

    *interrupted* is set when the whole pod has to go, and nothing else is waited for then;
    *patiently* is entered while an end takes the seconds that it may.  ``failed`` are those who
    were ended because of a probe, until whoever starts them takes them out.
    """

    def __init__(
        self,
        parts: WorkerParts,
        interrupted: asyncio.Event,
        patiently: Callable[[float], AbstractContextManager[None]],
    ) -> None:
        self._parts = parts
        self._interrupted = interrupted
        self._patiently = patiently
        self.failed: set[str] = set()

    async def stop(self, pod: Pod, seen: RuntimeStatus, decision: PodActions) -> set[str]:
        """End what is to end; those of it that are to start anew because they changed."""
        anew: set[str] = set()
        if decision.is_over:
            await self.end_all(pod, seen)
            return anew
        for name in decision.stop:
            why = f"Container {name} changed, will be restarted"
            if await self._end(pod, seen, name, grace_of(pod), why):
                anew.add(name)
        for each in decision.unhealthy:
            grace = grace_after_probe(pod, each)
            if await self._end(pod, seen, each.name, grace, each.why) and each.starts_again:
                self.failed.add(each.name)
        return anew

    async def end_all(self, pod: Pod, seen: RuntimeStatus) -> None:
        """End everything that runs of a pod which is over."""
        grace = grace_of(pod)
        await self._waited_for(end_pod(self._parts, pod, seen, grace), grace)

    async def _end(self, pod: Pod, seen: RuntimeStatus, name: str, grace: float, why: str) -> bool:
        found = seen.container(name)
        if found is None:
            return False
        return await self._waited_for(end_container(self._parts, pod, found, grace, why=why), grace)

    async def _waited_for(self, ending: Coroutine[Any, Any, None], grace: float) -> bool:
        """Wait for an end, unless the whole pod has to go meanwhile; whether it came."""
        with self._patiently(grace):
            return await unless_told(self._interrupted, ending)
