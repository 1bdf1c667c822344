"""The sign of life: a lease that is renewed all the time.

Owns: when the lease is renewed, and that it is made again when somebody removes it.  Must not
know what depends on it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from reflet.api.core.nodes import Node
from reflet.api.core.small_kinds import Lease
from reflet.api.meta import MicroTime
from reflet.client.client import Client
from reflet.errors import AlreadyExists, Conflict, NotFound, RefletError
from reflet.node.identity.node_status import LEASE_DURATION, LEASE_NAMESPACE, new_lease
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock

RENEW_EVERY: Final = LEASE_DURATION / 4

logger = logging.getLogger(__name__)


class NodeLease:
    """Renews the lease of *node* every ten seconds while it runs."""

    def __init__(
        self, cluster: Client, node: Callable[[], Node | None], *, clock: Clock | None = None
    ) -> None:
        self._leases = cluster.resource(Lease, namespace=LEASE_NAMESPACE)
        self._node = node
        self._clock = clock or SystemClock()
        self._backoff = Backoff(first=0.2, ceiling=7.0, clock=self._clock)
        self._lease: Lease | None = None
        self.renewed_at: float | None = None

    async def run(self) -> None:
        """Renew until cancelled."""
        fails = False
        while True:
            try:
                await self.renew()
            except (RefletError, OSError) as error:  # a garbled answer, or no token at hand, too
                if not fails:
                    logger.warning("the lease is not renewed: %s", error)
                fails = True
                await self._clock.sleep(self._backoff.next_delay())
            else:
                if fails:
                    logger.info("the lease is renewed again")
                fails = False
                self._backoff.reset()
                await self._clock.sleep(RENEW_EVERY)

    async def renew(self) -> None:
        """Say once that the node is alive."""
        node = self._node()
        if node is None:
            return
        lease = self._lease
        try:
            if lease is None:
                self._lease = await self._made(node)
            else:
                renewed = MicroTime.at(self._clock.now())
                changed = replace(lease, spec=replace(lease.spec, renew_time=renewed))
                self._lease = await self._leases.replace(changed)
        except (Conflict, NotFound):
            # Somebody wrote or removed it: look at it anew.
            self._lease = None
            raise
        self.renewed_at = self._clock.monotonic()

    async def _made(self, node: Node) -> Lease:
        wanted = new_lease(node, self._clock.now())
        try:
            return await self._leases.create(wanted)
        except AlreadyExists:
            there = await self._leases.get(node.metadata.name)
            metadata = replace(there.metadata, owner_references=wanted.metadata.owner_references)
            return await self._leases.replace(replace(there, metadata=metadata, spec=wanted.spec))
