"""A registered pod's environments and volumes, now and as they change.

The road of a change: a manager's stream shows an object, ``PodWaker`` calls ``PodWakeups``,
that wakes the pod, and whoever looks after the pod calls ``resolve``, which reads each object
once and computes.  The arithmetic is ``resolution``.

Upstream: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables; pkg/volume/configmap/configmap.go,
pkg/volume/secret/secret.go and pkg/volume/projected/projected.go, SetUpAt
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Final, Self

from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.errors import RefletError
from reflet.informer.mirror import Mirror
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.managers.registry import PodKey
from reflet.podconfig.last_known_objects import LastKnownObjects
from reflet.podconfig.pod_wakeups import PodWakeups, Wake
from reflet.podconfig.resolved_pod import ResolvedPod, difference
from reflet.podconfig.service_account_tokens import ServiceAccountTokens, token_keys
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.pods.registrar import PodRegistrar
from reflet.resolution.environment.env_files import MountedVolume
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.resource_fields import NodeInHand
from reflet.resolution.volumes.projected_contents import TokenSource
from reflet.resolution.volumes.trust_bundles import BundlesInHand, wants_trust_bundles
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Failure
from reflet.runtime.waits import came_within

DEBOUNCE: Final = 0.02
"""Seconds for which changes are gathered into one result."""

LONGEST_WAIT: Final = 60.0
"""Seconds after which the wall clock is looked at again: a machine may have slept meanwhile."""

Services = Mirror[Service] | Sequence[Service] | RefletError | None
"""Services of all namespaces: kept fresh, fixed, or why there are none to be had."""

Volumes = Callable[[Pod], Mapping[str, MountedVolume | None] | None]
"""Gives the mounted volumes in which environment files may be; None when nobody knows them."""


class PodConfiguration:
    """What one pod's containers get, while the context is open.

    ::

        async with PodConfiguration(pod, config_maps, secrets) as configuration:
            resolved = await configuration.resolve()
            async with aclosing(configuration.changes()) as changes:
                async for resolved in changes:
                    ...

    The pod is registered with both managers as long as the context is open.  *services* give the
    variables of services, *node* is the pod's node or what knows it, *tokens* gives tokens of
    service accounts, *bundles* trust anchors, *volumes* the volumes in which environment files may
    be.  *skip_invalid_names* is the rule of Kubernetes 1.19.

    *registrar* and *wakeups* are shared by many pods; without them, this pod is registered and
    listens for itself.  *wake* is called when something that the pod refers to has changed, and not
    for an ``update``.

    An object that could be read once stays known while the server is away: no result ever says
    that something is gone because nobody could tell.  Objects that are immutable are read once, by
    the managers' own rule.  Belongs to one event loop.
    """

    def __init__(
        self,
        pod: Pod,
        config_maps: ConfigMapManager,
        secrets: SecretManager,
        *,
        services: Services = None,
        node: NodeInHand | Callable[[], NodeInHand] = None,
        tokens: ServiceAccountTokens | None = None,
        bundles: TrustBundles | None = None,
        volumes: Volumes | None = None,
        skip_invalid_names: bool = False,
        registrar: PodRegistrar | None = None,
        wakeups: PodWakeups | None = None,
        wake: Wake | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._pod = pod
        self._managers = (config_maps, secrets)
        self._objects = LastKnownObjects(config_maps, secrets)
        self._services = services
        self._node = node
        self._tokens = tokens
        self._bundles = bundles
        self._volumes = volumes
        self._skip_invalid_names = skip_invalid_names
        self._registrar = registrar or PodRegistrar(self._managers)
        self._wakeups = wakeups
        self._wake = wake
        self._readers: list[asyncio.Event] = []  # of ``changes``
        self._clock = clock or SystemClock()
        self._reading = asyncio.Lock()
        self._is_open = False
        self._closing = AsyncExitStack()

    def __repr__(self) -> str:
        metadata = self._pod.metadata
        return f"<PodConfiguration {metadata.namespace}/{metadata.name}>"

    @property
    def pod(self) -> Pod:
        """The pod as it was given or updated last."""
        return self._pod

    async def __aenter__(self) -> Self:
        if self._wakeups is None:
            services = self._services if isinstance(self._services, Mirror) else None
            own = PodWakeups(
                *self._managers, services=services, bundles=self._bundles, clock=self._clock
            )
            self._wakeups = await self._closing.enter_async_context(own)
        self._is_open = True
        self._register(self._pod)
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        self._is_open = False
        self._unregister(self._pod)
        self._wake_readers()
        await self._closing.__aexit__(*failure)

    def update(self, pod: Pod) -> None:
        """The pod has a new state: other labels, annotations or containers, for example.

        Never waits.  A pod with another uid takes the place of the one before.
        """
        before, self._pod = self._pod, pod
        if not self._is_open:
            return
        if PodKey.of(before) != PodKey.of(pod):
            self._unregister(before)
        self._register(pod)
        self._wake_readers()

    async def inputs(self) -> PodInputs:
        """Read what the pod's configuration is made from, each object once.

        Waits for objects that are not known yet, as long as the managers' ``sync_timeout``; what is
        not known then, missing or forbidden is an error of the result, not of this call.
        """
        async with self._reading:
            while True:
                pod = self._pod
                objects = await self._objects.read(pod)
                token = await self._token_source(pod)
                bundles = await self._bundles_for(pod)
                if pod is self._pod:  # else half of it was about another one
                    break
        services = self._services
        return PodInputs(
            pod=pod,
            objects=objects,
            services=services.values() if isinstance(services, Mirror) else services,
            services_read=services.is_synced if isinstance(services, Mirror) else True,
            node=self._node() if callable(self._node) else self._node,
            token=token,
            bundles=bundles,
            mounted=None if self._volumes is None else self._volumes(pod),
            skip_invalid_names=self._skip_invalid_names,
        )

    async def resolve(self) -> ResolvedPod:
        """Compute what the pod's containers get now, from ``inputs``."""
        return ResolvedPod.of(await self.inputs())

    async def changes(self, *, debounce: float = DEBOUNCE) -> AsyncGenerator[ResolvedPod, None]:
        """Yield the present result, then each that differs from the one before, until closed.

        Changes within *debounce* seconds of the first are one.  A change that alters nothing that
        any container gets is none; ``difference`` says what is new.  A slow reader misses
        results and never the last one.
        """
        news = asyncio.Event()
        self._readers.append(news)
        last: ResolvedPod | None = None
        try:
            while True:
                news.clear()
                resolved = await self.resolve()
                if self._closed():
                    return
                if last is None or difference(last, resolved):
                    last = resolved
                    yield resolved
                if await self._until_worth_a_look(news) and debounce > 0:
                    await self._clock.sleep(debounce)
                if self._closed():
                    return
        finally:
            self._readers.remove(news)

    # inside

    def _closed(self) -> bool:
        return not self._is_open

    def _register(self, pod: Pod) -> None:
        self._registrar.register(pod)
        if self._wakeups is not None:
            self._wakeups.follow(PodKey.of(pod), self._woken)

    def _unregister(self, pod: Pod) -> None:
        if self._wakeups is not None:
            self._wakeups.unfollow(PodKey.of(pod), self._woken)
        self._registrar.unregister(pod)
        if self._tokens is not None:
            self._tokens.forget(pod.metadata.uid)

    def _woken(self) -> None:
        """Something that the pod refers to has changed."""
        self._wake_readers()
        if self._wake is not None:
            self._wake()

    def _wake_readers(self) -> None:
        for news in self._readers:
            news.set()

    async def _until_worth_a_look(self, news: asyncio.Event) -> bool:
        """Wait for news, or for a token that is due; whether it was news."""
        keys = token_keys(self._pod) if self._tokens is not None else ()
        while True:
            due = None if self._tokens is None else self._tokens.due_in(keys)
            if due is None:
                await news.wait()
                return True
            if await came_within(news, min(due, LONGEST_WAIT), clock=self._clock):
                return True
            if due <= LONGEST_WAIT:
                return False

    async def _token_source(self, pod: Pod) -> TokenSource | None:
        """The pod's tokens, asked for at once; None where nobody gives any."""
        if self._tokens is None:
            return None
        keys = token_keys(pod)
        answers = await asyncio.gather(*(self._tokens.get(key) for key in keys))
        given = {
            (key.audience, key.seconds): answer for key, answer in zip(keys, answers, strict=True)
        }
        return lambda audience, seconds: given[audience, seconds]

    async def _bundles_for(self, pod: Pod) -> BundlesInHand:
        if self._bundles is None or not wants_trust_bundles(pod):
            return None
        return await self._bundles.read()
