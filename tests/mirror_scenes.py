"""A development server and a mirror of one of its collections, on one loop, with real sockets.

Owns: the scene in which things go wrong: the server, what is written to it, the informer with
its handlers, and the thread that reads.  On a loop with virtual time a scene lives through the
longest back-off in a moment.  Must not know what goes wrong.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from reflet.api.resources import Resource
from reflet.client.client import ALL_NAMESPACES
from reflet.cluster import Cluster
from reflet.devserver.faults import Action, Fault
from reflet.devserver.server import DevServer
from reflet.devserver.storage.stored import Key
from reflet.informer.handlers.changes import Change
from reflet.informer.shared_informer import SharedInformer
from reflet.transport.config.settings import ConnectionSettings
from tests.witnesses import Reader, State, Witness, differences, indexers, is_behind, troubles

CONFIG_MAPS: Final = Resource(version="v1", plural="configmaps", kind="ConfigMap")
WIDGETS: Final = Resource(group="example.com", version="v1", plural="widgets", kind="Widget")

WIDGET_DEFINITION: Final[dict[str, Any]] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}

FOR_EVER: Final = 10**9
COLOUR_CHOICES: Final = ("red", "red-blue", "", "blue-green", "green")
LOOK_EVERY: Final = 0.05  # seconds at first, and less often the longer it takes


class Collection:
    """The objects of one resource on a server, written without a request that could fail."""

    def __init__(self, server: DevServer, resource: Resource) -> None:
        self._storage = server.state.storage
        self._resource = resource
        self._numbers = itertools.count()

    def put(self, name: str, namespace: str = "shop") -> None:
        """Create an object, or change it."""
        number = next(self._numbers)
        key = Key(self._resource.full_name, namespace, name)
        present = self._storage.get(key)
        uid = f"uid-{number}" if present is None else present.object["metadata"]["uid"]
        labels = {"colours": COLOUR_CHOICES[number % len(COLOUR_CHOICES)]}
        document = {
            "apiVersion": self._resource.api_version,
            "kind": self._resource.kind,
            "metadata": {"name": name, "namespace": namespace, "uid": uid, "labels": labels},
            "data" if self._resource is CONFIG_MAPS else "spec": {"number": str(number)},
        }
        (self._storage.create if present is None else self._storage.replace)(key, document)

    def delete(self, name: str, namespace: str = "shop") -> None:
        """Delete an object; nothing happens when there is none."""
        key = Key(self._resource.full_name, namespace, name)
        if self._storage.get(key) is not None:
            self._storage.delete(key)

    def expire(self) -> None:
        """Forget the history."""
        self._storage.expire_history()

    def states(self) -> dict[str, State]:
        """Everything by key."""
        stored = self._storage.list(self._resource.full_name)
        return {each.key.path: State.of_document(each.object) for each in stored}


@dataclass
class Scene:
    """Everybody who takes part."""

    server: DevServer
    collection: Collection
    informer: SharedInformer[Any]
    reader: Reader[Any]
    resource: Resource
    witnesses: list[Witness[Any]] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)

    def fault(self, action: Action | str, **options: Any) -> None:
        """Let something go wrong with requests or streams of the collection."""
        self.server.faults.add(Fault(action, resource=self.resource.full_name, **options))

    def heal(self) -> None:
        """Let nothing more go wrong."""
        self.server.faults.clear()

    def requests(self, verb: str = "") -> int:
        """How many requests for the collection came so far."""
        return self.server.requests.count(verb=verb, resource=self.resource.full_name)

    async def agrees(self, *, within: float) -> float:
        """Return as soon as everybody agrees with the server: after how many seconds.

        Fails when it takes longer than *within* seconds, and when anybody saw what must not be.
        Nobody may write meanwhile.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        store, server = self.informer.store, self.collection.states()
        past = 0.0
        while past < within and is_behind(store, self.witnesses, server):
            await asyncio.sleep(min(1.0, LOOK_EVERY * (1 + past)))
            past = loop.time() - begun
        found = differences(store, self.witnesses, server)
        assert not found, f"after {within:g} seconds: {found}"
        seen = troubles(self.reader, self.witnesses)
        assert not seen, str(seen)
        return past

    def joins(self, name: str, **options: Any) -> Witness[Any]:
        """Let one more handler join: a plain function."""
        witness: Witness[Any] = Witness(name)
        self.witnesses.append(witness)
        self.informer.add_handler(witness, name=name, **options)
        return witness

    def joins_slowly(self, name: str, pause: float) -> Witness[Any]:
        """Let one more handler join: a coroutine that rests at the first of every ten changes."""
        witness: Witness[Any] = Witness(name)

        async def slow(change: Change[Any]) -> None:
            if len(witness.told) % 10 == 0:
                await asyncio.sleep(pause)
            witness(change)

        self.witnesses.append(witness)
        self.informer.add_handler(slow, name=name)
        return witness


@asynccontextmanager
async def scene(
    resource: Resource = CONFIG_MAPS,
    *,
    names: tuple[str, ...] = ("apple", "banana", "cherry"),
    before: Callable[[Scene], None] = lambda _: None,
    synced: bool = True,
    **options: Any,
) -> AsyncIterator[Scene]:
    """A server with some objects, and a mirror of them that is synced; *before* comes before.

    Requests are not rationed and delays have no jitter, unless *options* of the informer say
    otherwise: as many requests are made as the back-off lets through.
    """
    async with (
        DevServer(tls=False) as server,
        Cluster(ConnectionSettings(server=server.url, qps=0)) as cluster,
    ):
        if resource is WIDGETS:
            await cluster.resource("customresourcedefinitions").create(WIDGET_DEFINITION)
        collection = Collection(server, resource)
        for name in names:
            collection.put(name)
        server.requests.clear()
        errors: list[Exception] = []
        informer: SharedInformer[Any] = SharedInformer(
            cluster.resource(resource, namespace=ALL_NAMESPACES),
            name=resource.full_name,
            indexers=indexers(),
            on_error=errors.append,
            **{"chance": lambda: 0.0, **options},
        )
        reader = Reader(informer.store, in_batches=options.get("queue") != "delta-fifo")
        made = Scene(server, collection, informer, reader, resource, errors=errors)
        made.joins("early")
        made.joins_slowly("slow", pause=0.1)
        before(made)
        with made.reader:
            async with informer:
                if synced:
                    await informer.wait_synced(timeout=60)
                    made.joins("late")
                    await made.agrees(within=60)
                yield made
        assert made.reader.looks > 0
