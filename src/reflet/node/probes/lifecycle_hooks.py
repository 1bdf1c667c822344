"""Running what a container wants done after its start and before its end.

Owns: the hooks, and what is told of one that fails: neither its command nor what it wrote, which
may be secret.  Must not know what becomes of the container then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final, assert_never

from reflet.api.core.pods import Pod
from reflet.errors import RefletError
from reflet.node.pods.worker_parts import WorkerParts
from reflet.node.probes.handlers import HandlerFailed, Target
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
from reflet.node.status.events import WARNING
from reflet.resolution.places import container_named

LONGEST_HOOK: Final = 24 * 3600.0
"""Seconds of a command that has no other limit: one that hangs is not kept for ever."""

logger = logging.getLogger(__name__)


class HookFailed(RefletError):
    """A hook did not do its work; the text is for the status of its container."""


def has_post_start(pod: Pod, name: str) -> bool:
    """Whether something is run right after the start of a container."""
    return post_start_of(container_named(pod, name).container) is not None


async def run_hook(
    parts: WorkerParts, pod: Pod, target: Target, hook: Handler, *, seconds: float = LONGEST_HOOK
) -> None:
    """Run a hook; raises HookFailed.  *seconds* are what its command may take."""
    metadata = pod.metadata
    identity = f"{metadata.name}_{metadata.namespace}({metadata.uid})"
    where = f'for Container "{target.container.name}" in Pod "{identity}" failed - error:'
    match hook:
        case ExecAction():
            try:
                executed = await parts.handlers.execute(hook, target, seconds)
            except HandlerFailed as error:
                raise HookFailed(f"Exec lifecycle hook {where} {error}") from error
            if executed.exit_code != 0:
                said = "timed out" if executed.exit_code is None else "exited with "
                code = "" if executed.exit_code is None else executed.exit_code
                raise HookFailed(f"Exec lifecycle hook {where} command {said}{code}")
        case HttpGetAction():
            try:
                await _ask(parts, pod, target, hook)
            except (HandlerFailed, NoAnswer) as error:
                raise HookFailed(f"HTTP lifecycle hook ({hook.path}) {where} {error}") from error
        case SleepAction():
            await parts.clock.sleep(hook.seconds)
        case TcpSocketAction() | GrpcAction() | NoAction():
            # As for the kubelet, which has never run a hook that opens a connection.
            raise HookFailed("Cannot run handler: invalid handler")
        case _:
            assert_never(hook)


async def unless_told(told: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Do the work, or drop it when *told* is set; whether it was done."""
    doing = asyncio.create_task(work, name="what may be dropped")
    hearing = asyncio.create_task(told.wait(), name="whether it is dropped")
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


async def _ask(parts: WorkerParts, pod: Pod, target: Target, hook: HttpGetAction) -> None:
    """Ask for a page; whatever it says, it was asked for."""
    try:
        await parts.handlers.get(hook, target)
    except BrokenAnswer:
        return
    except NoAnswer as error:
        if PLAIN_ANSWER not in str(error):
            raise
        # A hook that says HTTPS and means HTTP once worked, and goes on working.
        kept = tuple(each for each in hook.headers if each[0].lower() != "authorization")
        await parts.handlers.get(replace(hook, scheme="http", headers=kept), target)
        host = hook.host or next(iter(parts.addresses()), "")
        message = (
            f"request to HTTPS lifecycle hook {host}:{hook.port} got HTTP response, retry with "
            "HTTP succeeded"
        )
        parts.events.of_pod(pod, WARNING, "LifecycleHTTPFallback", message)
