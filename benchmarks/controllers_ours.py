"""Reflet in the controllers benchmark: a mirror, ``reconcile``, and ``leader``.

Its annotations are real types: a module of structs does without ``from __future__``.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from benchmarks.controllers_work import Calls, Task, work
from benchmarks.measuring import answer
from benchmarks.wire_clients import Target
from reflet.api.frozen import Frozen, constant
from reflet.api.meta import ObjectMeta, TypedObject
from reflet.cluster import Cluster
from reflet.controllers import leader, reconcile


class WidgetSpec(Frozen, frozen=True, kw_only=True):
    """What a Widget is to be."""

    payload: str = ""
    sequence: str = ""


class WidgetStatus(Frozen, frozen=True, kw_only=True):
    """What a Widget is."""

    observed: str = ""


class Widget(TypedObject, frozen=True, kw_only=True):
    """The kind of ``controllers_objects``."""

    api_version: Literal["bench.example.com/v1"] = constant("bench.example.com/v1")
    kind: Literal["Widget"] = constant("Widget")
    metadata: ObjectMeta = ObjectMeta()
    spec: WidgetSpec = WidgetSpec()
    status: WidgetStatus = WidgetStatus()


def connected(task: Task) -> Cluster:
    """A connection of its own, with no limit on the rate of requests."""
    return Cluster(Target(task.url, task.ca_file, task.token).settings())


@asynccontextmanager
async def operated(task: Task, namespace: str, calls: Calls) -> AsyncIterator[None]:
    """Run a controller."""
    async with connected(task) as cluster, cluster.mirror(Widget, namespace=namespace) as mirror:
        widgets = cluster.resource(Widget, namespace=namespace)

        async def work_on(key: str) -> None:
            found = mirror.get(key)
            if found is None:
                return
            calls.began(found.spec.sequence)
            if task.mark and found.status.observed != task.mark:
                status = {"observed": task.mark}
                await widgets.patch(found.metadata.name, {"status": status}, subresource="status")
            else:
                calls.ended(found.metadata.name)

        controlling = asyncio.create_task(
            reconcile(mirror, work_on, workers=task.workers), name="controller"
        )
        try:
            yield
        finally:
            controlling.cancel()
            await asyncio.wait((controlling,))


async def lead(task: Task) -> None:
    """Be a candidate, and then the leader until killed."""
    async with connected(task) as cluster:
        answer({})
        async with leader(
            cluster,
            task.lease,
            namespace=task.namespace,
            lease_duration=task.lease_duration,
            renew_deadline=task.renew_deadline,
            retry_period=task.retry_period,
        ):
            answer({"leads": time.monotonic()})
            await asyncio.Event().wait()


if __name__ == "__main__":
    work(operated, lead)
