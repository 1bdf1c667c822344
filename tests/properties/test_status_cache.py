"""Whatever is written, cancelled or late: who waits is woken when the rule says so, never else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from reflet.pleg.runtime_status import RuntimeStatus
from reflet.pleg.status_cache import Inspection, StatusCache, StatusTooOld
from reflet.testing import virtual_time

ROUNDS: Final = 4  # of the loop; more than a woken or cancelled waiter needs to end


@dataclass(frozen=True)
class Set:
    uid: str
    at: int
    fails: bool


@dataclass(frozen=True)
class Observe:
    uid: str
    at: int


@dataclass(frozen=True)
class Delete:
    uid: str


@dataclass(frozen=True)
class UpdateTime:
    at: int


@dataclass(frozen=True)
class Wait:
    uid: str
    moment: int
    timeout: float | None


@dataclass(frozen=True)
class Cancel:
    which: int


@dataclass(frozen=True)
class Pass:
    seconds: int


Step: TypeAlias = Set | Observe | Delete | UpdateTime | Wait | Cancel | Pass

uids = st.sampled_from("ab")
moments = st.integers(0, 8)
# Halves, so that no deadline falls on the moment of another step.
timeouts = st.none() | st.sampled_from([0.5, 2.5, 7.5])
waits = st.builds(Wait, uids, moments, timeouts)
steps = st.lists(
    st.one_of(
        waits,
        waits,
        st.builds(Set, uids, moments, st.booleans()),
        st.builds(Observe, uids, moments),
        st.builds(Delete, uids),
        st.builds(UpdateTime, moments),
        st.builds(Cancel, st.integers(0, 30)),
        st.builds(Pass, st.integers(1, 4)),
    ),
    max_size=40,
)


@dataclass
class Entry:
    label: str
    modified: int
    observed: int


@dataclass
class Model:
    """The rules as they are written in the specification, without waiting for anything."""

    ignore_older: bool
    now: float = 0
    global_time: int | None = None
    entries: dict[str, Entry] = field(default_factory=dict)
    waiting: dict[int, tuple[Wait, float]] = field(default_factory=dict)
    ends: dict[int, str] = field(default_factory=dict)

    def known(self, uid: str) -> str:
        return self.entries[uid].label if uid in self.entries else f"{uid} empty"

    def wait(self, number: int, wait: Wait) -> None:
        entry = self.entries.get(wait.uid)
        times = [self.global_time] if entry is None else [entry.modified, entry.observed]
        if any(time is not None and time > wait.moment for time in (*times, self.global_time)):
            self.ends[number] = self.known(wait.uid)
        else:
            late = float("inf") if wait.timeout is None else self.now + wait.timeout
            self.waiting[number] = (wait, late)

    def set(self, label: str, step: Set) -> bool:
        entry = self.entries.get(step.uid)
        if self.ignore_older and entry is not None and entry.modified > step.at:
            return False
        self.entries[step.uid] = Entry(label, step.at, step.at)
        self.wake(step.uid, step.at)
        return True

    def observe(self, step: Observe) -> None:
        if step.uid in self.entries:
            self.entries[step.uid].observed = step.at
        self.wake(step.uid, step.at)

    def update_time(self, at: int) -> None:
        self.global_time = at
        for uid in "ab":
            self.wake(uid, at)

    def wake(self, uid: str, at: int) -> None:
        for number, (wait, _) in list(self.waiting.items()):
            if wait.uid == uid and wait.moment <= at:
                self.end(number, self.known(uid))

    def cancel(self, number: int) -> None:
        if number in self.waiting:
            self.end(number, "cancelled")

    def pass_time(self, seconds: int) -> None:
        self.now += seconds
        for number, (_, late) in list(self.waiting.items()):
            if late <= self.now:
                self.end(number, "too old")

    def end(self, number: int, how: str) -> None:
        del self.waiting[number]
        self.ends[number] = how


def label(inspection: Inspection) -> str:
    uid, name = inspection.status.uid, inspection.status.name
    error = "" if inspection.error is None else f" {inspection.error}"
    return f"{uid} {name or 'empty'}{error}"


class Cache:
    """The real one, its waiters as tasks by number, and what became of each."""

    def __init__(self, *, ignore_older: bool) -> None:
        self.cache = StatusCache(ignore_older=ignore_older)
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.ends: dict[int, str] = {}

    def wait(self, number: int, wait: Wait) -> None:
        self.tasks[number] = asyncio.create_task(self._wait(number, wait))

    async def _wait(self, number: int, wait: Wait) -> None:
        try:
            found = await self.cache.newer_than(wait.uid, wait.moment, timeout=wait.timeout)
        except StatusTooOld:
            how = "too old"
        except asyncio.CancelledError:
            how = "cancelled"
        else:
            how = label(found)
        assert number not in self.ends
        self.ends[number] = how

    def cancel(self, number: int) -> None:
        if number in self.tasks:
            self.tasks[number].cancel()

    async def settle(self) -> None:
        for _ in range(ROUNDS):
            await asyncio.sleep(0)


async def carry_out(number: int, step: Step, cache: Cache, model: Model) -> None:
    match step:
        case Wait():
            cache.wait(number, step)
            model.wait(number, step)
        case Set(uid=uid, at=at, fails=fails):
            error = Exception("failed") if fails else None
            inspection = Inspection(RuntimeStatus(uid=uid, name=str(number)), error)
            updated = cache.cache.set(uid, inspection.status, error, at)
            assert updated is model.set(label(inspection), step)
        case Observe(uid=uid, at=at):
            cache.cache.set_observed(uid, at)
            model.observe(step)
        case Delete(uid=uid):
            cache.cache.delete(uid)
            model.entries.pop(uid, None)
        case UpdateTime(at=at):
            cache.cache.update_time(at)
            model.update_time(at)
        case Cancel(which=which):
            cache.cancel(which)
            model.cancel(which)
        case Pass(seconds=seconds):
            await asyncio.sleep(seconds)
            model.pass_time(seconds)


async def compare(steps: list[Step], *, ignore_older: bool) -> None:
    cache, model = Cache(ignore_older=ignore_older), Model(ignore_older)
    for number, step in enumerate(steps):
        await carry_out(number, step, cache, model)
        await cache.settle()
        assert cache.ends == model.ends
        assert cache.cache.waiting == len(model.waiting)
        assert {uid: label(cache.cache.get(uid)) for uid in "ab"} == {
            uid: model.known(uid) for uid in "ab"
        }
    for number in model.waiting:
        cache.cancel(number)
    await asyncio.gather(*cache.tasks.values())
    assert cache.cache._waiters == {}


@settings(deadline=None, max_examples=300)
@given(steps, st.booleans())
def test_waiters_are_woken_exactly_when_the_rule_says(
    steps: list[Step], ignore_older: bool
) -> None:
    virtual_time.run(compare(steps, ignore_older=ignore_older))


async def wait_and_write_at_once(steps: list[Step]) -> None:
    cache = StatusCache()
    tasks: list[asyncio.Task[Inspection]] = []
    highest = 0
    for step in steps:
        match step:
            case Wait(uid=uid, moment=moment):
                tasks.append(asyncio.create_task(cache.newer_than(uid, moment)))
            case Set(uid=uid, at=at):
                cache.set(uid, RuntimeStatus(uid=uid), None, at)
            case Observe(uid=uid, at=at):
                cache.set_observed(uid, at)
            case Delete(uid=uid):
                cache.delete(uid)
            case UpdateTime(at=at):
                cache.update_time(at)
            case Cancel(which=which):
                if which < len(tasks):
                    tasks[which].cancel()
            case Pass():
                await asyncio.sleep(0)
        highest = max(highest, getattr(step, "moment", 0))
    await asyncio.sleep(0)
    cache.update_time(highest)
    async with asyncio.timeout(1):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert cache._waiters == {}


@settings(deadline=None)
@given(steps)
def test_nobody_is_lost_when_everything_happens_in_one_turn_of_the_loop(steps: list[Step]) -> None:
    virtual_time.run(wait_and_write_at_once(steps))
