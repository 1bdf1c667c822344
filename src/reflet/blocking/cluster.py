"""The client's verbs for programs without an event loop: the same, waiting.

What each verb does and promises is said in ``reflet.client.resource_client`` and
``reflet.client.client``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, Unpack, overload

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
from reflet.api.unstructured import AnyObject
from reflet.api.watch_events import WatchEvent
from reflet.blocking.loop_thread import LoopThread
from reflet.client.client import Token
from reflet.client.discovery import ServerVersion
from reflet.client.resource_client import ResourceClient
from reflet.client.resource_reader import WATCH_SILENCE, Answered, Whole
from reflet.client.rest import OnPage
from reflet.client.sent_objects import Body, PatchBody
from reflet.cluster import Cluster
from reflet.cluster import connect as connect_cluster
from reflet.transport.config.settings import ConnectionSettings

if TYPE_CHECKING:
    from reflet.api.core.config import ConfigMap, Secret
    from reflet.blocking.managers import BlockingManager
    from reflet.blocking.mirror import BlockingMirror
    from reflet.informer.options import MirrorOptions
    from reflet.managers.strategies import ManagerOptions
    from reflet.resolution.pod_inputs import Needs, PodInputs

T = TypeVar("T", bound=KubernetesObject)
Taken = TypeVar("Taken")


class BlockingResource(Generic[T]):
    """``ResourceClient``, waiting."""

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


class BlockingCluster:
    """``Cluster``, waiting.  Owns the thread of its event loop; leaving the context ends it.

    In the child of a fork every verb raises MisuseError: connect again there.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._loop = LoopThread(f"reflet {cluster.settings.server}")
        self._loop.enter(cluster)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave what is open, close the connection and end the thread; harmless when it is closed.

        Waits for handlers that are under way, so in a handler it raises MisuseError.  Does
        nothing in the child of a fork.
        """
        self._loop.stop()

    @property
    def namespace(self) -> str:
        """The namespace that is meant when none is named."""
        return self._cluster.namespace

    @overload
    def resource(self, kind: type[T], *, namespace: str | None = None) -> BlockingResource[T]: ...

    @overload
    def resource(
        self, kind: Resource | str, *, namespace: str | None = None
    ) -> BlockingResource[Any]: ...

    @overload
    def resource(
        self, kind: type[Any] | Resource | str, *, namespace: str | None = None, raw: bool
    ) -> BlockingResource[AnyObject]: ...

    def resource(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: str | None = None,
        raw: bool = False,
    ) -> BlockingResource[Any]:
        """The verbs for one resource."""
        client = self._cluster.resource(kind, namespace=namespace, raw=raw)
        return BlockingResource(self._loop, client)

    @overload
    def mirror(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        **options: Unpack[MirrorOptions[T]],
    ) -> BlockingMirror[T]: ...

    @overload
    def mirror(
        self,
        kind: Resource | str,
        *,
        namespace: str | None = None,
        **options: Unpack[MirrorOptions[Any]],
    ) -> BlockingMirror[Any]: ...

    @overload
    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        raw: bool,
        namespace: str | None = None,
        **options: Unpack[MirrorOptions[AnyObject]],
    ) -> BlockingMirror[AnyObject]: ...

    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: str | None = None,
        raw: bool = False,
        **options: Unpack[MirrorOptions[Any]],
    ) -> BlockingMirror[Any]:
        """The objects of one resource in memory, kept fresh while the context is open.

        *options* are described in ``MirrorOptions``.
        """
        from reflet.blocking.mirror import BlockingMirror  # noqa: PLC0415 - rare, and not light

        mirror = self._cluster.mirror(kind, namespace=namespace, raw=raw, **options)
        return BlockingMirror(self._loop, mirror)

    def config_map_manager(
        self, *, strategy: str = "watch", **options: Unpack[ManagerOptions]
    ) -> BlockingManager[ConfigMap]:
        """The ConfigMaps of registered pods; *options* are those of ``ConfigMapManager``."""
        from reflet.blocking.managers import BlockingManager  # noqa: PLC0415 - rare, not light
        from reflet.managers.manager import ConfigMapManager  # noqa: PLC0415 - the same

        manager = ConfigMapManager(self._cluster, strategy=strategy, **options)
        return BlockingManager(self._loop, manager)

    def secret_manager(
        self, *, strategy: str = "watch", **options: Unpack[ManagerOptions]
    ) -> BlockingManager[Secret]:
        """The Secrets of registered pods; *options* are those of ``SecretManager``."""
        from reflet.blocking.managers import BlockingManager  # noqa: PLC0415 - rare, not light
        from reflet.managers.manager import SecretManager  # noqa: PLC0415 - the same

        manager = SecretManager(self._cluster, strategy=strategy, **options)
        return BlockingManager(self._loop, manager)

    def pod_inputs(
        self,
        target: str = "",
        *,
        namespace: str | None = None,
        selector: str = "",
        needs: Needs | None = None,
    ) -> PodInputs:
        """What a pod's containers get: ``cluster.pod_inputs("deploy/web").environment("web")``."""
        from reflet.podconfig.gather import pod_inputs  # noqa: PLC0415 - rare, and not light

        return self._loop.run(
            pod_inputs(self._cluster, target, namespace=namespace, selector=selector, needs=needs)
        )

    def find(self, name: str) -> Resource:
        """The resource that *name* means on this server."""
        return self._loop.run(self._cluster.find(name))

    def resources(self, *, refresh: bool = False) -> tuple[Resource, ...]:
        """Everything the server serves."""
        return self._loop.run(self._cluster.resources(refresh=refresh))

    def version(self) -> ServerVersion:
        """What the server says it is."""
        return self._loop.run(self._cluster.version())

    def request_token(
        self,
        service_account: str,
        *,
        namespace: str | None = None,
        audiences: Sequence[str] = (),
        expiration_seconds: int = 3600,
        pod: tuple[str, str] | None = None,
    ) -> Token:
        """A new token of a service account."""
        return self._loop.run(
            self._cluster.request_token(
                service_account,
                namespace=namespace,
                audiences=audiences,
                expiration_seconds=expiration_seconds,
                pod=pod,
            )
        )


def connect(
    settings: ConnectionSettings | None = None,
    *,
    kubeconfig: str = "",
    context: str = "",
    namespace: str = "",
    qps: float | None = None,
    burst: int | None = None,
) -> BlockingCluster:
    """The cluster that kubectl would talk to, or the one of *settings*."""
    return BlockingCluster(
        connect_cluster(
            settings,
            kubeconfig=kubeconfig,
            context=context,
            namespace=namespace,
            qps=qps,
            burst=burst,
        )
    )
