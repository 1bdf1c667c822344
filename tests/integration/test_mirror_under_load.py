"""The mirror in real time: a server in another thread, a writer that does not wait, faults.

Other than in ``test_mirror_faults``, everything here happens at once.
"""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle
from typing import Any, Final

import pytest

from reflet.api.core.config import ConfigMap
from reflet.client.client import ALL_NAMESPACES
from reflet.cluster import Cluster, settings_from
from reflet.devserver.faults import Action, Fault
from reflet.informer.handlers.changes import Change
from reflet.informer.options import QueueKind
from reflet.informer.shared_informer import SharedInformer
from reflet.runtime.backoff import Backoff
from reflet.testing.pytest_plugin import RunningServer, running_server
from reflet.transport.config.kubeconfig import Overrides
from tests.mirror_scenes import CONFIG_MAPS, Collection
from tests.patience import within
from tests.witnesses import Reader, Witness, differences, indexers, is_behind, troubles

WRITES: Final = 900
PACE: Final = 0.002  # seconds between two writes
A_FAULT_EVERY: Final = 25  # writes
MOST_REQUESTS: Final = 250  # for 36 faults: none costs more than a few
PATIENCE: Final = 20.0  # seconds of real time
LOOK_EVERY: Final = 0.02  # seconds
NAMES: Final = tuple("abcdefghijk")

FAULTS: Final = (
    Fault(Action.RESET, verb="watch", now=True),
    Fault(Action.CLOSE, verb="watch", now=True),
    Fault(Action.STATUS, status=500, times=2),
    Fault(Action.CORRUPT, verb="watch", now=True),
    Fault(Action.EXPIRE, now=True),
    Fault(Action.STALL, verb="watch", now=True),
    Fault(Action.TRUNCATE, verb="watch", now=True),
    Fault(Action.DROP, times=2),
    Fault(Action.RESTART, seconds=0.05, now=True),
    Fault(Action.RESET, verb="list"),
)


def write_and_break(server: RunningServer, collection: Collection) -> None:
    """A busy minute in the life of a server, in two seconds."""
    faults = cycle(FAULTS)
    never = threading.Event()
    for number in range(WRITES):
        name, namespace = NAMES[number % 11], f"space-{number % 3}"
        change = collection.delete if number % 5 == 3 else collection.put
        server.call(partial(change, name, namespace))
        if number % A_FAULT_EVERY == 0:
            server.add_fault(next(faults))
        never.wait(PACE)
    server.call(server.server.faults.clear)


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
async def test_everybody_agrees_after_a_busy_minute_of_faults(tls: bool, queue: QueueKind) -> None:
    with (
        running_server({"tls": tls}) as server,
        ThreadPoolExecutor(1, "handler of a mirror") as threads,
    ):
        collection = Collection(server.server, CONFIG_MAPS)
        settings = settings_from(Overrides(kubeconfig=str(server.kubeconfig)))
        async with Cluster(dataclasses.replace(settings, qps=0)) as cluster:
            informer: SharedInformer[Any] = SharedInformer(
                cluster.resource(ConfigMap, namespace=ALL_NAMESPACES),
                name="configmaps",
                indexers=indexers(),
                queue=queue,
                backlog_limit=20,
                on_error=lambda error: None,
                backoff=Backoff(first=0.01, ceiling=0.1),
                silence=0.5,
            )
            plain, threaded, slow = (Witness[Any](name) for name in ("plain", "threaded", "slow"))

            async def slowly(change: Change[Any]) -> None:
                await asyncio.sleep(0.001)
                slow(change)

            informer.add_handler(plain)
            informer.add_handler(threaded, executor=threads)
            informer.add_handler(slowly)
            witnesses = [plain, threaded, slow]
            with Reader(informer.store, in_batches=queue == "ordered") as reader:
                async with informer:
                    await asyncio.to_thread(write_and_break, server, collection)
                    states = server.call(collection.states)
                    async with within(PATIENCE):
                        while is_behind(informer.store, witnesses, states):  # noqa: ASYNC110 - nobody tells when all have heard
                            await asyncio.sleep(LOOK_EVERY)

            assert differences(informer.store, witnesses, states) == []
            assert troubles(reader, witnesses) == []
            assert reader.looks > 0
            assert len(server.requests) <= MOST_REQUESTS
