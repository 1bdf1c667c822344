"""A small server of ConfigMaps or Secrets in many namespaces, which knows who watches what.

Owns: objects, their versions and history, and what a real server does with gets, lists and
watches of all of a namespace or of one object.  Is an ``ObjectServer``.  Must not know managers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from reflet.api.codec import Listing
from reflet.api.config import ConfigMap, Secret
from reflet.api.field_selectors import FieldSelector
from reflet.api.meta import ListMeta, ObjectMeta
from reflet.api.options import GetOptions, ListOptions, WatchOptions
from reflet.api.status import not_found
from reflet.api.watch_events import WatchEvent
from reflet.errors import ConnectionRefused, Forbidden, Invalid, TransportError
from reflet.testing.scripted_source import added, bookmark, deleted, modified

Item = ConfigMap | Secret
Place = tuple[str, str | None]
"""A namespace, and one name in it or all of them."""


class ServedObjects:
    """Serves one kind.

    ``streams`` are the watches that are open.  ``requests`` says what was asked, in words.
    ``forbids`` decides what is refused, ``delays`` how many seconds each answer and each event
    takes.  With ``streaming=False`` streaming lists are refused.  A list at ``0`` shows the state
    of ``stale_by`` versions ago.
    """

    def __init__(self, kind: type[Any] = ConfigMap, *, streaming: bool = True) -> None:
        self.kind = kind
        self.version = 100
        self.objects: dict[tuple[str, str], Any] = {}
        self.requests: list[str] = []
        self.streams: list[Place] = []
        self.most_streams = 0
        self.forbids: Callable[[str, Place], bool] = lambda verb, place: False
        self.delays: Callable[[Place], float] = lambda place: 0.0
        self.stale_by = 0
        self.bookmarked = 0
        self.is_away = False
        self._streaming = streaming
        self._log: list[tuple[int, WatchEvent[Any]]] = []
        self._news = asyncio.Event()

    # What happens on the server

    def put(self, namespace: str, name: str, *, immutable: bool = False, text: str = "") -> Any:
        """Make or change an object; the answer is its new state."""
        self.version += 1
        metadata = ObjectMeta(
            name=name,
            namespace=namespace,
            uid=f"uid of {name}",
            resource_version=str(self.version),
        )
        data: Any = {"text": text} if self.kind is ConfigMap else {"text": text.encode()}
        item = self.kind(metadata=metadata, immutable=immutable, data=data)
        is_new = (namespace, name) not in self.objects
        self.objects[namespace, name] = item
        self._happened(added(item) if is_new else modified(item))
        return item

    def delete(self, namespace: str, name: str) -> None:
        """Delete an object."""
        self.version += 1
        last = self.objects.pop((namespace, name))
        metadata = ObjectMeta(
            name=name,
            namespace=namespace,
            uid=last.metadata.uid,
            resource_version=str(self.version),
        )
        self._happened(deleted(self.kind(metadata=metadata)))

    def go_away(self) -> None:
        """Break every stream, and answer nobody until ``come_back``."""
        self.is_away = True
        self._wake()

    def come_back(self) -> None:
        """Answer again."""
        self.is_away = False

    def _happened(self, event: WatchEvent[Any]) -> None:
        self._log.append((self.version, event))
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    # What it answers

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        """The objects of a namespace."""
        assert kind is self.kind
        return _Collection(self, namespace)

    async def answering(self, verb: str, place: Place, version: str | None) -> None:
        """Take note of a request, and refuse it where it is to be refused."""
        what = "*" if place[1] is None else place[1]
        self.requests.append(f"{verb} {place[0]}/{what} at {version or ''!r}")
        if self.is_away:
            raise ConnectionRefused("nobody is there")
        await asyncio.sleep(self.delays(place))
        if self.forbids(verb, place):
            raise Forbidden(f"{verb} of {what} is forbidden", code=403, reason="Forbidden")
        if verb == "stream" and not self._streaming:
            raise Invalid("sendInitialEvents is forbidden", code=422, reason="Invalid")

    def state(self, place: Place, version: int) -> list[Any]:
        """The objects of a place as they were at a version."""
        found: dict[tuple[str, str], Any] = {}
        for happened, event in self._log:
            key = (event.object.metadata.namespace, event.object.metadata.name)
            if happened <= version and _is_in(event.object, place):
                found[key] = event.object
                if event.type == "DELETED":
                    del found[key]
        return list(found.values())

    def since(self, place: Place, version: int) -> Iterator[WatchEvent[Any]]:
        """What happened in a place after a version."""
        return (
            event
            for happened, event in self._log
            if happened > version and _is_in(event.object, place)
        )

    async def news(self) -> None:
        """Wait until something happens."""
        await self._news.wait()

    def bookmark_everywhere(self) -> None:
        """Let every stream say how far it is."""
        self.version += 1
        self.bookmarked = self.version
        self._wake()


class _Collection:
    """The objects of one namespace."""

    def __init__(self, server: ServedObjects, namespace: str) -> None:
        self._server = server
        self._namespace = namespace

    async def get(self, name: str, options: GetOptions = GetOptions(), /) -> Any:
        place = (self._namespace, name)
        await self._server.answering("get", place, options.resource_version)
        found = self._server.objects.get(place)
        if found is None:
            raise not_found(self._server.kind.__name__.lower(), name)
        return found

    gate = None

    async def page(self, options: ListOptions, /) -> Listing[Any]:
        place = self._place(options)
        await self._server.answering("list", place, options.resource_version)
        version = self._server.version
        if options.resource_version == "0":
            version -= self._server.stale_by
        items = tuple(self._server.state(place, version))
        return Listing(items=items, metadata=ListMeta(resource_version=str(version)))

    @asynccontextmanager
    async def watch(
        self, options: WatchOptions, /, *, silence: float | None
    ) -> AsyncIterator[_Stream]:
        place = self._place(options)
        verb = "stream" if options.send_initial_events else "watch"
        await self._server.answering(verb, place, options.resource_version)
        self._server.streams.append(place)
        self._server.most_streams = max(self._server.most_streams, len(self._server.streams))
        try:
            since = None if verb == "stream" else int(options.resource_version or 0)
            yield _Stream(self._server, place, since)
        finally:
            self._server.streams.remove(place)

    def _place(self, options: ListOptions | WatchOptions) -> Place:
        selector = FieldSelector.parse(str(options.field_selector or ""))
        return self._namespace, selector.requires_exact_match("metadata.name")


class _Stream:
    """One watch: the present state if *since* is None, then what happens."""

    def __init__(self, server: ServedObjects, place: Place, since: int | None) -> None:
        self.received_bytes = 0
        self._server = server
        self._place = place
        self._since = since

    async def batches(self) -> AsyncIterator[Sequence[WatchEvent[Any]]]:
        server, place = self._server, self._place
        seen = self._since
        if seen is None:
            seen = server.version
            yield [
                *(added(item) for item in server.state(place, seen)),
                bookmark(str(seen), ends_initial_events=True, kind=server.kind),
            ]
        while True:
            while server.version == seen and not server.is_away:
                await server.news()
            if server.is_away:
                raise TransportError("the connection was reset")
            events = list(server.since(place, seen))
            if server.bookmarked > seen:
                events.append(bookmark(str(server.bookmarked), kind=server.kind))
            seen = server.version
            await asyncio.sleep(server.delays(place))
            if events:
                yield events


def _is_in(item: Any, place: Place) -> bool:
    namespace, name = place
    return item.metadata.namespace == namespace and name in {None, item.metadata.name}
