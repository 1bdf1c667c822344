"""The ClusterTrustBundles of a cluster, watched once somebody needs them.

Most clusters have none, and most pods want none: until the first one does, nothing is asked of
the server, and a server without them is asked again once a minute at most, as long as somebody
wants them.  Which bundles a volume shows is ``resolution.volumes.trust_bundles``.

Upstream: pkg/kubelet/clustertrustbundle/clustertrustbundle_manager.go, LazyInformerManager
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import Any, Final, Self

from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.errors import Forbidden, RefletError
from reflet.informer.mirror import Mirror
from reflet.informer.shared_informer import NotSynced
from reflet.resolution.volumes.trust_bundles import (
    GROUP,
    KIND,
    NOT_SYNCED,
    VERSIONS,
    BundlesInHand,
    TrustBundle,
    trust_bundle_of,
)
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Failure, TaskOwner

SYNC_TIMEOUT: Final = 10.0
"""Seconds that whoever asks first waits for the first list, as in the kubelet."""

ASK_AGAIN: Final = 60.0
"""Seconds after which a server that had no such resource is asked again."""


class TrustBundles:
    """The trust bundles that *client* can read, while the context is open.

    ``read`` begins to watch; from then on *on_change* is called, and must not wait, whenever a
    bundle changes, and whenever a look may bring more than the last one did.  Belongs to one event
    loop.
    """

    def __init__(
        self,
        client: Client,
        *,
        on_change: Callable[[], None] = lambda: None,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._clock = clock or SystemClock()
        self.on_change = on_change
        self._closing = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._mirror: Mirror[AnyObject] | None = None
        self._ask_again_at: float | None = None
        self._failure: Exception | None = None
        self._retries = Backoff(reset_after=None, clock=self._clock)
        self._tasks = TaskOwner("trust bundles")
        self._telling: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._closing.enter_async_context(self._tasks)
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    async def read(self) -> BundlesInHand:
        """All bundles, or why they are not known; None where the server has no such thing."""
        try:
            async with self._opening:
                if self._mirror is None:
                    await self._open()
        except RefletError as error:
            self._tell_in(self._retries.next_delay)
            return error
        mirror = self._mirror
        if mirror is None:
            self._tell_in(lambda: ASK_AGAIN)
            return None
        if not mirror.is_synced:
            return RefletError(f"{NOT_SYNCED} ({self._failure})" if self._failure else NOT_SYNCED)
        return tuple(trust_bundle_of(item) for item in mirror.values())

    async def _open(self) -> None:
        now = self._clock.monotonic()
        if self._ask_again_at is not None and now < self._ask_again_at:
            return
        resource = await served_trust_bundles(self._client, refresh=self._ask_again_at is not None)
        if resource is None:
            self._ask_again_at = now + ASK_AGAIN
            return
        bundles = self._client.resource(resource, raw=True)
        mirror = Mirror(bundles, bundles.resource, on_error=self._failed, clock=self._clock)
        mirror.add_handler(self._changed, name="trust bundles")
        # Before the wait: whoever is cancelled in it has opened it all the same.
        self._mirror = await self._closing.enter_async_context(mirror)
        # Ends before the mirror does, for which it waits.
        tasks = await self._closing.enter_async_context(TaskOwner("first list of trust bundles"))
        tasks.start(self._tell_of_first(mirror), name="first list of trust bundles")
        # Without success it goes on trying, and tells when it has them.
        with suppress(NotSynced, Forbidden):
            await mirror.synced(timeout=SYNC_TIMEOUT, fail_on=(Forbidden,))

    async def _tell_of_first(self, mirror: Mirror[AnyObject]) -> None:
        await mirror.synced()
        self.on_change()  # of a list with nothing in it nobody else would hear

    def _tell_in(self, delay: Callable[[], float]) -> None:
        """Have whoever wants bundles look again after a while: nobody else would tell them."""
        if self._telling is None:
            self._telling = self._tasks.start(self._tell(delay()), name="another look")

    async def _tell(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._telling = None
        self.on_change()

    def _changed(self, _: Any) -> None:
        self.on_change()

    def _failed(self, error: Exception) -> None:
        self._failure = error.__cause__ if isinstance(error.__cause__, RefletError) else error


async def served_trust_bundles(client: Client, *, refresh: bool = False) -> Resource | None:
    """The resource of the version that the kubelet would choose; None when there is none."""
    found = [
        each
        for each in await client.resources(refresh=refresh)
        if each.group == GROUP and each.kind == KIND and each.version in VERSIONS
    ]
    return min(found, key=lambda each: VERSIONS.index(each.version), default=None)


async def list_trust_bundles(client: Client) -> tuple[TrustBundle, ...] | RefletError | None:
    """All bundles of this moment, or why they cannot be read; None where there are none to be had.

    For whoever asks once.
    """
    try:
        resource = await served_trust_bundles(client)
        if resource is None:
            return None
        listing = await client.resource(resource, raw=True).list()
    except RefletError as error:
        return error
    return tuple(trust_bundle_of(item) for item in listing.items)
