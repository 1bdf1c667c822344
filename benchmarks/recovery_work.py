"""A contestant of the recovery benchmark: Reflet's managers or mirrors, in a process of its own.

Owns: following objects, and noting when each first showed a change.  Must not know what happens to
the server.

A child (see ``measuring.Child``): says ``{}`` when everything is synced, and answers questions:

- ``{"ask": "expect", "sequence": "7"}``: from now on, an object is live again when it shows this
  sequence.  Answered with what was used of the processor so far.
- ``{"ask": "live"}``: answered with how many objects are.
- ``{"ask": "report"}``: answered with the moments at which they were, the moments of all attempts
  to connect, and what was used of the processor until the last object was live, or until now.

Moments are of CLOCK_MONOTONIC, which all processes of a machine share.
``benchmarks/go/managers/recovery.go`` is the same thing in Go.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import replace
from typing import Any, Final
from unittest import mock

from benchmarks.connect_attempts import ConnectAttempts
from benchmarks.managers_work import Task, object_name, read_all, users
from benchmarks.measuring import answer, cpu_seconds, first_line
from benchmarks.wire_clients import Target
from reflet.api.core.config import ConfigMap
from reflet.cluster import Cluster
from reflet.informer.handlers.changes import Change
from reflet.managers.manager import ConfigMapManager
from reflet.managers.object_changes import ObjectChanges

MIRRORS: Final = "mirrors"
"""No strategy of a manager: a mirror for each object."""


class Sightings:
    """When each of *objects* first showed the change that is waited for."""

    def __init__(self, objects: int) -> None:
        self._objects = objects
        self._sequence = ""
        self._cpu: float | None = None
        self.live: dict[str, float] = {}

    def expect(self, sequence: str) -> None:
        """Wait for a change from now on."""
        self._sequence = sequence

    def note(self, found: ConfigMap) -> None:
        """Take in what an object is now."""
        name = found.metadata.name
        if name in self.live or not self._sequence:
            return
        if found.data.get("sequence") == self._sequence:
            self.live[name] = time.monotonic()
            if len(self.live) == self._objects:
                self._cpu = cpu_seconds()

    @property
    def cpu_seconds(self) -> float:
        """What was used of the processor until the last object was live, or until now."""
        return cpu_seconds() if self._cpu is None else self._cpu


async def manage(task: Task, cluster: Cluster, sightings: Sightings, stack: AsyncExitStack) -> None:
    """Have one manager follow the objects, for pods that refer to them."""
    manager = ConfigMapManager(cluster, strategy=task.strategy)
    await stack.enter_async_context(manager)
    for pod in users(task, task.namespace, task.objects):
        manager.register_pod(pod)
    await read_all(manager, task.namespace, task.objects)
    telling = asyncio.create_task(tell(manager.subscribe(), sightings), name="tell changes")
    stack.callback(telling.cancel)


async def tell(changes: ObjectChanges[ConfigMap], sightings: Sightings) -> None:
    """Pass on what a manager tells."""
    async for change in changes:
        if change.object is not None:
            sightings.note(change.object)


async def mirror(task: Task, cluster: Cluster, sightings: Sightings, stack: AsyncExitStack) -> None:
    """Have a mirror of its own follow each object."""

    def handle(change: Change[ConfigMap]) -> None:
        sightings.note(change.object)

    mirrors = [
        cluster.mirror(
            ConfigMap,
            namespace=task.namespace,
            field_selector=f"metadata.name={object_name(number)}",
        )
        for number in range(task.objects)
    ]
    for each in mirrors:
        await stack.enter_async_context(each)
        each.add_handler(handle)
    for each in mirrors:
        await each.synced()


async def recover(task: Task, agent: str, attempts: ConnectAttempts) -> None:
    """Follow everything, and answer questions until there are no more.

    The server hears of us as *agent*.
    """
    sightings = Sightings(task.objects)
    settings = Target(task.url, task.ca_file, task.token).settings()
    async with AsyncExitStack() as stack:
        cluster = Cluster(replace(settings, user_agent_extra=agent))
        await stack.enter_async_context(cluster)
        follow = mirror if task.strategy == MIRRORS else manage
        await follow(task, cluster, sightings, stack)
        answer({})
        while line := await asyncio.to_thread(sys.stdin.readline):
            answer(answer_to(json.loads(line), sightings, attempts))


def answer_to(
    question: Mapping[str, Any], sightings: Sightings, attempts: ConnectAttempts
) -> dict[str, Any]:
    """The answer to one question."""
    match question["ask"]:
        case "expect":
            sightings.expect(question["sequence"])
            return {"cpu_seconds": cpu_seconds()}
        case "live":
            return {"live": len(sightings.live)}
        case "report":
            return {
                "live": list(sightings.live.values()),
                "attempts": attempts.moments,
                "cpu_seconds": sightings.cpu_seconds,
            }
        case unknown:
            raise ValueError(f"unknown question {unknown!r}")


def only_http1() -> AbstractContextManager[object]:
    """Have every TLS connection offer HTTP/1.1 and nothing else.

    This is done to the standard library and not to Reflet, which may change how it dials.
    """
    offer = ssl.SSLContext.set_alpn_protocols

    def offer_less(context: ssl.SSLContext, _protocols: object) -> None:
        offer(context, ["http/1.1"])

    return mock.patch.object(ssl.SSLContext, "set_alpn_protocols", offer_less)


def main() -> None:
    """Do the task of standard input."""
    attempts = ConnectAttempts()
    attempts.count()
    logging.disable(logging.CRITICAL)  # nobody reads thousands of complaints; Go is as silent
    message = first_line()
    agent, http2 = message.pop("agent"), message.pop("http2")
    with nullcontext() if http2 else only_http1():
        asyncio.run(recover(Task(**message), agent, attempts))


if __name__ == "__main__":
    main()
