"""The contestants of the faults benchmark, each in a process of its own.

Owns: how each client is used to keep a namespace's ConfigMaps in memory, as its documentation
shows, with what it has of its own for trouble and nothing added.  Must not know what goes wrong.

A child (see ``measuring.Child``): says ``{}`` when it is synced, and then, for every line it is
sent, which objects it holds, each with its version, and the error that ended it, if one did.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from benchmarks.measuring import answer, first_line

Versions = dict[str, str]


class Ended:
    """Why a contestant stopped watching; empty while it does not."""

    def __init__(self) -> None:
        self.why = ""

    def run(self, follow: Callable[[], None]) -> None:
        """Run what should never return."""
        try:
            follow()
            self.why = "the watch ended"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
            self.why = type(error).__name__


def reply(held: Versions, ended: str) -> None:
    answer({"held": held, "ended": ended})


def reflet(url: str, namespace: str, _: int) -> None:
    """Our own mirror, with nothing set."""
    from reflet.cluster import Cluster  # noqa: PLC0415 - each contestant imports its own
    from reflet.transport.settings import ConnectionSettings  # noqa: PLC0415 - the same

    async def run() -> None:
        async with (
            Cluster(ConnectionSettings(server=url)) as cluster,
            cluster.mirror("configmaps", namespace=namespace) as mirror,
        ):
            await mirror.synced(timeout=60)
            answer({})
            while await asyncio.to_thread(sys.stdin.readline):
                held = {each.metadata.name: each.metadata.resource_version for each in mirror}
                reply(held, "")

    asyncio.run(run())


def official(url: str, namespace: str, objects: int) -> None:
    """``kubernetes.informer.SharedInformer``.  It never says that it is synced: we count."""
    client: Any = importlib.import_module("kubernetes.client")
    informers: Any = importlib.import_module("kubernetes.informer")
    api = client.CoreV1Api(client.ApiClient(client.Configuration(host=url)))
    informer = informers.SharedInformer(api.list_namespaced_config_map, namespace=namespace)
    added = threading.Semaphore(0)
    informer.add_event_handler("ADDED", lambda _object: added.release())
    informer.start()
    for _ in range(objects):
        added.acquire()
    answer({})
    while sys.stdin.readline():
        held = {
            each.metadata.name: each.metadata.resource_version for each in informer.cache.list()
        }
        reply(held, "")


def asyncio_client(url: str, namespace: str, _: int) -> None:
    """kubernetes_asyncio: a list, then ``Watch``, kept in a dict."""
    client: Any = importlib.import_module("kubernetes_asyncio.client")
    watching: Any = importlib.import_module("kubernetes_asyncio.watch")
    ended, held = Ended(), dict[str, str]()

    async def follow(api: Any, version: str) -> None:
        try:
            async with watching.Watch() as watch:
                events = watch.stream(
                    api.list_namespaced_config_map, namespace, resource_version=version
                )
                async for event in events:
                    note(held, event["type"], event["object"].metadata)
            ended.why = "the watch ended"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
            ended.why = type(error).__name__

    async def run() -> None:
        async with client.ApiClient(client.Configuration(host=url)) as connection:
            api = client.CoreV1Api(connection)
            listed = await api.list_namespaced_config_map(namespace)
            held.update(
                (each.metadata.name, each.metadata.resource_version) for each in listed.items
            )
            following = asyncio.create_task(follow(api, listed.metadata.resource_version))
            answer({})
            while await asyncio.to_thread(sys.stdin.readline):
                reply(held, ended.why)
            following.cancel()

    asyncio.run(run())


def lightkube(url: str, namespace: str, _: int) -> None:
    """lightkube: a list, then ``watch`` with its own retry, kept in a dict."""
    package: Any = importlib.import_module("lightkube")
    types: Any = importlib.import_module("lightkube.types")
    kind = importlib.import_module("lightkube.resources.core_v1").ConfigMap
    ended, held = Ended(), dict[str, str]()
    config = {
        "clusters": [{"name": "server", "cluster": {"server": url}}],
        "contexts": [{"name": "server", "context": {"cluster": "server", "user": "nobody"}}],
        "users": [{"name": "nobody", "user": {}}],
        "current-context": "server",
    }
    client = package.Client(config=package.KubeConfig.from_dict(config))
    listed = client.list(kind, namespace=namespace)
    held.update((each.metadata.name, each.metadata.resourceVersion) for each in listed)

    def follow() -> None:
        for happened, item in client.watch(
            kind,
            namespace=namespace,
            resource_version=listed.resourceVersion,
            on_error=types.on_error_retry,
        ):
            if happened == "DELETED":
                held.pop(item.metadata.name, None)
            else:
                held[item.metadata.name] = item.metadata.resourceVersion

    # A daemon: nothing ends a watch from outside.
    threading.Thread(target=ended.run, args=(follow,), daemon=True).start()
    answer({})
    while sys.stdin.readline():
        reply(dict(held), ended.why)


def note(held: Versions, happened: str, metadata: Any) -> None:
    if happened == "DELETED":
        held.pop(metadata.name, None)
    else:
        held[metadata.name] = metadata.resource_version


CONTESTANTS: Final = {
    "reflet": reflet,
    "kubernetes informer": official,
    "kubernetes_asyncio watch": asyncio_client,
    "lightkube watch, retrying": lightkube,
}


if __name__ == "__main__":
    task = first_line()
    CONTESTANTS[task["contestant"]](task["url"], task["namespace"], task["objects"])
