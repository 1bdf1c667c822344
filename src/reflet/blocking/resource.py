"""The verbs for one resource, for programs without an event loop: the same, waiting.

What each verb does and promises is said in ``reflet.client.resource_client``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Generic, TypeVar, overload

from reflet.api.codec import Listing
from reflet.api.meta import KubernetesObject
from reflet.api.options import (
    CreateOptions,
    DeleteOptions,
    GetOptions,
    ListOptions,
    PatchOptions,
    PatchType,
    UpdateOptions,
    WatchOptions,
)
from reflet.api.paging import PAGE_SIZE
from reflet.api.resources import Resource
from reflet.api.status import Status
from reflet.api.watch_events import WatchEvent
from reflet.blocking.loop_thread import LoopThread
from reflet.client.resource_client import ResourceClient
from reflet.client.resource_reader import WATCH_SILENCE, Answered, Whole
from reflet.client.rest import OnPage
from reflet.client.sent_objects import Body, PatchBody

T = TypeVar("T", bound=KubernetesObject)
Taken = TypeVar("Taken")


class BlockingResource(Generic[T]):
    """``ResourceClient``, waiting.

    - *client*: what sends the requests
    """

    def __init__(self, loop: LoopThread, client: ResourceClient[T]) -> None:
        self._loop = loop
        self._client = client

    @property
    def resource(self) -> Resource:
        """The resource that the verbs are about."""
        return self._client.resource

    @overload
    def get(
        self, name: str, options: GetOptions = GetOptions(), *, subresource: Whole = None
    ) -> T: ...

    @overload
    def get(
        self, name: str, options: GetOptions = GetOptions(), *, subresource: str | None
    ) -> Answered[T]: ...

    def get(
        self, name: str, options: GetOptions = GetOptions(), *, subresource: str | None = None
    ) -> Answered[T]:
        """The object called *name*."""
        return self._loop.run(self._client.get(name, options, subresource=subresource))

    def list(
        self,
        options: ListOptions = ListOptions(),
        *,
        page_size: int = PAGE_SIZE,
        on_page: OnPage | None = None,
    ) -> Listing[T]:
        """Every object that *options* select, one consistent state."""
        return self._loop.run(self._client.list(options, page_size=page_size, on_page=on_page))

    def list_as(
        self,
        take: Callable[[T], Taken],
        options: ListOptions = ListOptions(),
        *,
        page_size: int = PAGE_SIZE,
        on_page: OnPage | None = None,
    ) -> Listing[Taken]:
        """What *take* makes of every object; it is called in the thread of the connection."""
        return self._loop.run(
            self._client.list_as(take, options, page_size=page_size, on_page=on_page)
        )

    def pages(
        self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE
    ) -> Iterator[Listing[T]]:
        """Yield page after page; the next ones are fetched while the caller works."""
        return self._loop.iterated(self._client.pages(options, page_size=page_size))

    @contextmanager
    def watch(
        self, options: WatchOptions = WatchOptions(), *, silence: float | None = WATCH_SILENCE
    ) -> Iterator[Iterator[WatchEvent[T]]]:
        """Open a watch; the block gets its events one by one."""
        with (
            self._loop.entered(self._client.watch(options, silence=silence)) as watch,
            closing(self._loop.iterated(watch.batches())) as batches,
        ):
            yield (event for batch in batches for event in batch)

    @overload
    def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: Whole = None,
    ) -> T: ...

    @overload
    def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: str | None,
    ) -> Answered[T]: ...

    def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Create an object, or a part of the one called *name*."""
        return self._loop.run(
            self._client.create(body, options, name=name, subresource=subresource)
        )

    @overload
    def replace(
        self, body: Body[T], options: UpdateOptions = UpdateOptions(), *, subresource: Whole = None
    ) -> T: ...

    @overload
    def replace(
        self, body: Body[T], options: UpdateOptions = UpdateOptions(), *, subresource: str | None
    ) -> Answered[T]: ...

    def replace(
        self,
        body: Body[T],
        options: UpdateOptions = UpdateOptions(),
        *,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Write the whole object."""
        return self._loop.run(self._client.replace(body, options, subresource=subresource))

    @overload
    def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: Whole = None,
    ) -> T: ...

    @overload
    def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: str | None,
    ) -> Answered[T]: ...

    def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Change an object by a patch."""
        return self._loop.run(
            self._client.patch(name, patch, patch_type, options, subresource=subresource)
        )

    @overload
    def apply(
        self, body: Body[T], *, field_manager: str, force: bool = False, subresource: Whole = None
    ) -> T: ...

    @overload
    def apply(
        self, body: Body[T], *, field_manager: str, force: bool = False, subresource: str | None
    ) -> Answered[T]: ...

    def apply(
        self,
        body: Body[T],
        *,
        field_manager: str,
        force: bool = False,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Server-side apply: own the fields of *body*."""
        return self._loop.run(
            self._client.apply(
                body, field_manager=field_manager, force=force, subresource=subresource
            )
        )

    def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | Status:
        """Delete an object."""
        return self._loop.run(self._client.delete(name, options))

    def delete_collection(
        self, selected: ListOptions = ListOptions(), options: DeleteOptions = DeleteOptions()
    ) -> None:
        """Delete every object that *selected* selects."""
        self._loop.run(self._client.delete_collection(selected, options))
