"""The strategy ``get``: every read is a request, and references mean nothing.

Upstream: pkg/kubelet/configmap/configmap_manager.go and pkg/kubelet/secret/secret_manager.go,
NewSimpleConfigMapManager and NewSimpleSecretManager
"""

from __future__ import annotations

from typing import Generic, Self

from reflet.api.options import GetOptions
from reflet.errors import CacheNotSynced, ConfigurationError
from reflet.managers.object_store import C, Follower, ObjectServer
from reflet.managers.watches.stream_plan import StreamPlan
from reflet.runtime.tasks import Failure


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
