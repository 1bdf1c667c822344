"""Informers that live together, one for each collection that anybody asks for.

client-go calls it SharedInformerFactory.  Sources come from whoever makes the set.

Upstream: client-go/informers/factory.go, SharedInformerFactory
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeAlias, Unpack

from reflet.api.resources import Resource
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.informer.options import InformerOptions, refuse_unknown
from reflet.informer.reflector.source import Source
from reflet.informer.shared_informer import Errors, InformerStopped, NotSynced, SharedInformer
from reflet.runtime.tasks import Failure, TaskOwner

SourceFor: TypeAlias = Callable[[Resource, str | None], Source[Any]]
"""From a resource and a namespace, None for all of them, to where its objects come from."""


class InformerSet:
    """Shares informers: who asks for the same collection gets the same one.

    ::

        informers = InformerSet(lambda resource, namespace: cluster.resource(resource, ...))
        config_maps = informers.informer(CONFIG_MAPS, namespace="shop")
        async with informers:
            await informers.wait_synced(timeout=10)

    Entering the context starts all of them, and one that is asked for later starts at once.
    Leaving it stops them, the last one first.  *options* are described in ``InformerOptions`` and
    hold for all.  Belongs to one event loop, and can be entered once.

    - *source_for*: gives the client of a resource in a namespace
    """

    def __init__(self, source_for: SourceFor, **options: Unpack[InformerOptions[Any]]) -> None:
        refuse_unknown(options, InformerOptions, of="a set of informers")
        self._source_for = source_for
        self._options = options
        self._informers: dict[
            tuple[Resource, str | None, LabelSelector, FieldSelector], SharedInformer[Any]
        ] = {}
        self._tasks = TaskOwner("informer set")
        self._running: list[asyncio.Task[None]] = []
        self._is_open = False
        self._stopped = False

    def __iter__(self) -> Iterator[SharedInformer[Any]]:
        return iter(tuple(self._informers.values()))

    def __len__(self) -> int:
        return len(self._informers)

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._is_open = True
        for informer in self:
            self._start(informer)
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        self._is_open = False
        self._stopped = True
        try:
            for task in reversed(self._running):
                await self._tasks.stop(task)
        finally:
            await self._tasks.__aexit__(*failure)

    def informer(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        label_selector: LabelSelector | str = "",
        field_selector: FieldSelector | str = "",
    ) -> SharedInformer[Any]:
        """The informer of one collection; selectors are the same when they mean the same.

        - *resource*: the resource
        - *namespace*: None is all namespaces
        """
        if self._stopped:
            raise InformerStopped("the set of informers has stopped already")
        if isinstance(label_selector, str):
            label_selector = LabelSelector.parse(label_selector)
        if isinstance(field_selector, str):
            field_selector = FieldSelector.parse(field_selector)
        collection = (resource, namespace, label_selector, field_selector)
        known = self._informers.get(collection)
        if known is not None:
            return known
        informer: SharedInformer[Any] = SharedInformer(
            self._source_for(resource, namespace),
            name=_name(resource, namespace, label_selector, field_selector),
            resource=resource.full_name,
            label_selector=label_selector,
            field_selector=field_selector,
            **self._options,
        )
        self._informers[collection] = informer
        if self._is_open:
            self._start(informer)
        return informer

    async def wait_synced(self, *, timeout: float | None = None, fail_on: Errors = ()) -> None:
        """Return once every informer has been filled.

        Raises NotSynced, which names those that still wait and says why, when that takes longer
        than *timeout* seconds, and InformerStopped when it will never be.  An error of *fail_on*
        is raised as soon as one of the reflectors meets it.
        """
        waiting = [
            asyncio.create_task(each.wait_synced(fail_on=fail_on), name=f"sync of {each.name}")
            for each in self
        ]
        try:
            async with asyncio.timeout(timeout) as limit:
                await asyncio.gather(*waiting)
        except TimeoutError:
            if not limit.expired():
                raise  # an error of fail_on
            late = {each.name: each.failure for each in self if not each.synced.is_set}
            raise NotSynced(late, timeout) from next(filter(None, late.values()), None)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def _start(self, informer: SharedInformer[Any]) -> None:
        self._running.append(self._tasks.start(informer.run(), name=f"informer {informer.name}"))


def _name(
    resource: Resource,
    namespace: str | None,
    label_selector: LabelSelector,
    field_selector: FieldSelector,
) -> str:
    selection = [str(selector) for selector in (label_selector, field_selector) if str(selector)]
    where = f" in {namespace}" if namespace else ""
    which = f" with {' and '.join(selection)}" if selection else ""
    return f"{resource.full_name}{where}{which}"
