"""A reflector, a queue and a store put together by hand.

The reflector lists and watches pods and queues what it learns by key.  Whoever pops gets all that
happened to one pod, brings it into a store and prints it.  The queue compares every list with the
store, so a pod that is missing from a new list is a deletion too.  ``SharedInformer`` does all of
this and more; here are its parts.

::

    python examples/reflector_and_delta_fifo.py               plays on a server in this process
    python examples/reflector_and_delta_fifo.py KUBECONFIG    follows a cluster until interrupted
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import reflet
from reflet import DeltaFifo, Pod, Reflector, Store
from reflet.devserver import DevServer
from reflet.informer import DeltaType, QueuedDelta
from reflet.store import Tombstone

MANIFESTS = Path(__file__).parent / "manifests" / "shop.yaml"
NEW_POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "web", "image": "web"}]}}


class Pods:
    """The pods of a cluster's namespace: from the server to the queue, from there to the store."""

    def __init__(self, cluster: reflet.Cluster) -> None:
        self.store: Store[Pod] = Store()
        self.queue: DeltaFifo[Pod] = DeltaFifo(known=self.store, emit_replaced=True)
        self.reflector: Reflector[Pod] = Reflector(cluster.resource(Pod), self.queue, name="pods")

    async def next(self) -> None:
        """Wait until something happened to a pod, and process it."""
        await self.queue.pop(self.process)

    def process(self, deltas: Sequence[QueuedDelta[Pod]], is_initial: bool) -> None:
        """Bring what happened to one pod into the store, the oldest first."""
        for delta in deltas:
            match delta.type, delta.object:
                case DeltaType.DELETED, (Pod() | Tombstone()) as gone:
                    self.store.delete(gone)
                case _, Pod() as pod:
                    self.store.put(pod)
                case unexpected:
                    raise AssertionError(f"no pod: {unexpected}")
            name = delta.key.rpartition("/")[2]
            print(f"Type:{delta.type.value}: Name:{name}{' (initial)' * is_initial}", flush=True)


async def follow(cluster: reflet.Cluster) -> None:
    """Print what happens until interrupted."""
    pods = Pods(cluster)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(pods.reflector.run(), name="reflector of pods")
        print("Start syncing...", flush=True)
        while True:
            await pods.next()


async def play(cluster: reflet.Cluster) -> None:
    """Let something happen, and print it."""
    server = cluster.resource(Pod)
    pods = Pods(cluster)
    async with asyncio.TaskGroup() as tasks:
        reflecting = tasks.create_task(pods.reflector.run(), name="reflector of pods")
        print("Start syncing...")
        while not pods.queue.synced.is_set:
            await pods.next()
        await server.create(NEW_POD)
        while "default/web" not in pods.store:
            await pods.next()
        await server.delete("dapi-test-pod")
        while "default/dapi-test-pod" in pods.store:
            await pods.next()
        print(f"In the store: {', '.join(sorted(pods.store.keys()))}")
        reflecting.cancel()


async def main() -> None:
    if len(sys.argv) > 1:
        async with reflet.connect(kubeconfig=sys.argv[1]) as cluster:
            await follow(cluster)
    async with (
        DevServer(load=[str(MANIFESTS)]) as server,
        reflet.connect(kubeconfig=str(server.kubeconfig_path)) as cluster,
    ):
        await play(cluster)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("Interrupted")
