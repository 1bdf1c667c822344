"""This agent's Node on the API server: made or taken over, and its status kept true.

The status is looked at every ten seconds and written when it has changed, else every five minutes:
that the agent is alive is what its lease says.  In the first two minutes a node that is not ready
yet does not wait for the next look.  A Node that somebody deletes is made again.  What is written
is ``node_status``.

Upstream: pkg/kubelet/kubelet_node_status.go, registerWithAPIServer, syncNodeStatus and
fastNodeStatusUpdate.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from reflet.api.core.nodes import Node
from reflet.api.options import PatchType
from reflet.client.client import Client
from reflet.errors import AlreadyExists, Forbidden, NotFound, RefletError
from reflet.node.identity.machine import read_pressure
from reflet.node.identity.node_status import NodeFacts, is_worth_telling, new_node, node_status
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock

LOOK_EVERY: Final = 10.0  # seconds; the kubelet's nodeStatusUpdateFrequency
TELL_EVERY: Final = 300.0  # seconds; the kubelet's nodeStatusReportFrequency
LOOK_FAST: Final = 0.1  # seconds between looks of a node that is about to be ready
FAST_FOR: Final = 120.0  # seconds; the kubelet's nodeReadyGracePeriod

logger = logging.getLogger(__name__)


class NodeRegistration:
    """Keeps the Node of *facts* on the server.

    *not_ready* is asked why pods are not served well; *folder* is on the disk that counts.
    """

    def __init__(
        self,
        cluster: Client,
        facts: NodeFacts,
        *,
        folder: Path,
        not_ready: Callable[[], str | None] = lambda: None,
        clock: Clock | None = None,
    ) -> None:
        self._nodes = cluster.resource(Node)
        self._facts = facts
        self._folder = folder
        self._not_ready = not_ready
        self._clock = clock or SystemClock()
        self._backoff = Backoff(first=0.1, ceiling=7.0, clock=self._clock)
        self._told: dict[str, Any] | None = None
        self._told_at = 0.0
        self._why: str | None = None
        self.node: Node | None = None
        self.registered = asyncio.Event()

    async def register(self) -> Node:
        """Make the Node, or take over the one that is there; asked until there is an answer.

        Forbidden is raised: an agent that may not be a node should say so.
        """
        complained = False
        while True:
            try:
                self.node = await self._make()
            except Forbidden:
                raise
            except (RefletError, OSError) as error:  # a garbled answer, or no token at hand, too
                if not complained:
                    logger.warning("the node cannot be registered yet: %s", error)
                complained = True
                await self._clock.sleep(self._backoff.next_delay())
            else:
                self._backoff.reset()
                self.registered.set()
                return self.node

    async def serve(
        self, registered: Callable[[Node], None], refused: Callable[[Forbidden], None]
    ) -> None:
        """Make the Node, then report its status until cancelled.

        *registered* hears of the Node when it is made.  *refused* hears that this agent may not be
        a node; nothing more is done then, since the end of the agent is not ours to bring.
        """
        if not self.registered.is_set():
            try:
                node = await self.register()
            except Forbidden as error:
                logger.error("node %s may not be registered: %s", self._facts.name, error)  # noqa: TRY400 - what the server says is all there is to know
                refused(error)
                await asyncio.Event().wait()
                return
            registered(node)
        await self.run()

    async def run(self) -> None:
        """Report the node's status whenever it changes, and now and then, until cancelled."""
        fails = False
        fast_until = self._clock.monotonic() + FAST_FOR
        while True:
            try:
                await self.report()
            except (RefletError, OSError) as error:  # descriptors for the look at the machine, too
                level = logging.DEBUG if fails else logging.WARNING
                logger.log(level, "the status of node %s is not told: %s", self._facts.name, error)
                fails = True
            else:
                fails = False
            await self._rest(fast_until)

    async def report(self, *, not_ready: str | None = None) -> None:
        """Tell the status, if that is worth a request; *not_ready* overrides what is asked."""
        if await self._tell(not_ready):
            return
        logger.warning("node %s was deleted; it is registered again", self._facts.name)
        self._told = None
        await self.register()
        # What was made has no status, and a node without one gets no pods.
        await self._tell(not_ready)

    async def _tell(self, not_ready: str | None) -> bool:
        """Tell the status, if that is worth a request; False when there is no such node."""
        why = self._why = not_ready or self._not_ready()
        status = node_status(
            self._facts,
            read_pressure(self._folder),
            not_ready=why,
            before=self.node,
            now=self._clock.now(),
        )
        now = self._clock.monotonic()
        if not is_worth_telling(self._told, status) and now - self._told_at < TELL_EVERY:
            return True
        try:
            self.node = await self._nodes.patch(
                self._facts.name, {"status": status}, PatchType.STRATEGIC, subresource="status"
            )
        except NotFound:
            return False
        self._told, self._told_at = status, now
        return True

    async def _rest(self, fast_until: float) -> None:
        """Wait for the next look, or at the start until what kept the node from being ready ended.

        The first report often comes before the first relist: pods would wait for ten seconds.
        """
        ends = self._clock.monotonic() + LOOK_EVERY
        while self._why is not None and self._clock.monotonic() < min(fast_until, ends):
            await self._clock.sleep(LOOK_FAST)
            if self._not_ready() is None:
                return
        await self._clock.sleep(max(0.0, ends - self._clock.monotonic()))

    async def _make(self) -> Node:
        try:
            return await self._nodes.create(new_node(self._facts))
        except AlreadyExists:
            # What others changed of it since, taints above all, is theirs.
            return await self._nodes.get(self._facts.name)
