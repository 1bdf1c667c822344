"""Candidates that lead by turns, and the proof that no two of them ever do.

Owns: the lives of the operator of examples/website_operator.py, each with a connection of its own,
which stall, end in peace or by a kill, and begin again; and the record of who led and who wrote
when.  Must not know what is operated on, nor what goes wrong.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, final

import msgspec

from examples.website_operator import NAME, operate
from reflet.api.resources import EVENTS, LEASES
from reflet.client.client import Client
from reflet.cluster import Cluster
from reflet.controllers.leader_election import LeaderElection, LeadershipLost, leader
from reflet.errors import TransportError
from reflet.runtime.clock import Clock
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.interface import ANSWER_TIMEOUT, Request, Response, Stream
from tests.faults.hurry import HurriedCluster

LEASE_DURATION: Final = 60.0
RENEW_DEADLINE: Final = 35.0
"""Hurried seconds, as the other.  The difference is what a slow network may take, more than 0.8 of
our seconds: longer than a storm, and what is here, hold back any request."""
SLOW, LONGEST_WAY = 0.3, 12.0
"""The share of writes that are slow, and for how long they are on their way, in hurried seconds:
longer than a leader takes to leave and a candidate waits before it tries again."""
PAUSE: Final = 3.0  # hurried seconds between two lives


@final
class Terms:
    """Who leads, and in which order the server took what the candidates wrote.

    The server's order is that of its versions: what a candidate writes must come before the Lease
    is another's.  Events are no acts: they say what was done, and may come later.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._candidates: dict[str, LeaderElection] = {}
        self._began: dict[str, int] = {}  # the version at which each first had the Lease
        self._writes: list[tuple[int, str, str]] = []
        self._seen: list[str] = []

    @property
    def leading(self) -> list[str]:
        """Who leads at this moment, by their own account: one, or nobody."""
        return [name for name, each in self._candidates.items() if each.is_leading]

    def join(self, candidate: LeaderElection) -> None:
        """Follow somebody who wants to lead."""
        self._candidates[candidate.identity] = candidate

    def leave(self, candidate: LeaderElection) -> None:
        """Somebody is gone."""
        del self._candidates[candidate.identity]

    def look(self, writing: str = "") -> None:
        """Two must not lead at this moment, nor one while another is about to write."""
        leading = self.leading
        if len(leading) > 1:
            self._seen.append(f"{' and '.join(leading)} lead at the same time")
        if writing and leading and writing not in leading:
            self._seen.append(f"{writing} writes while {leading[0]} leads")

    def note(self, who: str, path: str, answer: bytes) -> None:
        """Remember what the server took."""
        try:
            document = msgspec.json.decode(answer)
            version = int(document["metadata"]["resourceVersion"])
        except (msgspec.DecodeError, KeyError):
            return  # it came garbled, or the object is gone
        if document["kind"] != "Lease":
            self._writes.append((version, who, path))
            self._counts["writes of the operator"] += 1
        elif document["spec"].get("holderIdentity") == who and who not in self._began:
            self._began[who] = version
            self._counts["leaders"] += 1

    def troubles(self) -> list[str]:
        """What must never be."""
        late = [
            f"{who} wrote {path} at {version}, {other} has led since {began}"
            for version, who, path in self._writes
            for other, began in self._began.items()
            if self._began.get(who, 0) < began < version
        ]
        return [*self._seen, *late]

    def forget(self) -> None:
        """Let go of what was looked at."""
        self._writes.clear()


@final
class _Wire:
    """What one life asks, looked at, unless it is cut or stalls.  Is a ``Transport``."""

    def __init__(self, inner: HurriedCluster, who: str, clock: Clock, terms: Terms) -> None:
        self._inner = inner
        self._who = who
        self._clock = clock
        self._terms = terms
        self._is_cut = False
        self._stalls_until = 0.0
        self._chance = random.Random(who)
        self._under_way: set[asyncio.Task[Response]] = set()
        self.at_next_act: Callable[[], None] | None = None
        """What happens to the candidate as soon as its next write has left."""

    def cut(self) -> None:
        """Let nothing out any more: whoever used it was killed."""
        self._is_cut = True

    def stall(self, seconds: float) -> None:
        """Lose every request and every answer for so long; streams go on."""
        self._stalls_until = self._clock.monotonic() + seconds

    async def send(self, request: Request, /) -> Response:
        """Send, and note whose write the server took.

        A write that has left arrives, even if nobody waits for the answer any more.
        """
        self._check()
        is_write = request.method != "GET" and f"/{EVENTS.plural}" not in request.path
        is_act = is_write and f"/{LEASES.plural}" not in request.path
        self._terms.look(self._who if is_act else "")
        await self._endure()
        if is_write:
            arriving = asyncio.create_task(self._arrive(request), name=f"write of {self._who}")
            self._under_way.add(arriving)
            arriving.add_done_callback(self._arrived)
            if is_act and self.at_next_act is not None:
                self.at_next_act()
                self.at_next_act = None
            await asyncio.wait((arriving,))
            response = arriving.result()
        else:
            response = await self._inner.transport.send(request)
        await self._endure()
        return response

    async def _arrive(self, request: Request) -> Response:
        if self._chance.random() < SLOW:
            await self._clock.sleep(LONGEST_WAY * self._chance.random())
        response = await self._inner.transport.send(request)
        if response.status < 300:
            self._terms.note(self._who, request.path, response.body)
        return response

    def _arrived(self, arriving: asyncio.Task[Response]) -> None:
        self._under_way.discard(arriving)
        arriving.cancelled() or arriving.exception()  # nobody may be there to hear of it

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[Stream]:
        """Stream."""
        self._check()
        return self._inner.transport.stream(request, silence=silence)

    async def close(self) -> None:
        """Close the connection, when all that has left has arrived."""
        try:
            if self._under_way:
                await asyncio.wait(self._under_way)
        finally:
            await self._inner.close()

    async def _endure(self) -> None:
        if self._clock.monotonic() < self._stalls_until:
            await self._clock.sleep(ANSWER_TIMEOUT)
            raise TransportError("no answer")

    def _check(self) -> None:
        if self._is_cut:
            raise TransportError("this candidate was killed")


@final
class Candidate:
    """A place where the operator lives, again and again, as a pod that is restarted."""

    def __init__(self, name: str, settings: ConnectionSettings, clock: Clock, terms: Terms) -> None:
        self.name = name
        self.requests: Counter[str] = Counter()
        self.troubles: list[str] = []
        self._settings = settings
        self._clock = clock
        self._terms = terms
        self._election: LeaderElection | None = None
        self._wire: _Wire | None = None
        self._life: asyncio.Task[None] | None = None

    @property
    def is_leading(self) -> bool:
        """Whether it leads."""
        return self._election is not None and self._election.is_leading

    async def run(self) -> None:
        """Live until cancelled; that end is a peaceful one."""
        for number in itertools.count(1):
            await self._live(f"{self.name}-{number}")
            await self._clock.sleep(PAUSE)

    def disturb(self, chance: random.Random) -> None:
        """Let this life end or stall, a leader's in the middle of its next write."""
        if self._wire is None:
            return
        harm = chance.choice((self._stop, self._stall, self._kill))
        if self.is_leading:
            self._wire.at_next_act = harm
        else:
            harm()

    def _stop(self) -> None:
        """In peace: it gives the Lease back."""
        if self._life is not None:
            self._life.cancel()

    def _stall(self) -> None:
        """It reaches nobody, for longer than a leader leads without an answer."""
        if self._wire is not None:
            self._wire.stall(2 * LEASE_DURATION)

    def _kill(self) -> None:
        """As by SIGKILL: nothing more leaves it."""
        if self._wire is not None:
            self._wire.cut()
        self._stop()

    async def _live(self, identity: str) -> None:
        hurried = HurriedCluster(self._settings)
        hurried.transport.requests = self.requests
        wire = self._wire = _Wire(hurried, identity, self._clock, self._terms)
        cluster = _CandidateCluster(self._settings, wire)
        election = leader(
            cluster,
            NAME,
            identity=identity,
            lease_duration=LEASE_DURATION,
            renew_deadline=RENEW_DEADLINE,
            on_new_leader=lambda _: self._terms.look(),
            clock=self._clock,
        )
        self._election = election
        self._terms.join(election)
        async with cluster:
            operating = operate(cluster, election, clock=self._clock)
            life = self._life = asyncio.create_task(operating, name=f"operator {identity}")
            try:
                await asyncio.wait((life,))
            finally:
                life.cancel()
                await asyncio.wait((life,))
                self._terms.leave(election)
        error = None if life.cancelled() else life.exception()
        if not life.cancelled() and not isinstance(error, LeadershipLost):
            self.troubles.append(f"the operator ended by {error!r}")


@final
class _CandidateCluster(Cluster):
    def __init__(self, settings: ConnectionSettings, wire: _Wire) -> None:
        Client.__init__(self, wire, namespace=settings.namespace)
        self.settings = settings
