"""Reflet's managers with registered pods whose objects nobody changes, in a process of its own.

Owns: the job.  Must not know what is counted meanwhile.

A child (see ``measuring.Child``): says ``{}`` when every object could be read, and then, for every
line it is sent, what it has used of the processor so far.  From the first line on it looks at each
pod once in a period, one after the other, as the kubelet does: reads all that the pod refers to.
Ends with an error when it cannot keep that pace: then there is nothing to compare.
``benchmarks/go/managers`` is the same thing with the kubelet's managers.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import Final

from benchmarks.idle_work import questions, tell_cost
from benchmarks.managers_work import MANAGERS, Manager, Task, object_name, pod, read_all
from benchmarks.measuring import answer, first_line
from benchmarks.wire_clients import Target
from reflet.cluster import Cluster

MOST_LATE: Final = 1 / 6  # of the period


async def idle(task: Task, users: int, period: float, ttl: float) -> None:
    """Have every object kept for a number of *users*, and look at all of them."""
    target = Target(task.url, task.ca_file, task.token)
    async with (
        Cluster(target.settings()) as cluster,
        MANAGERS[task.kind](cluster, strategy=task.strategy, default_ttl=ttl) as manager,
    ):
        # One pod after the other through the objects, and then from the first object again.
        firsts = list(range(0, task.objects, task.references)) * users
        for number, first in enumerate(firsts):
            manager.register_pod(pod(task, task.namespace, number, first, task.objects))
        await read_all(manager, task.namespace, task.objects)
        answer({})
        async with asyncio.TaskGroup() as tasks:
            looking: asyncio.Task[None] | None = None
            async for _ in questions():
                if looking is None:
                    pace = look(manager, task, firsts, period)
                    looking = tasks.create_task(pace, name="look at pods")
                tell_cost()
            if looking is not None:
                looking.cancel()


async def look(manager: Manager, task: Task, firsts: Sequence[int], period: float) -> None:
    """Read what pods refer to, each pod once in a period, evenly spread."""
    begun = time.monotonic()
    for turn, first in enumerate(itertools.cycle(firsts)):
        due = begun + turn * period / len(firsts)
        early = due - time.monotonic()
        if early < -period * MOST_LATE:
            raise RuntimeError(f"it fell {-early:.1f} s behind: the machine is too busy")
        await asyncio.sleep(max(0.0, early))
        for number in range(first, first + task.references):
            await manager.get(task.namespace, object_name(number % task.objects))


def main() -> None:
    """Do the task of standard input."""
    message = first_line()
    users, period, ttl = (message.pop(key) for key in ("users", "period", "ttl"))
    asyncio.run(idle(Task(**message), users, period, ttl))


if __name__ == "__main__":
    main()
