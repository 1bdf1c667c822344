"""The managers of ConfigMaps and Secrets: what registered pods refer to, ready to read.

Upstream: pkg/kubelet/util/manager/manager.go, Manager; pkg/kubelet/configmap/configmap_manager.go;
pkg/kubelet/secret/secret_manager.go
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Generic, Self, Unpack

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.errors import CacheNotSynced, NotFound, NotRegistered
from reflet.managers.object_changes import ObjectChange, ObjectChanges, PodWaker
from reflet.managers.object_store import C, ObjectServer
from reflet.managers.registry import PodKey, PodRegistry
from reflet.managers.strategies import ManagerOptions, StoreMaker, StrategyOptions
from reflet.managers.watches.stream_plan import StreamPlan
from reflet.resolution.references.references import config_map_names, secret_names
from reflet.runtime.tasks import Failure


class ObjectManager(Generic[C]):
    """The objects of one *kind* that registered pods refer to.

    *word* is the kind's name in errors, *names_of* gives the names that a pod mentions,
    *options* are those of ``StrategyOptions``.

    ``peek`` may be called from any thread, all else belongs to the event loop.

    - *strategy*: ``watch``, ``auto``, ``cache`` or ``get``; see ``ConfigMapManager``
    - *namespace*: namespace of the object
    - *name*: name of the object
    """

    def __init__(
        self,
        cluster: ObjectServer,
        kind: type[C],
        *,
        word: str,
        names_of: Callable[[Pod], Iterable[str]],
        strategy: str,
        **options: Unpack[ManagerOptions],
    ) -> None:
        self.strategy = strategy.lower()
        self._word = word
        self._store = StoreMaker(
            server=cluster, kind=kind, word=word, options=StrategyOptions(**options)
        ).store(strategy)
        self._registry = PodRegistry(self._store, names_of)

    def __repr__(self) -> str:
        pods = len(self._registry)
        return f"<{type(self).__name__} {self.strategy}, {pods} pods, {len(self.plan())} streams>"

    async def __aenter__(self) -> Self:
        await self._store.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._store.__aexit__(*failure)

    # Pods

    def register_pod(self, pod: Pod) -> None:
        """Keep what the pod refers to; a pod that is registered already is brought up to date.

        Never waits, and the same pod again changes nothing.
        """
        self._registry.register(pod)

    def unregister_pod(self, pod: Pod) -> None:
        """Stop keeping what no other registered pod refers to.

        The references of the pod as it was registered are given back, whatever *pod* says now.
        Harmless for a pod that is not registered.
        """
        self._registry.unregister(pod)

    def pods_using(self, namespace: str, name: str) -> tuple[PodKey, ...]:
        """The registered pods that refer to an object."""
        return self._registry.pods_using(namespace, name)

    # Objects

    def get(self, namespace: str, name: str) -> Coroutine[Any, Any, C]:
        """The object, to be awaited.

        Raises NotRegistered when no registered pod refers to it, CacheNotSynced when it did not
        arrive within a second, NotFound when there is none, and what the server answers.
        """
        # Not a coroutine of its own: reads are many, and half of what one costs would be this.
        return self._store.get(namespace, name)

    def peek(self, namespace: str, name: str) -> C:
        """The object as it is in memory, from any thread and without waiting.

        Raises what ``get`` raises, CacheNotSynced where ``get`` would wait or ask the server.
        """
        return self._store.peek(namespace, name)

    def subscribe(self) -> ObjectChanges[C]:
        """Iterate, from now on, the objects whose reads give another answer than before.

        ConfigurationError for the strategies ``cache`` and ``get``, which do not notice.  While
        anybody is subscribed no stream is closed for being idle.
        """
        changes = ObjectChanges(self._describe)
        self._store.follow(changes)
        return changes

    def wake_pods(self, wake: Callable[[PodKey], None]) -> PodWaker:
        """Call *wake* at once, for each registered pod that uses what has changed.

        As ``subscribe``, for callers that read the objects themselves: *wake* must neither wait nor
        fail, nor register pods.  Ends when the answer is closed, or nothing refers to it any more.
        """
        waker = PodWaker(self.pods_using, wake)
        self._store.follow(waker)
        return waker

    def plan(self) -> StreamPlan:
        """The streams that are open, and why."""
        return self._store.plan()

    def _describe(self, namespace: str, name: str) -> ObjectChange[C] | None:
        try:
            found: C | None = self._store.peek(namespace, name)
        except NotFound:
            found = None
        except (NotRegistered, CacheNotSynced):
            return None  # whatever comes next is told again
        return ObjectChange(namespace, name, found, self.pods_using(namespace, name))


class ConfigMapManager(ObjectManager[ConfigMap]):
    """The ConfigMaps that registered pods refer to, ready to read while the context is open.

    ::

        async with ConfigMapManager(cluster) as config_maps:
            config_maps.register_pod(pod)                        # never waits
            settings = await config_maps.get("shop", "settings")
            async for change in config_maps.subscribe():
                print(change.namespace, change.name, change.pods)

    *strategy* says how: ``watch`` opens a stream for each object, as the kubelet does; ``auto``
    gives the same answers with one stream for a whole namespace where that is allowed and worth
    it; ``cache`` asks again when what it has is too old; ``get`` asks each time.  *options* are
    those of ``StrategyOptions``.
    """

    def __init__(
        self, cluster: ObjectServer, *, strategy: str = "watch", **options: Unpack[ManagerOptions]
    ) -> None:
        super().__init__(
            cluster,
            ConfigMap,
            word="configmap",
            names_of=config_map_names,
            strategy=strategy,
            **options,
        )


class SecretManager(ObjectManager[Secret]):
    """The Secrets that registered pods refer to, ready to read while the context is open.

    Pull secrets and the credentials of volumes are among them.  *strategy* and *options* are
    those of ``ConfigMapManager``.
    """

    def __init__(
        self, cluster: ObjectServer, *, strategy: str = "watch", **options: Unpack[ManagerOptions]
    ) -> None:
        super().__init__(
            cluster, Secret, word="secret", names_of=secret_names, strategy=strategy, **options
        )
