"""The lease of this agent's Node: renewed every ten seconds as long as the agent is alive.

One that somebody removes or writes is read and made again.

Upstream: component-helpers/apimachinery/lease/controller.go, controller;
pkg/kubelet/util/nodelease.go, SetNodeOwnerFunc.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from reflet.api.core.nodes import Node
from reflet.api.core.small_kinds import Lease, LeaseSpec
from reflet.api.meta import MicroTime, ObjectMeta, OwnerReference
from reflet.client.client import Client
from reflet.errors import AlreadyExists, Conflict, NotFound, RefletError
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock

LEASE_NAMESPACE: Final = "kube-node-lease"
LEASE_DURATION: Final = 40  # seconds
RENEW_EVERY: Final = LEASE_DURATION / 4

logger = logging.getLogger(__name__)


class NodeLease:
    """Renews the lease of *node* every ten seconds while it runs, once that is *registered*.

    A task of its own: what ails the status of the node must not let its lease run out.
    """

    def __init__(
        self,
        cluster: Client,
        node: Callable[[], Node | None],
        *,
        registered: asyncio.Event | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._leases = cluster.resource(Lease, namespace=LEASE_NAMESPACE)
        self._node = node
        self._registered = registered
        self._clock = clock or SystemClock()
        self._backoff = Backoff(first=0.2, ceiling=7.0, clock=self._clock)
        self._lease: Lease | None = None
        self.renewed_at: float | None = None

    async def run(self) -> None:
        """Renew until cancelled."""
        if self._registered is not None:
            await self._registered.wait()
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


def new_lease(node: Node, now: datetime) -> Lease:
    """The lease that says that the agent is alive."""
    owner = OwnerReference(
        api_version="v1", kind="Node", name=node.metadata.name, uid=node.metadata.uid
    )
    return Lease(
        metadata=ObjectMeta(
            name=node.metadata.name,
            namespace=LEASE_NAMESPACE,
            owner_references=(owner,) if node.metadata.uid else (),
        ),
        spec=LeaseSpec(
            holder_identity=node.metadata.name,
            lease_duration_seconds=LEASE_DURATION,
            renew_time=MicroTime.at(now),
        ),
    )
