"""A collection in memory, for programs without an event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.blocking.loop_thread import LoopThread
from reflet.blocking.mirror import BlockingMirror
from reflet.errors import Forbidden, MisuseError, NotFound
from reflet.informer.handlers.changes import Change
from reflet.informer.mirror import Mirror
from reflet.informer.shared_informer import NotSynced
from reflet.store.deltas import Changed
from reflet.testing.scripted_source import ScriptedSource, listing, modified
from tests.unit.blocking.loop_scenes import fail
from tests.unit.store.config_maps import config_map, names, users_of

A1, A2, B1 = config_map("a", "1", users="x"), config_map("a", "2"), config_map("b", "1")
PATIENCE = 30.0  # seconds, for what takes a moment


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread("the loop")
    yield thread
    thread.stop()


def mirror_of(loop: LoopThread, *items: ConfigMap, **options: Any) -> BlockingMirror[ConfigMap]:
    source = ScriptedSource(lists=[listing("1", *items)])
    mirror = Mirror(source, CONFIG_MAPS, namespace="shop", streaming=False, **options)
    return BlockingMirror(loop, mirror)


def happens(loop: LoopThread, mirror: BlockingMirror[ConfigMap], item: ConfigMap) -> None:
    """Let the watch bring a new state."""

    async def apply() -> None:
        mirror._mirror.informer.apply(Changed([modified(item)]))

    loop.run(apply())


def test_objects_are_read_without_the_loop(loop: LoopThread) -> None:
    with mirror_of(loop, A1, B1, indexers={"users": users_of}) as mirror:
        mirror.synced(timeout=PATIENCE)

        blocked = threading.Event()
        loop._loop.call_soon_threadsafe(blocked.wait, PATIENCE)
        try:
            assert (mirror.get("a"), mirror["b"], mirror.get("c")) == (A1, B1, None)
            assert ("a" in mirror, len(mirror), list(mirror)) == (True, 2, ["a", "b"])
            assert (mirror.keys(), names(mirror.values())) == (["a", "b"], ["a", "b"])
            assert mirror.items() == [("a", mirror["a"]), ("b", mirror["b"])]
            assert names(mirror.list("app=a")) == names(mirror.by_index("users", "x")) == ["a"]
            assert (mirror.last_version, mirror.is_synced, mirror.is_live()) == ("1", True, True)
            assert (mirror.resource, mirror.namespace) == (CONFIG_MAPS, "shop")
            with pytest.raises(NotFound):
                _ = mirror["c"]
        finally:
            blocked.set()


def test_waiting_has_an_end(loop: LoopThread) -> None:
    silent: ScriptedSource[ConfigMap] = ScriptedSource()
    inner = Mirror(silent, CONFIG_MAPS, streaming=False, on_error=lambda error: None)

    with BlockingMirror(loop, inner) as mirror, pytest.raises(NotSynced):
        mirror.synced(timeout=0.01)


def test_what_waiting_does_not_mend_ends_the_wait(loop: LoopThread) -> None:
    forbidden = Forbidden("configmaps is forbidden", code=403, reason="Forbidden")
    source: ScriptedSource[ConfigMap] = ScriptedSource(lists=[forbidden])
    inner = Mirror(source, CONFIG_MAPS, streaming=False, on_error=lambda error: None)

    with BlockingMirror(loop, inner) as mirror, pytest.raises(Forbidden):
        mirror.synced(timeout=PATIENCE, fail_on=Forbidden)


def test_handlers_run_in_threads_of_their_own(loop: LoopThread) -> None:
    with mirror_of(loop, A1) as mirror:
        told = threading.Event()
        threads: list[threading.Thread] = []

        def handler(change: Change[ConfigMap]) -> None:
            threads.append(threading.current_thread())
            mirror.synced(timeout=PATIENCE)  # a handler may wait
            told.set()

        mirror.add_handler(handler)

        assert told.wait(PATIENCE)
    assert loop._thread not in threads
    assert threading.current_thread() not in threads


def test_handlers_run_in_the_executor_that_is_given(loop: LoopThread) -> None:
    told = threading.Event()
    names_of_threads: list[str] = []

    def handler(change: Change[ConfigMap]) -> None:
        names_of_threads.append(threading.current_thread().name)
        told.set()

    with (
        ThreadPoolExecutor(1, thread_name_prefix="mine") as executor,
        mirror_of(loop, A1) as mirror,
    ):
        mirror.add_handler(handler, executor=executor)
        assert told.wait(PATIENCE)

    assert [name.startswith("mine") for name in names_of_threads] == [True]


def test_a_removed_handler_hears_nothing_more(loop: LoopThread) -> None:
    heard: list[str] = []
    first, other = threading.Event(), threading.Event()

    def handler(change: Change[ConfigMap]) -> None:
        heard.append(change.object.metadata.resource_version)
        first.set()

    def witness(change: Change[ConfigMap]) -> None:
        if change.object.metadata.resource_version == "2":
            other.set()

    with mirror_of(loop, A1) as mirror:
        registration = mirror.add_handler(handler)
        assert first.wait(PATIENCE)
        mirror.remove_handler(registration)
        mirror.add_handler(witness)
        happens(loop, mirror, A2)
        assert other.wait(PATIENCE)

    assert heard == ["1"]


def test_leaving_waits_for_the_call_under_way_and_makes_no_other(loop: LoopThread) -> None:
    begun, go_on = threading.Event(), threading.Event()
    heard: list[str] = []

    def handler(change: Change[ConfigMap]) -> None:
        begun.set()
        assert go_on.wait(PATIENCE)
        heard.append(change.object.metadata.name)

    with mirror_of(loop, A1, B1) as mirror:
        mirror.add_handler(handler)
        assert begun.wait(PATIENCE)
        loop._loop.call_soon_threadsafe(loop._loop.call_later, 0.01, go_on.set)
    heard_at_the_end = list(heard)

    assert heard == heard_at_the_end == ["a"]


# The end


def test_a_mirror_whose_loop_has_ended_is_left_quietly(
    loop: LoopThread, caplog: pytest.LogCaptureFixture
) -> None:
    with mirror_of(loop, A1) as mirror:
        loop.stop()

        assert not mirror.is_live()
    assert caplog.records == []


def test_a_mirror_whose_loop_has_ended_lets_the_error_of_its_block_through(
    loop: LoopThread,
) -> None:
    with pytest.raises(LookupError), mirror_of(loop, A1):
        fail(after=loop.stop)


def closing_from_a_handler(
    mirror: BlockingMirror[ConfigMap], close: Callable[[], None]
) -> Exception | None:
    """What *close* raises in a handler of *mirror*; a witness must hear what happens later."""
    outcomes: list[Exception | None] = []
    closed, heard = threading.Event(), threading.Event()

    def handler(change: Change[ConfigMap]) -> None:
        try:
            close()
            outcomes.append(None)
        except Exception as error:  # noqa: BLE001 - this is what is asked
            outcomes.append(error)
        closed.set()

    def witness(change: Change[ConfigMap]) -> None:
        if change.object.metadata.resource_version == "2":
            heard.set()

    mirror.add_handler(witness)
    mirror.add_handler(handler)
    assert closed.wait(PATIENCE)
    happens(mirror._loop, mirror, A2)
    assert heard.wait(PATIENCE)
    return outcomes[0]


def test_a_handler_cannot_leave_its_own_mirror(loop: LoopThread) -> None:
    with mirror_of(loop, A1) as mirror:
        error = closing_from_a_handler(mirror, lambda: mirror.__exit__(None, None, None))

    assert isinstance(error, MisuseError)
    assert str(error).endswith("set an event for another thread to close it, and return")


def test_a_handler_cannot_end_the_loop(loop: LoopThread) -> None:
    with mirror_of(loop, A1) as mirror:
        error = closing_from_a_handler(mirror, loop.stop)

    assert isinstance(error, MisuseError)


def test_a_handler_in_a_foreign_thread_cannot_leave_its_own_mirror_either(
    loop: LoopThread,
) -> None:
    refused = threading.Event()

    with ThreadPoolExecutor(1) as executor, mirror_of(loop, A1) as mirror:

        def handler(change: Change[ConfigMap]) -> None:
            try:
                mirror.__exit__(None, None, None)
            except MisuseError:
                refused.set()

        mirror.add_handler(handler, executor=executor)

        assert refused.wait(PATIENCE)


def test_a_handler_may_leave_another_mirror(loop: LoopThread) -> None:
    with mirror_of(loop, A1) as mirror, mirror_of(loop, B1) as other:
        error = closing_from_a_handler(mirror, lambda: other.__exit__(None, None, None))

    assert error is None


# Changes


def test_changes_are_iterated_until_the_loop_is_left(loop: LoopThread) -> None:
    with mirror_of(loop, A1) as mirror:
        seen = []
        for change in mirror.changes():
            seen.append((change.type, change.object.metadata.resource_version))
            if change.type == "UPDATED":
                break
            happens(loop, mirror, A2)

        assert len(mirror._mirror.informer._handlers) == 0
    assert seen == [("ADDED", "1"), ("UPDATED", "2")]


def test_changes_end_when_another_thread_closes_the_mirror(loop: LoopThread) -> None:
    mirror = mirror_of(loop, A1)
    with ThreadPoolExecutor(1) as executor:
        with mirror:
            changes = mirror.changes()
            first = next(changes)
            rest = executor.submit(list[Change[ConfigMap]], changes)

        assert (first.object, rest.result(PATIENCE)) == (A1, [])


def test_an_iterator_that_was_kept_may_outlive_the_mirror(loop: LoopThread) -> None:
    with mirror_of(loop, A1) as mirror:
        changes = mirror.changes()
        next(changes)
    loop.stop()

    changes.close()  # type: ignore[attr-defined]  # a generator is an iterator that can be closed


def test_an_iterator_may_outlive_the_loop_inside_the_block(loop: LoopThread) -> None:
    with mirror_of(loop, A1) as mirror:
        changes = mirror.changes()
        next(changes)
        loop.stop()

        changes.close()  # type: ignore[attr-defined]  # a generator, as above


def test_it_has_what_the_mirror_has() -> None:
    def public(kind: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}

    attributes = {"namespace"}  # which a mirror has as a plain attribute
    assert public(BlockingMirror) - attributes - {"asynchronous"} == public(Mirror)


@pytest.mark.parametrize("name", ["get", "list", "by_index", "is_live", "add_handler", "changes"])
def test_it_is_asked_in_the_same_way(name: str) -> None:
    ours, theirs = getattr(BlockingMirror, name), getattr(Mirror, name)

    assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters


def test_it_says_what_it_is(loop: LoopThread) -> None:
    assert repr(mirror_of(loop)) == "<BlockingMirror configmaps in shop, 0 objects at ''>"


def test_a_coroutine_function_runs_on_the_loop(loop: LoopThread) -> None:
    told = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def handler(change: Change[ConfigMap]) -> None:
        loops.append(asyncio.get_running_loop())
        told.set()

    with mirror_of(loop, A1) as mirror:
        mirror.add_handler(handler)
        assert told.wait(PATIENCE)

    assert loops == [loop._loop]
