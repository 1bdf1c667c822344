"""A collection in memory, as a program first meets it.

The names by which people read and follow a mirrored collection, on a ``SharedInformer`` that keeps
it fresh.  Reading by key is client-go's GetByKey, ``list`` its Lister, ``synced`` its
WaitForCacheSync.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from typing import Final, Generic, Protocol, Self, TypeVar, Unpack

from reflet.api.meta import KubernetesObject
from reflet.api.resources import ALL_NAMESPACES, Resource
from reflet.api.selectors.labels import LabelSelector
from reflet.api.status import not_found
from reflet.errors import ConfigurationError, NotFound
from reflet.informer.handlers.change_stream import ChangeStream
from reflet.informer.handlers.changes import Handler
from reflet.informer.handlers.registration import Registration
from reflet.informer.options import MirrorOptions, refuse_unknown
from reflet.informer.reflector.source import Source
from reflet.informer.shared_informer import Errors, SharedInformer
from reflet.runtime.tasks import Failure

T = TypeVar("T", bound=KubernetesObject)

SIGN_OF_LIFE: Final = 120.0
"""Seconds.  A healthy watch brings a bookmark about once a minute; this leaves room for one."""


class NotMirrored(NotFound, KeyError):
    """A mirror has no object of that name: NotFound to some, KeyError to who sees a mapping."""

    @classmethod
    def of(cls, resource: Resource, name: str) -> Self:
        """The error for an object of *resource*.

        - *name*: name of the object
        """
        facts = not_found(resource.plural, name, resource.group)
        return cls(
            facts.message,
            code=facts.code,
            reason=facts.reason,
            group=facts.group,
            kind=facts.kind,
            name=facts.name,
        )

    def __str__(self) -> str:
        return self.message  # a KeyError's own words stand in quotes


class NamedResource(Protocol):
    """Whoever knows what a resource is, or will: a custom resource may not be installed yet."""

    @property
    def resource(self) -> Resource:
        """The resource, or as much as is known of it."""
        ...


class Mirror(Generic[T]):
    """The objects of one resource, kept equal to the server's while the context is open.

    ::

        async with cluster.mirror("configmaps", namespace="shop") as config_maps:
            await config_maps.synced(timeout=10)
            settings = config_maps.get("settings")
            async for change in config_maps.changes():
                print(change.type, change.object.metadata.name)

    Reading is a look into memory: it never waits and may be done from any thread, all else
    belongs to the event loop.  Before it is synced a mirror is empty, and when the server is
    away it shows the last known state: ``is_live`` says so.

    An object is found by its name, in the mirror's own *namespace* or in the one that is given;
    ``"shop/settings"`` is a name too, and the only kind that will do where the mirror spans more
    than one namespace. No *namespace* means that of *source*, all of them if it has none. By
    these names a mirror is a mapping: ``in``, ``[]``, ``keys``, ``values``, ``items``, and
    iterating gives the names. *options* are described in ``MirrorOptions``.

    A mapping as *source*, from namespaces to their sources, makes a mirror of several: until it is
    synced it may have the objects of some of them.

    - *resource*: the resource, for the words of errors
    """

    def __init__(
        self,
        source: Source[T] | Mapping[str, Source[T]],
        resource: Resource | NamedResource,
        *,
        namespace: str | None = None,
        **options: Unpack[MirrorOptions[T]],
    ) -> None:
        refuse_unknown(options, MirrorOptions, of="a mirror")
        self._named = resource
        if namespace is None:
            namespace = getattr(source, "namespace", None)
        self.namespace = None if namespace == ALL_NAMESPACES else namespace
        """The namespace that is mirrored, None for several or all of them."""
        resource = self.resource
        where = ", ".join(source) if isinstance(source, Mapping) else self.namespace
        where = f" in {where}" if where else ""
        options["name"] = options.get("name") or f"{resource.full_name}{where}"
        self.informer: SharedInformer[T] = SharedInformer(
            source, resource=resource.full_name, **options
        )

    def __repr__(self) -> str:
        return f"<Mirror {self.informer.name}, {len(self)} objects at {self.last_version!r}>"

    async def __aenter__(self) -> Self:
        await self.informer.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self.informer.__aexit__(*failure)

    @property
    def resource(self) -> Resource:
        """What the objects are; of a custom resource, only its name until it was found."""
        return self._named if isinstance(self._named, Resource) else self._named.resource

    # Waiting

    async def synced(self, *, timeout: float | None = None, fail_on: Errors = ()) -> None:
        """Return once everything that is on the server is here.

        Raises NotSynced, which is a TimeoutError and has the reason as its ``__cause__``, when it
        takes longer than *timeout* seconds.  An error of *fail_on* is raised as soon as the
        server gives it: ``fail_on=(Forbidden, NotFound)`` for what waiting does not fix.
        """
        await self.informer.wait_synced(timeout=timeout, fail_on=fail_on)

    # Reading

    def get(self, name: str, namespace: str | None = None) -> T | None:
        """The object of that name, None when there is none.

        - *name*: ``name``, or ``namespace/name``
        - *namespace*: None is the mirror's own
        """
        return self.informer.store.get(self._key(name, namespace))

    def __getitem__(self, name: str) -> T:
        found = self.get(name)
        if found is None:
            raise NotMirrored.of(self.resource, name.rpartition("/")[2])
        return found

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __len__(self) -> int:
        return len(self.informer.store)

    def __iter__(self) -> Iterator[str]:
        """The names of one moment."""
        return iter(self.keys())

    def keys(self) -> list[str]:
        """The name of every object; with its namespace where the mirror spans several."""
        return list(map(self._name, self.informer.store.keys()))

    def values(self) -> list[T]:
        """Every object of one moment."""
        return self.informer.store.objects()

    def items(self) -> list[tuple[str, T]]:
        """Every object of one moment, with its name."""
        objects, _ = self.informer.store.snapshot()
        return [(self._name(key), item) for key, item in objects.items()]

    def by_index(self, name: str, value: str) -> list[T]:
        """The objects that have *value* in the index *name*, which *indexers* defined."""
        return self.informer.store.by_index(name, value)

    def list(self, selector: LabelSelector | str = "", namespace: str | None = None) -> list[T]:
        """The objects whose labels match, of one namespace or of all that are mirrored.

        - *namespace*: None is all that are mirrored
        """
        lister = self.informer.lister(self.resource.plural, group=self.resource.group)
        return lister.list(selector, namespace=namespace)

    @property
    def last_version(self) -> str:
        """The server's version up to which everything is here; empty before anything is."""
        return self.informer.last_version

    @property
    def is_synced(self) -> bool:
        """Whether everything that was on the server has been here once."""
        return self.informer.synced.is_set

    def is_live(self, within: float = SIGN_OF_LIFE) -> bool:
        """Whether the server gave a sign of life within the last *within* seconds."""
        reflectors = self.informer.reflectors
        return not self.informer.is_stopped and all(each.is_live(within) for each in reflectors)

    # Following

    def changes(self, *, resync_every: float | None = None) -> ChangeStream[T]:
        """Iterate what changes, the present state first, until the loop is left.

        Objects that did not change come again only where *resync_every*, the mirror's if it
        is None, asks for it.  Ends when the mirror is closed.
        """
        return self.informer.changes(
            name=f"changes of {self.informer.name}", resync_every=resync_every
        )

    def add_handler(
        self,
        handler: Handler[T],
        *,
        name: str = "",
        resync_every: float | None = None,
        executor: Executor | None = None,
    ) -> Registration[T]:
        """Call *handler* with every change from now on, the present state first.

        *resync_every* asks for everything again that often, in seconds: None as often as
        the mirror says, 0 never.

        - *name*: what logs and metrics call the handler
        """
        return self.informer.add_handler(
            handler, name=name, resync_every=resync_every, executor=executor
        )

    def remove_handler(self, registration: Registration[T]) -> None:
        """Stop calling a handler; harmless when it is gone."""
        self.informer.remove_handler(registration)

    def _name(self, key: str) -> str:
        return key.removeprefix(f"{self.namespace}/") if self.namespace else key

    def _key(self, name: str, namespace: str | None) -> str:
        if not self.resource.namespaced:
            return name
        if "/" in name:
            return name  # names of objects have none, so this is a key
        namespace = namespace or self.namespace
        if namespace:
            return f"{namespace}/{name}"
        raise ConfigurationError(
            f"this mirror has {self.resource.full_name} of several namespaces: say in which one "
            f"{name!r} is, as in '<namespace>/{name}'"
        )
