"""A contestant of the idle benchmark that mirrors a collection, and then does nothing.

Owns: the job.  Must not know how a contestant works, nor what is counted meanwhile.  Peers run
this in environments of their own, so it needs nothing but the standard library.

A child (see ``measuring.Child``): says ``{}`` when every object is held, and then, for every line
it is sent, what it has used of the processor so far.  ``benchmarks/go/informer`` is the same
thing in Go.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from unittest import mock

from benchmarks.measuring import answer, cpu_seconds, first_line
from benchmarks.mirror_work import Mirrored, Task, check


async def idle(task: Task, mirrored: Mirrored) -> None:
    """Hold a collection until nobody asks any more."""
    async with mirrored(task, task.namespace, task.objects, None) as held:
        check(len(held), task.objects, "objects held")
        answer({})
        async for _ in questions():
            tell_cost()


async def questions() -> AsyncIterator[None]:
    """Wait for lines on standard input, until there are no more."""
    while await asyncio.to_thread(sys.stdin.readline):
        yield


def tell_cost() -> None:
    """Say what this process has used of the processor."""
    answer({"cpu_seconds": cpu_seconds()})


async def _no_http2(*_: object) -> None:
    """Stand in for the dialling of HTTP/2: the server did not choose it."""


def main() -> None:
    """Be the contestant that the task names."""
    message = first_line()
    module, name, http2 = (message.pop(key) for key in ("module", "function", "http2"))
    mirrored: Mirrored = getattr(importlib.import_module(module), name)
    with ExitStack() as patched:
        if not http2:
            connections = importlib.import_module("reflet.transport.connection")
            patched.enter_context(mock.patch.object(connections, "_dial", _no_http2))
        asyncio.run(idle(Task(**message), mirrored))


if __name__ == "__main__":
    main()
