"""Running the postStart and preStop hooks of containers.

What is told of a hook that fails holds neither its command nor what it wrote: both may be secret,
and an event is read by more people than a Secret is.

Upstream: pkg/kubelet/lifecycle/handlers.go, handlerRunner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, assert_never

from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import WARNING
from reflet.errors import RefletError
from reflet.node.probes.handlers import HandlerFailed, HandlerRunner, Target
from reflet.node.probes.http_probes import PLAIN_ANSWER, BrokenAnswer, NoAnswer
from reflet.node.probes.probe_spec import (
    ExecAction,
    GrpcAction,
    Handler,
    HttpGetAction,
    NoAction,
    SleepAction,
    TcpSocketAction,
    post_start_of,
)
from reflet.node.status.node_events import NodeEvents
from reflet.resolution.places import container_named
from reflet.runtime.clock import Clock

LONGEST_HOOK: Final = 24 * 3600.0
"""Seconds of a command that has no other limit: one that hangs is not kept for ever."""


class HookFailed(RefletError):
    """A hook did not do its work; the text is for the status of its container."""


def has_post_start(pod: Pod, name: str) -> bool:
    """Whether something is run right after the start of a container."""
    return post_start_of(container_named(pod, name).container) is not None


class LifecycleHooks:
    """Runs hooks of the containers of this node; *addresses* are those of the pod of a uid."""

    def __init__(
        self,
        handlers: HandlerRunner,
        events: NodeEvents,
        addresses: Callable[[str], tuple[str, ...]],
        *,
        clock: Clock,
    ) -> None:
        self._handlers = handlers
        self._events = events
        self._addresses = addresses
        self._clock = clock

    async def run(
        self, pod: Pod, target: Target, hook: Handler, *, seconds: float = LONGEST_HOOK
    ) -> None:
        """Run a hook; raises HookFailed.  *seconds* are what its command may take."""
        metadata = pod.metadata
        identity = f"{metadata.name}_{metadata.namespace}({metadata.uid})"
        where = f'for Container "{target.container.name}" in Pod "{identity}" failed - error:'
        match hook:
            case ExecAction():
                try:
                    executed = await self._handlers.execute(hook, target, seconds)
                except HandlerFailed as error:
                    raise HookFailed(f"Exec lifecycle hook {where} {error}") from error
                if executed.exit_code != 0:
                    said = "timed out" if executed.exit_code is None else "exited with "
                    code = "" if executed.exit_code is None else executed.exit_code
                    raise HookFailed(f"Exec lifecycle hook {where} command {said}{code}")
            case HttpGetAction():
                try:
                    await self._ask(pod, target, hook)
                except (HandlerFailed, NoAnswer) as error:
                    said = f"HTTP lifecycle hook ({hook.path}) {where} {error}"
                    raise HookFailed(said) from error
            case SleepAction():
                await self._clock.sleep(hook.seconds)
            case TcpSocketAction() | GrpcAction() | NoAction():
                # As for the kubelet, which has never run a hook that opens a connection.
                raise HookFailed("Cannot run handler: invalid handler")
            case _:
                assert_never(hook)

    async def _ask(self, pod: Pod, target: Target, hook: HttpGetAction) -> None:
        """Ask for a page; whatever it says, it was asked for."""
        try:
            await self._handlers.get(hook, target)
        except BrokenAnswer:
            return
        except NoAnswer as error:
            if PLAIN_ANSWER not in str(error):
                raise
            # A hook that says HTTPS and means HTTP once worked, and goes on working.
            kept = tuple(each for each in hook.headers if each[0].lower() != "authorization")
            await self._handlers.get(replace(hook, scheme="http", headers=kept), target)
            host = hook.host or next(iter(self._addresses(target.uid)), "")
            message = (
                f"request to HTTPS lifecycle hook {host}:{hook.port} got HTTP response, retry with "
                "HTTP succeeded"
            )
            self._events.of_pod(pod, WARNING, "LifecycleHTTPFallback", message)
