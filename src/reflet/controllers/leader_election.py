"""One of several candidates leads, and knows when it no longer does: leader election on a Lease.

Fields and timing are client-go's, so candidates in Go and in Python exclude each other.  No
candidate compares its clock with another's: it counts from the moment at which it saw the Lease
change.  A leader counts from the moment *before* it sent its last renewal that succeeded, by the
monotonic clock, and has stopped when ``renew_deadline`` is over, while the others wait for
``lease_duration``; the difference is what a slow network may take.

Different from client-go: a leader that sees another holder in the Lease stops at once, where
client-go goes on to try until its deadline; the deadline counts from the last renewal that
succeeded, where client-go counts from the next attempt; a leader that was stopped in the middle of
its work leaves that difference to those who follow, where client-go lets them begin at once.

Upstream: client-go/tools/leaderelection/leaderelection.go, LeaderElector;
client-go/tools/leaderelection/resourcelock/leaselock.go
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import random
import socket
import uuid
from collections.abc import Callable
from typing import Final, Self, TypedDict

from msgspec.structs import replace

from reflet.api.core.small_kinds import Lease, LeaseSpec
from reflet.api.meta import MicroTime, ObjectMeta
from reflet.client.client import Client
from reflet.errors import ConfigurationError, MisuseError, NotFound, RefletError
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import NO_METRICS, Metrics, guarded
from reflet.runtime.tasks import Failure
from reflet.runtime.waits import timeout_by

LEASE_DURATION: Final = 15.0  # seconds, as these all: client-go's for core components
RENEW_DEADLINE: Final = 10.0
RETRY_PERIOD: Final = 2.0
JITTER: Final = 1.2
RELEASED_DURATION: Final = 1  # seconds; what a leader that leaves writes into the Lease

logger = logging.getLogger(__name__)


class LeadershipLost(RefletError):
    """Somebody else leads, or may soon: what this candidate was doing as the leader was stopped."""


class LeaderOptions(TypedDict, total=False):
    """How a candidate behaves; ``LeaderElection`` says what each means, and has the defaults."""

    namespace: str | None
    identity: str
    lease_duration: float
    renew_deadline: float
    retry_period: float
    release: bool
    on_new_leader: Callable[[str], None] | None
    metrics: Metrics
    clock: Clock | None
    chance: Callable[[], float]


class LeaderElection:
    """Leads while the ``async with`` block runs::

        async with leader(cluster, "my-operator", namespace="ops"):
            await work_as_the_only_one()

    Entering waits until this candidate leads.  When the leadership is lost the block is cancelled,
    and leaving it raises LeadershipLost; a program usually ends then, and begins anew as a
    candidate.  Code that does not give the event loop a chance cannot be cancelled: ``check``
    raises in it as soon as the time is over, and ``is_leading`` says so.

    Leaving the block gives the Lease back, unless *release* is False.  When the block came to its
    end the next leader need not wait.  When it was cancelled or failed, its last requests may
    still be on their way: the next leader waits for the *lease_duration* that is left after the
    *renew_deadline*, five seconds by default.

    *identity* must be unique among the candidates; by default it is made of the host's name and
    chance.  *on_new_leader* is called with the identity of every leader that is seen.  Can be
    entered once.

    - *client*: connection to the API server
    - *name*: name of the Lease
    - *namespace*: namespace of the Lease; None is the connection's own
    - *lease_duration*: seconds for which a leader is safe after it last renewed the Lease
    - *renew_deadline*: seconds without success after which the leader gives up
    - *retry_period*: seconds between two tries to get or renew the Lease
    """

    def __init__(
        self,
        client: Client,
        name: str,
        *,
        namespace: str | None = None,
        identity: str = "",
        lease_duration: float = LEASE_DURATION,
        renew_deadline: float = RENEW_DEADLINE,
        retry_period: float = RETRY_PERIOD,
        release: bool = True,
        on_new_leader: Callable[[str], None] | None = None,
        metrics: Metrics = NO_METRICS,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        _check_timing(lease_duration, renew_deadline, retry_period)
        self.name = name
        self.identity = identity or f"{socket.gethostname()}_{uuid.uuid4()}"
        self._leases = client.resource(Lease, namespace=namespace)
        self._lease_duration = lease_duration
        self._renew_deadline = renew_deadline
        self._retry_period = retry_period
        self._release = release
        self._on_new_leader = on_new_leader
        self._metrics = guarded(metrics)
        self._clock = clock or SystemClock()
        self._chance = chance
        self._lease: Lease | None = None  # as it was last seen on the server
        self._seen_at = 0.0  # when its spec was seen to change
        self._reported = ""
        self._leads_until = 0.0
        self._is_lost = False
        self._body: asyncio.Task[object] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._cancelled_before = 0
        self._has_cancelled = False
        self._process = os.getpid()

    @property
    def is_leading(self) -> bool:
        """Whether this candidate leads at this very moment, by the monotonic clock.

        False in the child of a fork: the parent leads.
        """
        return (
            not self._is_lost
            and self._clock.monotonic() < self._leads_until
            and os.getpid() == self._process
        )

    @property
    def holder(self) -> str:
        """The identity of the leader that was last seen; empty when nobody led."""
        return "" if self._lease is None else self._lease.spec.holder_identity or ""

    def check(self) -> None:
        """Raise LeadershipLost unless this candidate leads."""
        if not self.is_leading:
            raise LeadershipLost(f"{self.identity} does not lead {self.name}")

    async def __aenter__(self) -> Self:
        if self._body is not None:
            raise MisuseError("a leader election can be entered once")
        self._body = asyncio.current_task()
        await self._acquire()
        if self._body is not None:
            self._cancelled_before = self._body.cancelling()
        self._keeping = asyncio.get_running_loop().create_task(
            self._keep(), name=f"leader election {self.name}"
        )
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        error = failure[1]
        # Not only when the timer said so: a block that let nobody else run has outstayed it.
        was_lost = not self.is_leading
        self._is_lost = True
        is_own_end = error is None
        if self._has_cancelled:
            is_own_end = await self._took_back_cancellation(error)
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait((self._keeping,))
        self._report_leading(0)
        if self._release and self.holder == self.identity:
            await self._give_back(at_once=error is None and not was_lost)
        if was_lost and is_own_end:
            raise LeadershipLost(f"{self.identity} no longer leads {self.name}") from error

    # Becoming the leader

    async def _acquire(self) -> None:
        logger.info("%s: %s is a candidate", self.name, self.identity)
        while not (await self._acquired_or_renewed() and self.is_leading):
            jitter = 1 + JITTER * self._chance()
            await self._clock.sleep(self._retry_period * jitter)
        logger.info("%s: %s leads", self.name, self.identity)
        self._report_leading(1)

    async def _keep(self) -> None:
        """Renew until it cannot be done in time, or somebody else holds the Lease."""
        try:
            while await self._renewed():
                pass
        except TimeoutError:
            logger.warning("%s: not renewed for %g s", self.name, self._renew_deadline)
        except Exception:
            logger.exception("%s: renewing the Lease failed", self.name)
        finally:
            # However it ended, but by leaving the block: nobody renews any more.
            if not self._is_lost:
                self._lose()

    async def _renewed(self) -> bool:
        """Renew once, in a while; False when another leads, TimeoutError without an answer."""
        async with timeout_by(self._clock, self._leads_until - self._clock.monotonic()):
            await self._clock.sleep(self._retry_period)
            while not await self._acquired_or_renewed():
                if self.holder != self.identity:
                    return False
                await self._clock.sleep(self._retry_period)
        return True

    def _lose(self) -> None:
        self._is_lost = True
        self._report_leading(0)
        logger.warning(
            "%s: %s no longer leads; the Lease names %s",
            self.name,
            self.identity,
            self.holder or "nobody",
        )
        if self._body is not None:
            self._has_cancelled = self._body.cancel(f"{self.identity} no longer leads {self.name}")

    # The Lease

    async def _acquired_or_renewed(self) -> bool:
        """Try once; whether this candidate leads afterwards."""
        # Half of it: a connection that answers no more must not cost the leadership.
        limit = self._renew_deadline / 2
        try:
            async with timeout_by(self._clock, limit):
                return await self._tried()
        except (RefletError, OSError) as error:  # TimeoutError is one too
            words = str(error) or f"no answer for {limit:g} s"
            logger.info("%s: the Lease was neither taken nor renewed: %s", self.name, words)
            return False
        finally:
            self._report_holder()

    async def _tried(self) -> bool:
        began = self._clock.monotonic()
        if self._lease is not None and self.holder == self.identity and self._is_valid(began):
            # The leader knows the Lease as it wrote it: one request, unless somebody was there.
            try:
                await self._write(self._lease, began)
            except (RefletError, OSError) as error:
                logger.debug("%s: reading the Lease again: %s", self.name, error)
            else:
                return True
        try:
            seen = await self._leases.get(self.name)
        except NotFound:
            made = Lease(metadata=ObjectMeta(name=self.name), spec=self._spec(None))
            self._took(await self._leases.create(made), began)
            return True
        self._observe(seen)
        if self.holder and self.holder != self.identity and self._is_valid(self._clock.monotonic()):
            return False
        if self.holder == self.identity:
            self._metrics.count("reflet_leader_election_slowpath_total", name=self.name)
        await self._write(seen, began)
        return True

    async def _write(self, lease: Lease, began: float) -> None:
        self._took(await self._leases.replace(replace(lease, spec=self._spec(lease.spec))), began)

    def _took(self, lease: Lease, began: float) -> None:
        self._observe(lease)
        self._leads_until = began + self._renew_deadline

    def _spec(self, before: LeaseSpec | None) -> LeaseSpec:
        now = MicroTime.at(self._clock.now())
        acquired, transitions = now, 0
        if before is not None:
            transitions = before.lease_transitions or 0
            if before.holder_identity == self.identity:
                acquired = before.acquire_time or now
            else:
                transitions += 1
        return LeaseSpec(
            holder_identity=self.identity,
            lease_duration_seconds=int(self._lease_duration),
            acquire_time=acquired,
            renew_time=now,
            lease_transitions=transitions,
        )

    def _observe(self, lease: Lease) -> None:
        if self._lease is None or lease.spec != self._lease.spec:
            self._seen_at = self._clock.monotonic()
        self._lease = lease

    def _is_valid(self, now: float) -> bool:
        """Whether the holder may still lead: it has the time that it asked for itself."""
        duration = 0 if self._lease is None else self._lease.spec.lease_duration_seconds or 0
        return now < self._seen_at + duration

    async def _give_back(self, *, at_once: bool) -> None:
        try:
            async with timeout_by(self._clock, self._renew_deadline):
                seen = await self._leases.get(self.name)
                if seen.spec.holder_identity != self.identity:
                    return
                if at_once:
                    now = MicroTime.at(self._clock.now())
                    spec = LeaseSpec(
                        lease_duration_seconds=RELEASED_DURATION,
                        acquire_time=now,
                        renew_time=now,
                        lease_transitions=seen.spec.lease_transitions,
                    )
                else:
                    left = math.ceil(self._lease_duration - self._renew_deadline)
                    spec = replace(self._spec(seen.spec), lease_duration_seconds=left)
                await self._leases.replace(replace(seen, spec=spec))
        except (RefletError, OSError, TimeoutError) as error:
            # The next leader waits until it runs out: slower, and as safe.
            logger.warning("%s: the Lease was not given back: %s", self.name, error)

    # Telling

    def _report_holder(self) -> None:
        if self.holder == self._reported:
            return
        self._reported = self.holder
        if self.holder and self.holder != self.identity:
            logger.info("%s: %s leads", self.name, self.holder)
        if self._on_new_leader is not None:
            try:
                self._on_new_leader(self.holder)
            except Exception:
                # Whoever is told must not cost the leadership.
                logger.exception("%s: on_new_leader failed", self.name)

    def _report_leading(self, value: int) -> None:
        self._metrics.gauge("reflet_leader_election_master_status", value, name=self.name)

    async def _took_back_cancellation(self, error: BaseException | None) -> bool:
        """Undo what ``_lose`` did to the task, as asyncio.timeout does; was nothing else wrong?"""
        body = self._body
        left = 0 if body is None else body.uncancel()
        is_own = left <= self._cancelled_before
        if error is not None:
            return is_own and isinstance(error, asyncio.CancelledError)
        try:
            await asyncio.sleep(0)  # the block ended before it felt the cancellation: feel it here
        except asyncio.CancelledError:
            if not is_own:
                raise
        return True


leader = LeaderElection
"""Lead while the block runs: ``async with leader(cluster, "my-operator"):``."""


def _check_timing(lease_duration: float, renew_deadline: float, retry_period: float) -> None:
    if int(lease_duration) != lease_duration or lease_duration < 1:
        raise ConfigurationError(
            f"lease_duration is written as whole seconds, at least 1: {lease_duration}"
        )
    if lease_duration <= renew_deadline:
        raise ConfigurationError(
            f"lease_duration ({lease_duration}) must be longer than renew_deadline "
            f"({renew_deadline}): another candidate would lead before this one has stopped"
        )
    if renew_deadline <= JITTER * retry_period:
        raise ConfigurationError(
            f"renew_deadline ({renew_deadline}) must be longer than {JITTER} times retry_period "
            f"({retry_period}): there would be time for one attempt only"
        )
