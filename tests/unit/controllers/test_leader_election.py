"""Who leads, for how long, and what a leader that lost is kept from doing.

Upstream: client-go/tools/leaderelection/leaderelection_test.go
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from msgspec.structs import replace

from reflet.api.core.small_kinds import Lease, LeaseSpec
from reflet.api.status import not_found
from reflet.client.client import Client
from reflet.controllers.leader_election import LeaderElection, LeadershipLost, leader
from reflet.errors import ConfigurationError, Conflict, MisuseError, ServiceUnavailable
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.virtual_time import VirtualClock
from tests.faults.hurry import RATE, HurriedClock

pytestmark = pytest.mark.virtual_time


class Leases:
    """One Lease on a server that can be away, and that answers when it is told to."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self.version = 0
        self.is_away = False
        self.answering: Callable[[], Awaitable[None]] | None = None
        self.requests: list[str] = []

    def resource(self, *_: object, **__: object) -> Leases:
        return self

    async def get(self, name: str) -> Lease:
        await self._ask("get")
        if self.lease is None:
            raise not_found("leases", name, "coordination.k8s.io")
        return self.lease

    async def create(self, lease: Lease) -> Lease:
        await self._ask("create")
        assert self.lease is None
        return self._store(lease)

    async def replace(self, lease: Lease) -> Lease:
        await self._ask("replace")
        if self.lease is None:
            raise not_found("leases", lease.metadata.name, "coordination.k8s.io")
        if lease.metadata.resource_version != self.lease.metadata.resource_version:
            raise Conflict("the object has been modified", code=409, reason="Conflict")
        return self._store(lease)

    def write(self, **spec: Any) -> None:
        """Write as somebody else."""
        assert self.lease is not None
        self._store(replace(self.lease, spec=LeaseSpec(**spec)))

    @property
    def holder(self) -> str | None:
        return None if self.lease is None else self.lease.spec.holder_identity

    def _store(self, lease: Lease) -> Lease:
        self.version += 1
        metadata = replace(lease.metadata, resource_version=str(self.version))
        self.lease = replace(lease, metadata=metadata)
        return self.lease

    async def _ask(self, verb: str) -> None:
        self.requests.append(verb)
        if self.answering is not None:
            await self.answering()
        if self.is_away:
            raise ServiceUnavailable("away", code=503, reason="ServiceUnavailable")


def candidate(leases: Leases, identity: str, **options: Any) -> LeaderElection:
    options = {"clock": VirtualClock(), "chance": lambda: 0.0, **options}
    return leader(cast("Client", leases), "web", identity=identity, **options)


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_the_first_candidate_makes_the_lease_and_leads() -> None:
    leases = Leases()
    async with candidate(leases, "one") as elected:
        assert elected.is_leading
        assert leases.lease is not None
        spec = leases.lease.spec
        assert (spec.holder_identity, spec.lease_duration_seconds) == ("one", 15)
        assert spec.lease_transitions == 0
        assert spec.acquire_time == spec.renew_time == VirtualClock().now()


async def test_a_leader_renews_with_one_request_each_time_and_keeps_when_it_acquired() -> None:
    leases = Leases()
    async with candidate(leases, "one"):
        began = VirtualClock().now()
        await asyncio.sleep(61)
        assert leases.lease is not None
        assert leases.lease.spec.acquire_time == began
        assert leases.requests == ["get", "create"] + 30 * ["replace"]
        assert leases.lease.spec.lease_transitions == 0


async def test_a_leader_that_leaves_gives_the_lease_back_and_the_next_leads_soon() -> None:
    leases = Leases()
    async with candidate(leases, "one"):
        pass
    assert leases.holder is None
    assert leases.lease is not None
    assert leases.lease.spec.lease_duration_seconds == 1

    async with candidate(leases, "two"):
        assert now() <= 2
        assert leases.lease.spec.lease_transitions == 1


async def test_a_leader_that_died_is_followed_when_its_lease_has_run_out() -> None:
    leases = Leases()
    async with candidate(leases, "one", release=False):
        pass
    assert leases.holder == "one"

    async with candidate(leases, "two") as elected:
        assert 15 <= now() <= 17
        assert elected.holder == "two"


async def test_a_candidate_waits_as_long_as_the_holder_asked_for_and_not_as_itself_would() -> None:
    leases = Leases()
    async with candidate(leases, "one", release=False, lease_duration=60.0):
        pass

    async with candidate(leases, "two"):
        assert 60 <= now() <= 62


async def test_a_candidate_counts_from_when_it_saw_a_renewal_whatever_the_clocks_say() -> None:
    leases = Leases()
    async with candidate(leases, "one", release=False):
        pass
    async with asyncio.TaskGroup() as group:
        second = candidate(leases, "two")
        entering = group.create_task(second.__aenter__())
        await asyncio.sleep(14)
        assert leases.lease is not None
        before = leases.lease.spec
        # Renewed, with a time of long ago: the holder's clock is wrong.
        leases.write(
            holder_identity="one",
            lease_duration_seconds=15,
            renew_time=None,
            acquire_time=before.acquire_time,
        )
        await asyncio.sleep(14)
        assert not entering.done()
        await entering
        assert 29 <= now() <= 33
    await second.__aexit__(None, None, None)


async def ended_at(election: LeaderElection, begin: Callable[[], object] = lambda: None) -> float:
    """Lead and do nothing else; when the block is cancelled, which LeadershipLost must follow."""
    moment = -1.0

    async def lead() -> None:
        nonlocal moment
        async with election:
            begin()
            try:
                await asyncio.sleep(1000)
            finally:
                moment = now()
                assert not election.is_leading

    with pytest.raises(LeadershipLost):
        await lead()
    return moment


async def test_a_leader_that_cannot_renew_is_stopped_before_another_can_lead() -> None:
    leases = Leases()
    asyncio.get_running_loop().call_later(7, setattr, leases, "is_away", True)

    # Ten seconds after the last renewal that succeeded, which was at 6.
    assert await ended_at(candidate(leases, "one")) == 16


async def test_a_leader_whose_requests_hang_is_stopped_too() -> None:
    leases = Leases()

    def hang() -> None:
        leases.answering = lambda: asyncio.sleep(1_000_000)

    assert await ended_at(candidate(leases, "one", release=False), hang) == 10


async def test_every_deadline_is_by_the_clock_that_is_given() -> None:
    leases = Leases()
    hurried = candidate(leases, "one", clock=HurriedClock())

    def hang() -> None:
        leases.answering = lambda: asyncio.sleep(1_000_000)

    assert await ended_at(hurried, hang) == pytest.approx(10 / RATE)
    # Giving the Lease back to a server that does not answer has an end too.
    assert now() == pytest.approx(20 / RATE)


async def test_a_connection_that_answers_no_more_does_not_cost_the_leadership() -> None:
    leases = Leases()
    async with candidate(leases, "one") as elected:
        hanging = iter([1_000_000])  # the first request; the next one takes another connection
        leases.answering = lambda: asyncio.sleep(next(hanging, 0))
        await asyncio.sleep(60)
        assert elected.is_leading


async def test_a_leader_whose_renewing_ended_by_whatever_cause_is_stopped() -> None:
    leases = Leases()

    async def answer() -> None:
        raise asyncio.CancelledError  # something that the request waited for, not the task itself

    def cancel() -> None:
        leases.answering = answer

    assert await ended_at(candidate(leases, "one", release=False), cancel) == 2


async def test_a_short_absence_of_the_server_costs_nothing() -> None:
    leases = Leases()
    async with candidate(leases, "one") as elected:
        await asyncio.sleep(3)
        leases.is_away = True
        await asyncio.sleep(6)
        leases.is_away = False
        await asyncio.sleep(60)
        assert elected.is_leading


async def test_a_leader_that_sees_another_holder_stops_at_once() -> None:
    leases = Leases()

    def usurp() -> None:
        leases.write(holder_identity="usurper", lease_duration_seconds=15)

    assert await ended_at(candidate(leases, "one"), usurp) == 2
    assert leases.holder == "usurper"


async def test_a_lease_that_somebody_removed_is_made_again() -> None:
    leases = Leases()
    async with candidate(leases, "one") as elected:
        leases.lease = None
        await asyncio.sleep(3)
        assert elected.is_leading
        assert leases.holder == "one"


async def test_a_leader_finds_its_lease_again_when_somebody_touched_it() -> None:
    leases = Leases()
    metrics = MemoryMetrics()
    async with candidate(leases, "one", metrics=metrics) as elected:
        leases.write(holder_identity="one", lease_duration_seconds=15, lease_transitions=7)
        await asyncio.sleep(3)
        assert elected.is_leading
        assert leases.lease is not None
        assert leases.lease.spec.lease_transitions == 7
        assert metrics.counted("reflet_leader_election_slowpath_total", name="web") == 1
        assert metrics.level("reflet_leader_election_master_status", name="web") == 1
    assert metrics.level("reflet_leader_election_master_status", name="web") == 0


async def test_a_block_that_lets_nobody_run_knows_by_the_clock_that_its_time_is_over() -> None:
    class Jumping(VirtualClock):
        passed = 0.0

        def monotonic(self) -> float:
            return super().monotonic() + self.passed

    clock = Jumping()
    election = leader(cast("Client", Leases()), "web", identity="one", clock=clock)

    async def lead() -> None:
        async with election as elected:
            elected.check()
            Jumping.passed = 10.0  # without an await: the loop saw nothing of it
            assert not elected.is_leading
            with pytest.raises(LeadershipLost, match="one does not lead web"):
                elected.check()

    with pytest.raises(LeadershipLost, match="no longer leads"):
        await lead()


async def test_after_an_error_of_the_block_its_last_requests_have_time_to_arrive() -> None:
    leases = Leases()
    with pytest.raises(ValueError, match="mine"):
        async with candidate(leases, "one"):
            raise ValueError("mine")

    async with candidate(leases, "two"):
        assert 5 <= now() <= 7


async def test_after_a_leadership_that_was_lost_its_last_requests_have_time_to_arrive() -> None:
    leases = Leases()

    def hang() -> None:
        leases.answering = lambda: asyncio.sleep(max(0.0, 11 - now()))

    assert await ended_at(candidate(leases, "one"), hang) == 10

    async with candidate(leases, "two"):
        assert 11 + 5 <= now() <= 11 + 7


async def test_cancelling_the_block_from_outside_is_a_cancellation() -> None:
    leases = Leases()
    is_leading = asyncio.Event()

    async def lead() -> None:
        async with candidate(leases, "one"):
            is_leading.set()
            await asyncio.sleep(1000)

    leading = asyncio.create_task(lead())
    await is_leading.wait()
    leading.cancel()

    with pytest.raises(asyncio.CancelledError):
        await leading
    assert leases.lease is not None
    assert leases.lease.spec.lease_duration_seconds == 5


async def test_the_task_can_go_on_after_it_lost() -> None:
    leases = Leases()
    for _ in range(2):
        await ended_at(
            candidate(leases, "one"),
            lambda: leases.write(holder_identity="other", lease_duration_seconds=1),
        )
        await asyncio.sleep(1)  # would raise if something of the cancellation were left


async def test_two_candidates_never_lead_at_the_same_time() -> None:
    leases = Leases()
    leading: set[str] = set()
    terms: list[str] = []

    async def live(name: str) -> None:
        for _ in range(5):
            async with candidate(leases, name):
                leading.add(name)
                assert len(leading) == 1
                terms.append(name)
                await asyncio.sleep(5)
                leading.remove(name)

    async with asyncio.TaskGroup() as group:
        for name in ("one", "two", "three"):
            group.create_task(live(name))

    assert sorted(set(terms)) == ["one", "three", "two"]
    assert len(terms) == 15


async def test_everybody_is_told_who_leads() -> None:
    leases = Leases()
    seen: list[str] = []

    def note(identity: str) -> None:
        seen.append(identity)
        raise RuntimeError("a mistake of the one who is told")

    async with candidate(leases, "one"):
        second = candidate(leases, "two", on_new_leader=note)
        waiting = asyncio.create_task(second.__aenter__())
        await asyncio.sleep(3)
    await waiting
    await second.__aexit__(None, None, None)

    assert seen[0] == "one"
    assert seen[-1] == "two"


async def test_an_election_is_entered_once() -> None:
    election = candidate(Leases(), "one")
    async with election:
        pass
    with pytest.raises(MisuseError):
        async with election:
            pass


@pytest.mark.parametrize(
    ("timing", "complaint"),
    [
        ({"lease_duration": 10.0}, "must be longer than renew_deadline"),
        ({"renew_deadline": 2.0}, "must be longer than 1.2 times retry_period"),
        ({"lease_duration": 15.5}, "whole seconds"),
        ({"lease_duration": 0.0}, "whole seconds"),
    ],
)
def test_times_that_cannot_work_are_refused(timing: dict[str, float], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        candidate(Leases(), "one", **timing)
