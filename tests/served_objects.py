"""A small server of ConfigMaps or Secrets in many namespaces, which knows who watches what.

Owns: objects, their versions and history, several API servers before them that may lag, and what
real ones do with gets, lists and watches of all of a namespace or of one object.  Is an
``ObjectServer``.  Must not know managers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ListMeta, ObjectMeta
from reflet.api.options import GetOptions, ListOptions, WatchOptions
from reflet.api.selectors.fields import FieldSelector
from reflet.api.status import not_found
from reflet.api.watch_events import WatchEvent
from reflet.errors import (
    Cause,
    ConnectionRefused,
    Expired,
    Forbidden,
    Invalid,
    Timeout,
    TransportError,
)
from reflet.testing.scripted_source import added, bookmark, deleted, modified

Item = ConfigMap | Secret
Place = tuple[str, str | None]
"""A namespace, and one name in it or all of them."""

FIRST_VERSION: Final = 100


@dataclass
class Replica:
    """One API server: it has come to *version*, and stays *lag* versions behind the newest."""

    version: int = FIRST_VERSION
    lag: int = 0


class ServedObjects:
    """Serves one kind.

    ``streams`` are the watches that are open.  ``requests`` says what was asked, in words.
    ``forbids`` decides what is refused, ``delays`` how many seconds each answer and each event
    takes.  With ``streaming=False`` streaming lists are refused.

    ``route`` says which of the *replicas* answers a request.  One that lags answers a list at ``0``
    from what it has, and a list or a streaming list at a version once it has come that far; or,
    when it is ``impatient``, says that it has not.  Its streams bring what it has.

    With ``opaque`` versions are not numbers.  With ``page_size`` lists and streaming lists come in
    pieces.  With ``swallows_cancels`` a stream that is cancelled in the moment in which something
    happens goes on, as ``asyncio.wait_for`` of Python 3.11 does.
    """

    def __init__(
        self, kind: type[Any] = ConfigMap, *, streaming: bool = True, replicas: int = 1
    ) -> None:
        self.kind = kind
        self.version = FIRST_VERSION
        self.objects: dict[tuple[str, str], Any] = {}
        self.requests: list[str] = []
        self.streams: list[Place] = []
        self.most_streams = 0
        self.forbids: Callable[[str, Place], bool] = lambda verb, place: False
        self.delays: Callable[[Place], float] = lambda place: 0.0
        self.replicas = [Replica() for _ in range(replicas)]
        self.route: Callable[[], int] = lambda: 0
        self.impatient = False
        self.opaque = False
        self.page_size = 0
        self.swallows_cancels = False
        self.bookmarks = 0
        self.breaks = 0
        self.is_away = False
        self._streaming = streaming
        self._oldest = FIRST_VERSION
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
            resource_version=self.text(self.version),
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
            resource_version=self.text(self.version),
        )
        self._happened(deleted(self.kind(metadata=metadata)))

    def lag(self, versions: int, *, replica: int = 0) -> None:
        """Let an API server be so many versions behind from now on; it never goes back."""
        self.replicas[replica].lag = versions
        self._advance()

    def compact(self) -> None:
        """Forget what every API server has seen, and break all streams: some must begin anew."""
        self._oldest = min(replica.version for replica in self.replicas)
        self.breaks += 1
        self._wake()

    def restore(self, versions: int) -> None:
        """Go back as a server does that is restored from a backup: all streams break."""
        self.version = max(FIRST_VERSION, self.version - versions)
        self._oldest = min(self._oldest, self.version)
        self._log = [(version, event) for version, event in self._log if version <= self.version]
        self.objects.clear()
        for _, event in self._log:
            key = (event.object.metadata.namespace, event.object.metadata.name)
            self.objects[key] = event.object
            if event.type == "DELETED":
                del self.objects[key]
        for replica in self.replicas:
            replica.version = min(replica.version, self.version)
        self.breaks += 1
        self._wake()

    def go_away(self) -> None:
        """Break every stream, and answer nobody until ``come_back``."""
        self.is_away = True
        self.breaks += 1
        self._wake()

    def come_back(self) -> None:
        """Answer again."""
        self.is_away = False

    def _happened(self, event: WatchEvent[Any]) -> None:
        self._log.append((self.version, event))
        self._advance()

    def _advance(self) -> None:
        for replica in self.replicas:
            replica.version = max(replica.version, self.version - replica.lag)
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    # What it answers

    def text(self, version: int) -> str:
        """A version as clients see it."""
        return f"version {version}" if self.opaque else str(version)

    def number(self, version: str) -> int:
        """What ``text`` was made of."""
        return int(version.removeprefix("version "))

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        """The objects of a namespace."""
        assert kind is self.kind
        return _Collection(self, namespace)

    async def answering(self, verb: str, place: Place, version: str | None) -> Replica:
        """Take note of a request, and refuse it where it is to be refused; who answers it."""
        what = "*" if place[1] is None else place[1]
        self.requests.append(f"{verb} {place[0]}/{what} at {version or ''!r}")
        if self.is_away:
            raise ConnectionRefused("nobody is there")
        await asyncio.sleep(self.delays(place))
        if self.forbids(verb, place):
            raise Forbidden(f"{verb} of {what} is forbidden", code=403, reason="Forbidden")
        if verb == "stream" and not self._streaming:
            raise Invalid("sendInitialEvents is forbidden", code=422, reason="Invalid")
        return self.replicas[self.route()]

    def version_shown(self, replica: Replica, asked: str | None) -> int:
        """The version of the state that a list or a streaming list at a version shows."""
        if not asked:
            return self.version
        wanted = self.number(asked)
        behind = replica.version < wanted
        if wanted > self.version or (behind and self.impatient):
            raise Timeout("Too large", code=504, causes=[Cause("ResourceVersionTooLarge")])
        return max(replica.version, wanted)

    def since(self, asked: str | None) -> int:
        """The version after which a watch begins."""
        wanted = self.number(asked or "0")
        if not self._oldest <= wanted <= self.version:
            raise Expired("The resourceVersion is too old", code=410, reason="Expired")
        return wanted

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

    def between(self, place: Place, after: int, version: int) -> Iterator[WatchEvent[Any]]:
        """What happened in a place after a version, and up to another."""
        return (
            event
            for happened, event in self._log
            if after < happened <= version and _is_in(event.object, place)
        )

    async def news(self) -> None:
        """Wait until something happens."""
        news = self._news
        try:
            await news.wait()
        except asyncio.CancelledError:
            if not (self.swallows_cancels and news.is_set()):
                raise

    def bookmark_everywhere(self) -> None:
        """Let every stream say how far it is."""
        self.version += 1
        self.bookmarks += 1
        self._advance()


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
        server, place = self._server, self._place(options)
        replica = await server.answering("list", place, options.resource_version)
        if options.continue_:
            version, begin = map(int, options.continue_.split("/"))
        else:
            version, begin = server.version_shown(replica, options.resource_version), 0
        items = server.state(place, version)
        end = begin + server.page_size if server.page_size and options.limit else len(items)
        continue_ = f"{version}/{end}" if end < len(items) else ""
        metadata = ListMeta(resource_version=server.text(version), continue_=continue_)
        return Listing(items=tuple(items[begin:end]), metadata=metadata)

    @asynccontextmanager
    async def watch(
        self, options: WatchOptions, /, *, silence: float | None
    ) -> AsyncIterator[_Stream]:
        server, place, asked = self._server, self._place(options), options.resource_version
        verb = "stream" if options.send_initial_events else "watch"
        replica = await server.answering(verb, place, asked)
        since = server.version_shown(replica, asked) if verb == "stream" else server.since(asked)
        server.streams.append(place)
        server.most_streams = max(server.most_streams, len(server.streams))
        try:
            initial = server.state(place, since) if verb == "stream" else None
            yield _Stream(server, replica, place, since, initial)
        finally:
            server.streams.remove(place)

    def _place(self, options: ListOptions | WatchOptions) -> Place:
        selector = FieldSelector.parse(str(options.field_selector or ""))
        return self._namespace, selector.requires_exact_match("metadata.name")


class _Stream:
    """One watch: the objects of *initial* if it is to begin with them, then what happens."""

    def __init__(
        self,
        server: ServedObjects,
        replica: Replica,
        place: Place,
        version: int,
        initial: list[Any] | None,
    ) -> None:
        self.received_bytes = 0
        self._server = server
        self._replica = replica
        self._place = place
        self._seen = version
        self._initial = initial
        self._breaks = server.breaks
        self._bookmarks = server.bookmarks

    async def batches(self) -> AsyncIterator[Sequence[WatchEvent[Any]]]:
        server, replica, place = self._server, self._replica, self._place
        if self._initial is not None:
            size = server.page_size or len(self._initial)
            while len(self._initial) > size:
                yield list(map(added, self._initial[:size]))
                del self._initial[:size]
                await asyncio.sleep(server.delays(place))
            end = bookmark(server.text(self._seen), ends_initial_events=True, kind=server.kind)
            yield [*map(added, self._initial), end]
        while True:
            while replica.version <= self._seen and self._breaks == server.breaks:
                await server.news()
            if self._breaks != server.breaks:
                raise TransportError("the connection was reset")
            version = replica.version
            events = list(server.between(place, self._seen, version))
            if self._bookmarks != server.bookmarks:
                self._bookmarks = server.bookmarks
                events.append(bookmark(server.text(version), kind=server.kind))
            self._seen = version
            await asyncio.sleep(server.delays(place))
            if events:
                yield events


def _is_in(item: Any, place: Place) -> bool:
    namespace, name = place
    return item.metadata.namespace == namespace and name in {None, item.metadata.name}
