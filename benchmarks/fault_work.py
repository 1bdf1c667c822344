"""A contestant of the faults benchmark: keeps a namespace's ConfigMaps in memory.

Owns: how each client is used for that, as its documentation shows, with what it has of its own
for trouble and nothing added.  Must not know what goes wrong.  Peers run this in environments of
their own, so it needs nothing but the standard library and the client in question.

A child (see ``measuring.Child``): says ``{}`` when it is synced, and then, for every line it is
sent, which objects it holds, each with its version, the error that ended it, if one did, and how
often it has tried to connect so far.
``benchmarks/go/informer`` is the same thing in Go.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from benchmarks.connect_attempts import ConnectAttempts
from benchmarks.measuring import answer, first_line

Versions = dict[str, str]

ATTEMPTS: Final = ConnectAttempts()


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
    answer({"held": held, "ended": ended, "attempts": len(ATTEMPTS.moments)})


def reflet(url: str, namespace: str, _: int) -> None:
    """Our own mirror, with nothing set."""
    from reflet.cluster import Cluster  # noqa: PLC0415 - each contestant imports its own
    from reflet.transport.config.settings import ConnectionSettings  # noqa: PLC0415 - the same

    async def run() -> None:
        async with (
            Cluster(ConnectionSettings(server=url)) as cluster,
            cluster.mirror("configmaps", namespace=namespace) as mirror,
        ):
            await mirror.synced(timeout=60)
            answer({})
            while await asyncio.to_thread(sys.stdin.readline):
                held = {name: each.metadata.resource_version for name, each in mirror.items()}
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


def kopf(url: str, namespace: str, objects: int) -> None:
    """kopf: an operator with an ``on.event`` handler, kept in a dict.

    Not kopf's own index, whose start-up is quadratic; it forgets an object as this dict does, when
    kopf tells of its deletion.
    """
    package: Any = importlib.import_module("kopf")
    logging.getLogger("kopf").setLevel(logging.WARNING)
    registry = package.OperatorRegistry()
    ended, held, synced = Ended(), dict[str, str](), asyncio.Event()

    async def login(**_: Any) -> Any:
        return package.ConnectionInfo(server=url)

    async def configure(settings: Any, **_: Any) -> None:
        settings.posting.enabled = False  # its own events are not what is counted
        settings.scanning.disabled = True

    async def handle(event: Mapping[str, Any], **_: Any) -> None:
        metadata = event["object"]["metadata"]
        if event["type"] == "DELETED":
            held.pop(metadata["name"], None)
        else:
            held[metadata["name"]] = metadata["resourceVersion"]
        if len(held) == objects:
            synced.set()

    async def operate() -> None:
        try:
            await package.operator(registry=registry, namespaces=[namespace], standalone=True)
            ended.why = "the operator ended"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
            ended.why = type(error).__name__
        synced.set()  # nobody else would, if it ends this early

    async def run() -> None:
        package.on.login(registry=registry)(login)
        package.on.startup(registry=registry)(configure)
        package.on.event("v1", "configmaps", registry=registry)(handle)
        operating = asyncio.create_task(operate(), name="operator")
        await synced.wait()
        if ended.why:
            raise RuntimeError(f"ended with {ended.why} before it was synced")
        answer({})
        while await asyncio.to_thread(sys.stdin.readline):
            reply(held, ended.why)
        operating.cancel()

    asyncio.run(run())


def cloudcoil(url: str, namespace: str, _: int) -> None:
    """cloudcoil: its synchronous informer, as its cache makes it."""
    client: Any = importlib.import_module("cloudcoil.client")  # first, or its imports are a circle
    caching: Any = importlib.import_module("cloudcoil.caching")
    models: Any = importlib.import_module("cloudcoil.models.kubernetes.core.v1")
    config = client.Config(server=url, namespace=namespace, cache=caching.Cache())
    informer = config.cache.get_informer(models.ConfigMap, sync=True, namespace=namespace)
    config.cache.start()
    if not config.cache.wait():
        raise RuntimeError("not synced")
    answer({})
    while sys.stdin.readline():
        held = {each.metadata.name: each.metadata.resource_version for each in informer.list()}
        reply(held, "")


def note(held: Versions, happened: str, metadata: Any) -> None:
    if happened == "DELETED":
        held.pop(metadata.name, None)
    else:
        held[metadata.name] = metadata.resource_version


CONTESTANTS: Final = {
    each.__name__: each for each in (reflet, official, asyncio_client, lightkube, kopf, cloudcoil)
}


if __name__ == "__main__":
    ATTEMPTS.count()
    task = first_line()
    CONTESTANTS[task["function"]](task["url"], task["namespace"], task["objects"])
