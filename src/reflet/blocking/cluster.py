"""A cluster for programs without an event loop: the same, waiting.

What each method does and promises is said in ``reflet.cluster`` and ``reflet.client.client``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from reflet.api.meta import KubernetesObject, PartialObjectMetadata
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.blocking.loop_thread import LoopThread
from reflet.blocking.pod_streams import BlockingPodStreams
from reflet.blocking.resource import BlockingResource
from reflet.client.client import Token
from reflet.client.discovery import ServerVersion
from reflet.client.resource_client import ResourceClient
from reflet.cluster import Cluster, Namespaces
from reflet.cluster import connect as connect_cluster
from reflet.transport.config.settings import ConnectionSettings

if TYPE_CHECKING:
    from reflet.api.core.config import ConfigMap, Secret
    from reflet.blocking.controllers import BlockingController, BlockingLeader
    from reflet.blocking.managers import BlockingManager
    from reflet.blocking.mirror import BlockingMirror
    from reflet.controllers.leader_election import LeaderOptions
    from reflet.controllers.reconciler import ControllerOptions, Reconcile
    from reflet.informer.mirror import Mirror
    from reflet.informer.options import MirrorOptions
    from reflet.managers.strategies import ManagerOptions
    from reflet.resolution.pod_inputs import Needs, PodInputs

T = TypeVar("T", bound=KubernetesObject)
Taken = TypeVar("Taken")


class BlockingCluster(BlockingPodStreams):
    """``Cluster``, waiting.  Owns the thread of its event loop; leaving the context ends it.

    In the child of a fork every verb raises MisuseError: connect again there.

    - *cluster*: a cluster that was not entered yet
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        super().__init__(LoopThread(f"reflet {cluster.settings.server}"), cluster)
        self._loop.enter(cluster)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave what is open, close the connection and end the thread; harmless when it is closed.

        Waits for handlers and functions of controllers that are under way, so in one of those it
        raises MisuseError.  Does nothing in the child of a fork.
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

    @overload
    def resource(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: str | None = None,
        metadata_only: bool,
    ) -> BlockingResource[PartialObjectMetadata]: ...

    def resource(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: str | None = None,
        **form: bool,
    ) -> BlockingResource[Any]:
        """The verbs for one resource.

        - *form*: ``raw`` or ``metadata_only``, as for ``Client.resource``
        """
        client: ResourceClient[Any] = self._cluster.resource(kind, namespace=namespace, **form)
        return BlockingResource(self._loop, client)

    @overload
    def mirror(
        self,
        kind: type[T],
        *,
        namespace: Namespaces = None,
        shared: bool = False,
        **options: Unpack[MirrorOptions[T]],
    ) -> BlockingMirror[T]: ...

    @overload
    def mirror(
        self,
        kind: Resource | str,
        *,
        namespace: Namespaces = None,
        shared: bool = False,
        **options: Unpack[MirrorOptions[Any]],
    ) -> BlockingMirror[Any]: ...

    @overload
    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        raw: bool,
        namespace: Namespaces = None,
        shared: bool = False,
        **options: Unpack[MirrorOptions[AnyObject]],
    ) -> BlockingMirror[AnyObject]: ...

    @overload
    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        metadata_only: bool,
        namespace: Namespaces = None,
        shared: bool = False,
        **options: Unpack[MirrorOptions[PartialObjectMetadata]],
    ) -> BlockingMirror[PartialObjectMetadata]: ...

    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: Namespaces = None,
        **options: Any,
    ) -> BlockingMirror[Any]:
        """The objects of one resource in memory, kept fresh while the context is open.

        *options* are described in ``MirrorOptions``; several namespaces and *shared* in
        ``MirroringClient.mirror``.
        """
        from reflet.blocking.mirror import BlockingMirror  # noqa: PLC0415 - rare, and not light

        mirror: Mirror[Any] = self._cluster.mirror(kind, namespace=namespace, **options)
        return BlockingMirror(self._loop, mirror)

    def leader(self, name: str, **options: Unpack[LeaderOptions]) -> BlockingLeader:
        """Leads while the block runs; *options* are those of ``LeaderElection``."""
        from reflet.blocking.controllers import BlockingLeader  # noqa: PLC0415 - rare, not light
        from reflet.controllers.leader_election import (  # noqa: PLC0415 - the same
            LeaderElection,
        )

        return BlockingLeader(self._loop, LeaderElection(self._cluster, name, **options))

    def controller(
        self,
        source: BlockingMirror[Any],
        function: Reconcile,
        **options: Unpack[ControllerOptions],
    ) -> BlockingController:
        """Calls *function*, in threads, for every object of *source* that changes.

        *options* are those of ``Controller``.  One controller belongs to one cluster: *source* and
        the mirrors of *watches* are of this one.
        """
        if self._loop.left_behind:
            raise self._loop.fork_error()
        from reflet.blocking.controllers import (  # noqa: PLC0415 - rare
            BlockingController,
            waited_for,
        )
        from reflet.controllers.reconciler import Controller  # noqa: PLC0415 - the same

        called = waited_for(self._loop, function)
        return BlockingController(self._loop, Controller(source.asynchronous, called, **options))

    def reconcile(
        self,
        source: BlockingMirror[Any],
        function: Reconcile,
        **options: Unpack[ControllerOptions],
    ) -> None:
        """Run a ``controller`` until Ctrl-C, or until the cluster is closed from another thread.

        ::

            with cluster.mirror(Deployment) as deployments, cluster.mirror(Pod) as pods:
                cluster.reconcile(deployments, work_on, watches=[owned(pods, deployments)])
        """
        self.controller(source, function, **options).run()

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
