from __future__ import annotations

import asyncio
import threading

import pytest

from reflet.errors import RefletError
from reflet.pleg.runtime_status import RuntimeStatus
from reflet.pleg.status_cache import Inspection, StatusCache, StatusTooOld, _Waiter


def status(uid: str, name: str = "") -> RuntimeStatus:
    return RuntimeStatus(uid=uid, name=name)


def cache_with(uid: str, *, at: float, ignore_older: bool = False) -> StatusCache:
    cache = StatusCache(ignore_older=ignore_older)
    cache.set(uid, status(uid, f"at {at:g}"), None, at)
    return cache


async def waiting(
    cache: StatusCache, uid: str, moment: float, *, timeout: float | None = None
) -> asyncio.Task[Inspection]:
    """Somebody who already waits."""
    task = asyncio.create_task(cache.newer_than(uid, moment, timeout=timeout))
    await asyncio.sleep(0)
    assert not task.done()
    return task


class NotingCache(StatusCache):
    """Says when somebody has begun to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.somebody_waits = threading.Event()

    def _known_or_queue(self, uid: str, waiter: _Waiter) -> Inspection | None:
        known = super()._known_or_queue(uid, waiter)
        self.somebody_waits.set()
        return known


# Asking


def test_a_failed_look_is_kept_with_what_is_known() -> None:
    cache, error = StatusCache(), OSError("runtime down")

    cache.set("a", status("a", "old"), error, 1)

    assert cache.get("a") == Inspection(status("a", "old"), error)


async def test_what_is_new_enough_comes_without_letting_others_run_first() -> None:
    cache = cache_with("a", at=6)
    others: list[str] = []
    asyncio.get_running_loop().call_soon(others.append, "ran")

    found = await cache.newer_than("a", 5)

    assert (found.status.name, others) == ("at 6", [])


async def test_a_pod_that_was_merely_looked_at_is_new_enough() -> None:
    cache = cache_with("a", at=1)
    cache.set_observed("a", 6)

    assert (await cache.newer_than("a", 5, timeout=0)).status.name == "at 1"


@pytest.mark.virtual_time
async def test_a_look_at_exactly_the_moment_does_not_answer() -> None:
    cache = cache_with("a", at=5)

    with pytest.raises(StatusTooOld):
        await cache.newer_than("a", 5, timeout=10)


@pytest.mark.virtual_time
async def test_the_moment_of_a_look_may_go_back() -> None:
    cache = cache_with("a", at=1)
    cache.set_observed("a", 6)
    cache.set_observed("a", 2)

    with pytest.raises(StatusTooOld):
        await cache.newer_than("a", 4, timeout=10)


# Waiting


@pytest.mark.virtual_time
async def test_a_look_at_exactly_the_moment_wakes() -> None:
    cache = StatusCache()
    waiter = await waiting(cache, "a", 5)

    cache.set("a", status("a", "fresh"), None, 5)

    assert (await waiter).status.name == "fresh"


@pytest.mark.virtual_time
async def test_everybody_for_whom_it_is_new_enough_wakes_in_order() -> None:
    cache = StatusCache()
    woken: list[asyncio.Task[Inspection]] = []
    waiters = [await waiting(cache, "a", moment) for moment in (5, 3, 9, 4)]
    for waiter in waiters:
        waiter.add_done_callback(woken.append)

    cache.set("a", status("a"), None, 5)
    await asyncio.wait(waiters, timeout=1)

    assert ([waiters.index(waiter) for waiter in woken], cache.waiting) == ([0, 1, 3], 1)
    cache.update_time(9)
    await waiters[2]


@pytest.mark.virtual_time
async def test_a_waiter_gets_what_was_known_when_it_was_woken() -> None:
    cache = StatusCache()
    waiter = await waiting(cache, "a", 5)

    cache.set("a", status("a", "first"), None, 5)
    cache.set("a", status("a", "second"), None, 6)

    assert (await waiter).status.name == "first"


@pytest.mark.virtual_time
async def test_another_pod_wakes_nobody() -> None:
    cache = StatusCache()
    waiter = await waiting(cache, "a", 5, timeout=10)

    cache.set("b", status("b"), None, 100)

    with pytest.raises(StatusTooOld):
        await waiter


@pytest.mark.virtual_time
async def test_the_deadline_is_kept_and_leaves_nothing_behind() -> None:
    cache = StatusCache()

    with pytest.raises(StatusTooOld, match=r"no newer status of pod a came within 2.5 s") as late:
        await cache.newer_than("a", 5, timeout=2.5)

    assert (late.value.uid, late.value.moment, late.value.timeout) == ("a", 5, 2.5)
    assert asyncio.get_running_loop().time() == 2.5
    assert repr(cache) == "<StatusCache of 0 pods, 0 waiting>"


def test_too_old_is_ours_and_a_timeout() -> None:
    assert issubclass(StatusTooOld, RefletError)
    assert issubclass(StatusTooOld, TimeoutError)


@pytest.mark.virtual_time
async def test_an_arrival_at_the_deadline_counts() -> None:
    cache = StatusCache()
    asyncio.get_running_loop().call_later(10, cache.update_time, 5)

    found = await cache.newer_than("a", 5, timeout=10)

    assert found == Inspection(status("a"))


@pytest.mark.virtual_time
async def test_a_cancelled_waiter_leaves_nothing_behind() -> None:
    cache = StatusCache()
    one, other = await waiting(cache, "a", 5), await waiting(cache, "a", 5)

    one.cancel()
    await asyncio.wait([one])

    assert cache.waiting == 1
    other.cancel()
    await asyncio.wait([other])
    assert (cache.waiting, cache._waiters) == (0, {})


@pytest.mark.virtual_time
async def test_a_waiter_cancelled_before_a_status_comes_is_cancelled() -> None:
    cache = StatusCache()
    waiter = await waiting(cache, "a", 5)

    waiter.cancel()
    cache.set("a", status("a"), None, 6)
    await asyncio.wait([waiter])

    assert (waiter.cancelled(), cache.waiting) == (True, 0)


# Older data


def test_older_data_overwrites_by_default() -> None:
    cache = cache_with("a", at=5)

    assert cache.set("a", status("a", "older"), None, 1)
    assert cache.get("a").status.name == "older"


@pytest.mark.virtual_time
async def test_older_data_can_be_ignored_and_then_wakes_nobody() -> None:
    cache = cache_with("a", at=5, ignore_older=True)
    cache.update_time(0)
    waiter = await waiting(cache, "a", 7, timeout=1)

    assert not cache.set("a", status("a", "older"), None, 4)

    assert cache.get("a").status.name == "at 5"
    with pytest.raises(StatusTooOld):
        await waiter


def test_data_of_the_same_moment_is_not_older() -> None:
    cache = cache_with("a", at=5, ignore_older=True)

    assert cache.set("a", status("a", "the same"), None, 5)


def test_after_a_deletion_nothing_is_older() -> None:
    cache = cache_with("a", at=5, ignore_older=True)
    cache.delete("a")

    assert cache.set("a", status("a"), None, 1)


def test_deleting_what_is_not_there_is_harmless() -> None:
    cache = StatusCache()

    cache.delete("a")

    assert cache.get("a") == Inspection(status("a"))


# Threads


def test_a_thread_gets_what_is_new_enough_at_once() -> None:
    assert cache_with("a", at=6).newer_than_blocking("a", 5, timeout=0).status.name == "at 6"


def test_a_thread_waits_for_a_newer_status() -> None:
    cache = NotingCache()
    found: list[Inspection] = []
    thread = threading.Thread(target=lambda: found.append(cache.newer_than_blocking("a", 5)))
    thread.start()
    cache.somebody_waits.wait()

    cache.set("a", status("a", "fresh"), None, 5)
    thread.join()

    assert [each.status.name for each in found] == ["fresh"]


def test_a_thread_does_not_wait_past_its_deadline() -> None:
    cache = StatusCache()

    with pytest.raises(StatusTooOld, match=r"came within 0.01 s"):
        cache.newer_than_blocking("a", 5, timeout=0.01)

    assert cache.waiting == 0


def test_a_thread_can_wait_without_end() -> None:
    cache = NotingCache()
    thread = threading.Thread(
        target=lambda: cache.newer_than_blocking("a", 5, timeout=float("inf"))
    )
    thread.start()
    cache.somebody_waits.wait()

    cache.update_time(5)
    thread.join()

    assert cache.waiting == 0


async def test_blocking_an_event_loop_is_refused() -> None:
    with pytest.raises(RuntimeError, match="await newer_than instead"):
        StatusCache().newer_than_blocking("a", 5)


async def test_a_status_set_in_another_thread_wakes_a_task() -> None:
    cache = NotingCache()
    waiter = await waiting(cache, "a", 5)

    await asyncio.to_thread(cache.set, "a", status("a", "fresh"), None, 5)

    assert (await waiter).status.name == "fresh"


def test_a_waiter_whose_loop_is_gone_does_not_matter() -> None:
    cache = StatusCache()
    loop = asyncio.new_event_loop()
    wait = cache.newer_than("a", 5)
    task = loop.create_task(wait)
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()

    cache.update_time(5)

    assert cache.waiting == 0
    # The task can no longer end by itself; closing its coroutine is what its loop's end left us.
    wait.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # a task nobody can finish


def test_readers_in_other_threads_see_a_status_and_its_error_together() -> None:
    cache, over = StatusCache(), threading.Event()
    troubles: list[Inspection] = []
    looks = [0, 0]

    def read(reader: int) -> None:
        while not over.is_set() or not looks[reader]:
            found = cache.get("a")
            if found.status.name != ("" if found.error is None else str(found.error)):
                troubles.append(found)
            looks[reader] += 1

    readers = [threading.Thread(target=read, args=(number,)) for number in range(len(looks))]
    for reader in readers:
        reader.start()
    for number in range(3000):
        cache.set("a", status("a", str(number)), Exception(str(number)), number)
        cache.set_observed("a", number + 0.5)
        if number % 7 == 0:
            cache.delete("a")
    over.set()
    for reader in readers:
        reader.join()

    assert troubles == []
    assert all(looks)


def test_threads_that_wait_again_and_again_are_never_forgotten() -> None:
    cache = StatusCache()
    ended: list[float] = []

    def follow() -> None:
        for moment in range(100):
            cache.newer_than_blocking("a", moment)
        ended.append(moment)

    followers = [threading.Thread(target=follow) for _ in range(4)]
    for follower in followers:
        follower.start()
    now = 0
    while any(follower.is_alive() for follower in followers):
        now += 1
        cache.set("a", status("a"), None, now % 150)
    for follower in followers:
        follower.join()

    assert (ended, cache.waiting) == ([99] * 4, 0)


async def test_who_begins_to_wait_is_noted_and_who_need_not_is_not() -> None:
    cache, noted = StatusCache(), list[str]()
    cache.on_wait = noted.append
    cache.set("p", RuntimeStatus(uid="p"), None, 2.0)
    await cache.newer_than("p", 1.0)
    waiting = asyncio.create_task(cache.newer_than("p", 3.0))
    await asyncio.sleep(0)

    assert (noted, cache.waited_for()) == (["p"], ("p",))
    cache.set_observed("p", 3.0)
    await waiting
    assert cache.waited_for() == ()


def test_a_status_is_as_new_as_its_last_look() -> None:
    cache = StatusCache()
    unknown = cache.as_of("p")
    cache.set("p", RuntimeStatus(uid="p"), None, 2.0)
    cache.set_observed("p", 3.0)
    looked_at = cache.as_of("p")
    cache.update_time(4.0)

    assert (unknown, looked_at, cache.as_of("p"), cache.as_of("other")) == (None, 3.0, 4.0, 4.0)
    assert cache.uids() == ("p",)
