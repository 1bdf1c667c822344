"""From the name of a strategy to the store that follows it, and the options of both managers.

Upstream: pkg/kubelet/kubelet.go, NewMainKubelet, the switch over
ConfigMapAndSecretChangeDetectionStrategy; for the strategy ``get``, which is a request for each
read, pkg/kubelet/configmap/configmap_manager.go, NewSimpleConfigMapManager
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, Self, TypeAlias, TypedDict

from reflet.api.options import GetOptions
from reflet.errors import CacheNotSynced, ConfigurationError
from reflet.managers.object_store import C, Follower, ObjectServer, ObjectStore
from reflet.managers.ttl import DEFAULT_TTL, ExpiringObjects
from reflet.managers.watch_based import SYNC_FREQUENCY, SYNC_TIMEOUT, IdleRule, WatchedObjects
from reflet.managers.watches.object_watch import StreamSettings
from reflet.managers.watches.stream_plan import StreamLimits, StreamPlan
from reflet.managers.watches.streams import AutoStreams, IndividualStreams, Streams
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import NO_METRICS, Metrics, guarded
from reflet.runtime.tasks import Failure

Strategy: TypeAlias = Literal["watch", "auto", "cache", "get"]
"""How a manager obtains objects: the kubelet's three strategies, and ``auto``."""

STRATEGIES: Final[tuple[Strategy, ...]] = ("watch", "auto", "cache", "get")


class ManagerOptions(TypedDict, total=False):
    """The options of managers as keywords; ``StrategyOptions`` says what each means."""

    clock: Clock | None
    sync_frequency: float
    sync_timeout: float
    streaming: bool
    metrics: Metrics
    limits: StreamLimits
    default_ttl: float
    ttl: Callable[[], float | None] | None


@dataclass(frozen=True, kw_only=True)
class StrategyOptions:
    """The options of all strategies; each takes those that mean something to it.

    - *clock*: source of time; None is the system's clock.
    - *sync_frequency*: ``watch`` and ``auto`` close the stream of an object that was not read
      for five times as many seconds, and at least a minute.
    - *sync_timeout*: the seconds that a read of ``watch`` and ``auto`` waits at most.
    - *streaming*: whether ``watch`` and ``auto`` ask for WatchLists.
    - *metrics*: where the reflectors of ``watch`` and ``auto`` count; the default counts nothing.
    - *limits*: when ``auto`` watches a namespace as a whole.
    - *default_ttl*, *ttl*: for how many seconds an object stays fresh with ``cache``; *ttl* is
      asked at every read, and where it gives None, or is None, *default_ttl* counts.
    """

    clock: Clock | None = None
    sync_frequency: float = SYNC_FREQUENCY
    sync_timeout: float = SYNC_TIMEOUT
    streaming: bool = True
    metrics: Metrics = NO_METRICS
    limits: StreamLimits = field(default_factory=StreamLimits)
    default_ttl: float = DEFAULT_TTL
    ttl: Callable[[], float | None] | None = None


@dataclass(frozen=True, kw_only=True)
class StoreMaker(Generic[C]):
    """Makes stores for one *kind*, whose name in errors is *word*."""

    server: ObjectServer
    kind: type[C]
    word: str
    options: StrategyOptions

    def store(self, strategy: str) -> ObjectStore[C]:
        """The store of a strategy, as Reflet or the kubelet writes it: ``watch``, ``Watch``.

        ConfigurationError for an unknown one, in the words of the kubelet.
        """
        options = self.options
        match strategy.lower():
            case "watch":
                return self._watched(IndividualStreams(self._streams()))
            case "auto":
                return self._watched(AutoStreams(self._streams(), limits=options.limits))
            case "cache":
                return ExpiringObjects(
                    self.server,
                    self.kind,
                    word=self.word,
                    clock=options.clock,
                    default_ttl=options.default_ttl,
                    ttl=options.ttl,
                )
            case "get":
                return DirectObjects(self.server, self.kind, word=self.word)
            case _:
                raise ConfigurationError(f"unknown configmap and secret manager mode: {strategy}")

    def _streams(self) -> StreamSettings[C]:
        return StreamSettings(
            server=self.server,
            kind=self.kind,
            word=self.word,
            clock=self.options.clock,
            streaming=self.options.streaming,
            metrics=guarded(self.options.metrics),
        )

    def _watched(self, streams: Streams[C]) -> WatchedObjects[C]:
        return WatchedObjects(
            streams,
            word=self.word,
            clock=self.options.clock,
            idle=IdleRule.for_syncs_every(self.options.sync_frequency),
            sync_timeout=self.options.sync_timeout,
        )


class DirectObjects(Generic[C]):
    """Asks the server each time; *word* is ``secret`` or ``configmap``, for errors."""

    def __init__(self, server: ObjectServer, kind: type[C], *, word: str) -> None:
        self._server = server
        self._kind = kind
        self._word = word

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        """Leave nothing behind: nothing was begun."""

    def add_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        """Do nothing: whatever is asked for is asked of the server."""

    def delete_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        """Do nothing: nothing is kept."""

    async def get(self, namespace: str, name: str) -> C:
        """Ask the server; raises what it answers."""
        return await self._server.resource(self._kind, namespace=namespace).get(name, GetOptions())

    def peek(self, namespace: str, name: str) -> C:
        """Raise CacheNotSynced: nothing is in memory."""
        raise CacheNotSynced(self._word, namespace, name, reason="the strategy get keeps nothing")

    def follow(self, _follower: Follower, /) -> None:
        """Raise ConfigurationError: nobody would notice a change."""
        raise ConfigurationError("the strategy get notices no changes: use watch or auto")

    def plan(self) -> StreamPlan:
        """No streams."""
        return StreamPlan()
