"""The life of an informer, end to end with its reflector."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.watch_events import WatchEvent
from reflet.errors import ApiError, ConnectionRefused, Expired, MisuseError
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.registration import Registration
from reflet.informer.informer_errors import InformerStarted, InformerStopped, NotSynced
from reflet.informer.queues.intake import QueueKind
from reflet.informer.shared_informer import SharedInformer
from reflet.runtime.latch import Latch
from reflet.runtime.metrics import MemoryMetrics
from reflet.store.deltas import Changed, Replaced, Resynced
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    added,
    bookmark,
    deleted,
    listing,
    modified,
)
from reflet.testing.virtual_time import VirtualClock
from tests.unit.store.config_maps import config_map, users_of

pytestmark = pytest.mark.virtual_time

A1, A2, A3 = (config_map("a", version) for version in "123")
B1, B2, C1 = config_map("b", "1"), config_map("b", "2"), config_map("c", "1")
GONE = Expired("too old", code=410, reason="Expired")


def informer_of(source: ScriptedSource[ConfigMap], **options: Any) -> SharedInformer[ConfigMap]:
    settings = {"clock": VirtualClock(), "streaming": False, "on_error": lambda error: None}
    return SharedInformer(source, name="configmaps", **{**settings, **options})


def idle(**options: Any) -> SharedInformer[ConfigMap]:
    """An informer whose deltas the test applies itself."""
    return informer_of(ScriptedSource(), **options)


class Heard:
    def __init__(self) -> None:
        self.changes: list[Change[ConfigMap]] = []

    def __call__(self, change: Change[ConfigMap]) -> None:
        self.changes.append(change)

    @property
    def told(self) -> list[tuple[str, str, str]]:
        return [
            (change.type, change.object.metadata.name, change.object.metadata.resource_version)
            for change in self.changes
        ]


async def settled() -> None:
    """Let everybody deliver what waits."""
    await asyncio.sleep(0.001)


# From the server to the handlers


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_a_list_and_its_watch_reach_store_and_handlers(queue: QueueKind) -> None:
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1, B1)],
        watches=[[[modified(A2), deleted(B2)], added(C1), bookmark("9"), Quiet.HEALTHY]],
    )
    heard = Heard()
    informer = informer_of(source, queue=queue)
    informer.add_handler(heard)

    async with informer:
        await source.until_quiet()
        await settled()

    assert heard.told == [
        ("ADDED", "a", "1"),
        ("ADDED", "b", "1"),
        ("UPDATED", "a", "2"),
        ("DELETED", "b", "2"),
        ("ADDED", "c", "1"),
    ]
    assert [change.initial for change in heard.changes] == [True, True, False, False, False]
    assert (sorted(informer.store.keys()), informer.store.version) == (["shop/a", "shop/c"], "9")
    assert informer.last_version == "9"


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_a_streamed_list_is_as_good_as_a_list(queue: QueueKind) -> None:
    source = ScriptedSource[ConfigMap](
        watches=[[[added(A1), bookmark("5", ends_initial_events=True)], added(B1), Quiet.HEALTHY]]
    )
    heard = Heard()
    informer = informer_of(source, queue=queue, streaming=True)
    registration = informer.add_handler(heard)

    async with informer:
        await source.until_quiet()
        await settled()

    assert heard.told == [("ADDED", "a", "1"), ("ADDED", "b", "1")]
    assert [change.initial for change in heard.changes] == [True, False]
    assert registration.synced.is_set


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_what_happened_while_the_watch_was_away_is_told_after_the_new_list(
    queue: QueueKind,
) -> None:
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1, B1), listing("9", A1, C1)],
        watches=[[After(5), GONE], [Quiet.HEALTHY]],
    )
    informer = informer_of(source, queue=queue)

    async with informer:
        await informer.wait_synced()
        with informer.changes() as changes:
            seen = [await anext(changes) for _ in range(4)]

    assert seen[2:] == [Change("DELETED", B1, B1, stale=True), Change("ADDED", C1)] or seen[2:] == [
        Change("ADDED", C1),
        Change("DELETED", B1, B1, stale=True),
    ]


async def test_a_handler_that_reads_the_store_sees_at_least_what_it_is_told() -> None:
    informer = idle()
    seen: list[str] = []

    def read(change: Change[ConfigMap]) -> None:
        stored = informer.store.get(change.key)
        seen.append("" if stored is None else stored.metadata.resource_version)

    informer.add_handler(read)
    async with informer:
        informer.apply(Replaced([A1], "1"))
        informer.apply(Changed([modified(A2)]))
        await settled()

    assert seen == ["2", "2"]


async def test_a_slow_handler_holds_back_neither_the_store_nor_the_others() -> None:
    quick = Heard()

    async def slow(change: Change[ConfigMap]) -> None:
        await asyncio.sleep(3600)

    informer = idle()
    informer.add_handler(slow)
    informer.add_handler(quick)
    async with informer:
        informer.apply(Replaced([A1, B1], "1"))
        await settled()

        assert (len(quick.changes), len(informer.store)) == (2, 2)


async def test_the_transform_reaches_the_store_and_the_handlers() -> None:
    heard = Heard()
    informer = idle()
    informer.set_transform(lambda item: msgspec.structs.replace(item, data={"seen": "yes"}))
    informer.add_handler(heard)

    async with informer:
        informer.apply(Replaced([A1], "1"))
        informer.apply(Changed([modified(A2)]))
        await settled()

    assert [change.object.data for change in heard.changes] == [{"seen": "yes"}] * 2
    assert heard.changes[1].old is heard.changes[0].object
    assert heard.changes[1].object is informer.store.get("shop/a")


def fussy(item: ConfigMap) -> Any:
    """Neither an index function nor a transform that can digest b."""
    if item.metadata.name == "b":
        raise ValueError("no")
    return item


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"indexers": {"fussy": lambda item: [fussy(item).metadata.name]}}, {"a": "3", "b": "2"}),
        ({"transform": fussy}, {"a": "3"}),
    ],
    ids=["index", "transform"],
)
async def test_an_object_that_cannot_be_digested_keeps_it_neither_from_syncing_nor_from_following(
    queue: QueueKind, options: dict[str, Any], kept: dict[str, str]
) -> None:
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1, B1), listing("5", A2, B2)],
        watches=[[After(5), GONE], [After(5), modified(A3), Quiet.HEALTHY]],
    )
    informer = informer_of(source, queue=queue, **options)

    async with informer:
        await informer.wait_synced(timeout=1)
        await source.until_quiet()

    assert {
        item.metadata.name: item.metadata.resource_version for item in informer.store.objects()
    } == kept
    assert source.requests == [
        "list at '0'",
        "watch since '1'",
        "list at '1'",
        "watch since '5'",
    ]


async def test_what_is_left_out_is_counted_under_the_resource() -> None:
    metrics = MemoryMetrics()
    informer = idle(transform=fussy, metrics=metrics, resource="configmaps.v1")

    informer.apply(Replaced([A1, B1], "1"))

    labels = {"resource": "configmaps.v1", "place": "store"}
    assert metrics.counted("reflet_store_left_out_total", **labels) == 1


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_what_is_left_out_does_not_make_it_inconsistent(queue: QueueKind) -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("5", A1, B1), listing("5", A1, B1)])
    informer = informer_of(source, queue=queue, transform=fussy)
    async with informer:
        await source.until_quiet()
        assert informer.reflector is not None

        assert await informer.reflector.check_consistency(transform=fussy)


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_changes_are_told_of_objects_whose_version_the_transform_drops(
    queue: QueueKind,
) -> None:
    def without_metadata(item: ConfigMap) -> ConfigMap:
        metadata = ObjectMeta(name=item.metadata.name, namespace="shop")
        return ConfigMap(metadata=metadata, data={"seen": item.metadata.resource_version})

    informer = idle(queue=queue, transform=without_metadata)
    async with informer:
        changes = informer.changes()
        informer.apply(Replaced([A1], "1"))
        informer.apply(Replaced([A1], "1"))
        informer.apply(Changed([modified(A2)]))

        heard = [(change.type, change.object.data["seen"]) for change in await changes.next_batch()]

    assert heard == [("ADDED", "1"), ("UPDATED", "2")]
    assert informer.store.version == "2"


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_an_event_of_an_unknown_type_is_skipped_and_the_version_moves(
    queue: QueueKind,
) -> None:
    strange: Any = "RENAMED"
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1)],
        watches=[[[WatchEvent(type=strange, object=A2)], Quiet.HEALTHY]],
    )
    informer = informer_of(source, queue=queue)

    async with informer:
        await source.until_quiet()

    assert informer.store.snapshot() == ({"shop/a": A1}, "2")
    assert informer.last_version == "2"


# Repetitions


async def test_a_relist_repeats_nothing_once_a_check_has_happened() -> None:
    never, due = Heard(), Heard()
    informer = idle(resync_every=10)
    informer.add_handler(never, resync_every=0)
    informer.add_handler(due)

    async with informer:
        informer.apply(Replaced([A1, B1], "1"))
        await settled()
        informer._audience.plan.check(11.0)
        informer.apply(Replaced([A1, B2], "5"))
        informer.apply(Resynced())
        await settled()

    assert never.told[2:] == [("UPDATED", "b", "2")]
    assert due.told[2:] == [
        ("UPDATED", "a", "1"),
        ("UPDATED", "b", "2"),
        ("UPDATED", "a", "1"),
        ("UPDATED", "b", "2"),
    ]


async def test_a_watch_that_repeats_a_version_tells_only_who_is_due() -> None:
    heard = Heard()
    informer = idle(resync_every=10)
    informer.add_handler(heard, resync_every=0)

    async with informer:
        informer.apply(Replaced([A1], "1"))
        informer._audience.plan.check(11.0)
        informer.apply(Changed([modified(A1), modified(A2)]))
        await settled()

    assert heard.told == [("ADDED", "a", "1"), ("UPDATED", "a", "2")]


async def test_a_resync_runs_beside_the_watch_for_whoever_does_not_decline() -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("1", A1)])
    heard, rarely, never = Heard(), Heard(), Heard()
    informer = informer_of(source, resync_every=30)
    informer.add_handler(heard)
    informer.add_handler(rarely, resync_every=60)
    informer.add_handler(never, resync_every=0)

    async with informer:
        await asyncio.sleep(100)

    assert heard.told == [("ADDED", "a", "1")] + [("UPDATED", "a", "1")] * 3
    assert rarely.told == [("ADDED", "a", "1"), ("UPDATED", "a", "1")]
    assert never.told == [("ADDED", "a", "1")]


async def test_where_resync_is_never_configured_a_new_list_is_told_to_everybody_in_full() -> None:
    heard = Heard()
    informer = idle()
    informer.add_handler(heard)

    async with informer:
        informer.apply(Replaced([A1, B1], "1"))
        informer.apply(Replaced([A1, B2], "5"))
        await settled()

    assert heard.told[2:] == [("UPDATED", "a", "1"), ("UPDATED", "b", "2")]


# Joining and leaving


async def test_who_joins_late_is_told_the_present_state_and_is_synced_after_it() -> None:
    informer = idle()
    async with informer:
        informer.apply(Replaced([A1], "1"))
        informer.apply(Changed([added(B1)]))
        heard = Heard()
        registration = informer.add_handler(heard)
        before = registration.synced.is_set
        await settled()

    assert (before, registration.synced.is_set) == (False, True)
    assert heard.changes == [
        Change("ADDED", A1, initial=True),
        Change("ADDED", B1, initial=True),
    ]


async def test_events_before_the_first_list_do_not_keep_a_handler_from_being_synced() -> None:
    informer = idle()
    registration = informer.add_handler(Heard())
    async with informer:
        informer.apply(Changed([added(A1)]))
        informer.apply(Replaced([A1, B1], "2"))
        await settled()

    assert registration.synced.is_set


async def test_a_list_with_an_object_twice_does_not_keep_a_handler_from_being_synced() -> None:
    informer = idle()
    registration = informer.add_handler(Heard())
    async with informer:
        informer.apply(Replaced([A1, A2], "2"))
        await settled()

    assert registration.synced.is_set


async def test_who_is_removed_hears_nothing_more() -> None:
    heard = Heard()
    informer = idle()
    registration = informer.add_handler(heard)
    async with informer:
        informer.apply(Replaced([A1], "1"))
        await settled()
        informer.apply(Changed([modified(A2)]))
        informer.remove_handler(registration)
        informer.remove_handler(registration)
        informer.apply(Changed([modified(A3)]))
        await settled()

    assert heard.told == [("ADDED", "a", "1")]


async def test_the_registration_of_another_informer_is_ignored() -> None:
    registration = idle().add_handler(Heard())

    idle().remove_handler(registration)


async def test_what_is_no_registration_cannot_be_removed() -> None:
    nonsense: Any = 5

    with pytest.raises(TypeError, match=r"^invalid key type int$"):
        idle().remove_handler(nonsense)


async def test_a_handler_that_is_added_twice_is_told_twice() -> None:
    heard = Heard()
    informer = idle()
    informer.add_handler(heard)
    informer.add_handler(heard)
    async with informer:
        informer.apply(Replaced([A1], "1"))
        await settled()

    assert heard.told == [("ADDED", "a", "1")] * 2


async def test_changes_may_be_asked_for_before_the_start() -> None:
    informer = idle()
    stream = informer.changes()
    async with informer:
        informer.apply(Replaced([A1], "1"))

        assert await anext(stream) == Change("ADDED", A1, initial=True)


async def test_changes_end_when_the_informer_stops() -> None:
    informer = idle()

    async def followed() -> list[str]:
        return [change.key async for change in informer.changes()]

    async with informer:
        following = asyncio.create_task(followed())
        informer.apply(Replaced([A1], "1"))
        await settled()

    assert await following == ["shop/a"]


async def test_changes_repeat_nothing_unless_they_are_asked_to() -> None:
    informer = idle(resync_every=10)
    async with informer:
        informer.apply(Replaced([A1], "1"))
        news, everything = informer.changes(resync_every=0), informer.changes()
        informer.apply(Resynced())
        informer.apply(Changed([modified(A2)]))

        heard_news = list(await news.next_batch())
        heard_everything = list(await everything.next_batch())

    assert [change.is_resync for change in heard_news] == [False, False]
    assert [change.is_resync for change in heard_everything] == [False, True, False]


# Life


async def test_an_informer_lives_once() -> None:
    informer = idle()
    async with informer:
        pass

    with pytest.raises(InformerStarted, match="it lives once"):
        await informer.__aenter__()


async def test_settings_come_too_late_after_the_start() -> None:
    informer = idle()
    async with informer:
        with pytest.raises(InformerStarted, match=r"^informer has already started$"):
            informer.set_transform(lambda item: item)
        with pytest.raises(InformerStarted, match=r"^informer has already started$"):
            informer.set_error_handler(print)


async def test_indexers_may_be_added_until_it_stops() -> None:
    informer = idle()
    async with informer:
        informer.apply(Replaced([config_map("a", users="x")], "1"))
        informer.add_indexers({"users": users_of})

    assert informer.store.index_keys("users", "x") == ["shop/a"]
    with pytest.raises(
        InformerStopped, match=r"^indexer was not added because it has stopped already$"
    ):
        informer.add_indexers({"more": users_of})


async def test_nobody_joins_an_informer_that_has_stopped() -> None:
    informer = idle()
    async with informer:
        pass

    with pytest.raises(
        InformerStopped,
        match=r"^handler mine was not added to shared informer because it has stopped already$",
    ):
        informer.add_handler(print, name="mine")
    with pytest.raises(InformerStopped):
        informer.changes()


async def test_it_is_started_for_ever_and_stopped_at_its_end() -> None:
    informer = idle()
    states = [(informer.is_started, informer.is_stopped)]
    async with informer:
        states.append((informer.is_started, informer.is_stopped))
    states.append((informer.is_started, informer.is_stopped))

    assert states == [(False, False), (True, False), (True, True)]


async def test_options_that_do_not_exist_leave_nothing_behind() -> None:
    informer = informer_of(ScriptedSource(), nonsense=5)
    informer.add_handler(Heard())

    with pytest.raises(TypeError, match="nonsense"):
        await informer.__aenter__()

    assert not informer.is_started


async def test_running_ends_when_it_is_cancelled() -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("1", A1)])
    informer = informer_of(source)
    running = asyncio.create_task(informer.run())
    await source.until_quiet()

    running.cancel()
    await asyncio.wait((running,))

    assert (running.cancelled(), informer.is_stopped, source.open_watches) == (True, True, 0)


async def test_no_thread_of_a_handler_outlives_it_even_if_leaving_it_is_cancelled() -> None:
    begun, go_on = Latch(), threading.Event()
    ended: list[bool] = []

    def waits(change: Change[ConfigMap]) -> None:
        begun.set()
        ended.append(go_on.wait(30))

    async def live() -> None:
        async with idle() as informer:
            informer.add_handler(waits, executor=executor)
            informer.apply(Replaced([A1], "1"))
            await begun.wait()

    with ThreadPoolExecutor(1) as executor:
        living = asyncio.create_task(live())
        await begun.wait()
        await settled()  # it is leaving now
        living.cancel()
        asyncio.get_running_loop().call_later(0.01, go_on.set)
        await asyncio.wait((living,))
        ended_before_it_did = list(ended)
        go_on.set()

    assert ended_before_it_did == [True]


async def test_metrics_that_fail_do_not_keep_it_from_following(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Failing(MemoryMetrics):
        def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
            raise OSError("the backend is away")

        gauge = observe = count

    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1)], watches=[[After(5), modified(A2), Quiet.HEALTHY]]
    )
    heard = Heard()
    informer = informer_of(source, metrics=Failing())
    informer.add_handler(heard)

    async with informer:
        await source.until_quiet()
        await settled()

    assert heard.told == [("ADDED", "a", "1"), ("UPDATED", "a", "2")]
    said = [record.getMessage() for record in caplog.records]
    assert len(set(said)) == len(said)
    assert "reflet_handler_waiting is not reported: OSError('the backend is away')" in said


async def test_who_waits_too_long_is_told_for_whom() -> None:
    async with idle() as informer:
        with pytest.raises(NotSynced, match=r"^not synced after 5 s: configmaps \("):
            await informer.wait_synced(timeout=5)


async def test_who_waits_for_an_informer_that_stops_is_told_so() -> None:
    informer = idle()
    async with informer:
        waiting = asyncio.create_task(informer.wait_synced())
        await settled()

    with pytest.raises(InformerStopped, match="stopped before it was synced"):
        await waiting


async def test_the_error_handler_hears_why_a_list_failed() -> None:
    errors: list[Exception] = []
    source = ScriptedSource[ConfigMap](lists=[ApiError("no", code=500), listing("1", A1)])
    informer = informer_of(source)
    informer.set_error_handler(errors.append)

    async with informer:
        await informer.wait_synced()

    assert ["no" in str(error) for error in errors] == [True]


async def test_where_nobody_wants_to_hear_why_a_list_failed_it_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = ScriptedSource[ConfigMap](lists=[ApiError("no", code=500), listing("1", A1)])

    async with informer_of(source, on_error=None) as informer:
        await informer.wait_synced()

    assert "configmaps: Failed to watch configmaps: failed to list configmaps: no" in caplog.text


async def test_whoever_follows_the_connection_is_told_beside_those_who_wait_to_be_synced() -> None:
    connection: list[Exception | None] = []
    refused = ConnectionRefused("nobody listens")
    source = ScriptedSource[ConfigMap](lists=[refused, listing("1", A1)])

    async with informer_of(source, on_connection=connection.append) as informer:
        await informer.wait_synced()

    assert connection == [refused, None]


async def test_it_says_what_it_holds() -> None:
    informer = idle()
    informer.apply(Replaced([A1], "7"))

    assert repr(informer) == "<SharedInformer configmaps, 1 objects at ''>"
    assert informer.reflector is None
    assert informer.lister().get("a", namespace="shop") == A1


async def test_a_registration_is_named_after_its_handler() -> None:
    registration: Registration[ConfigMap] = idle().add_handler(Heard())

    assert registration.name == "Heard"


async def test_its_contents_can_be_compared_with_the_server() -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("5", A1), listing("5", A1, B1)])
    informer = informer_of(source)
    async with informer:
        await source.until_quiet()
        assert informer.reflector is not None
        result = await informer.reflector.check_consistency()

    assert result is not None
    assert result.missing == ("shop/b",)


@pytest.mark.parametrize("wrong", [TypeError("two were given"), MisuseError("another loop")])
async def test_a_program_that_is_wrong_is_not_waited_for(wrong: Exception) -> None:
    source = ScriptedSource[ConfigMap](watches=[wrong])
    informer = SharedInformer(source, name="configmaps")

    async def live() -> None:
        async with informer:
            with pytest.raises(type(wrong)):
                await informer.wait_synced()

    with pytest.raises(ExceptionGroup) as raised:  # of the informer's tasks, when it is left
        await live()

    assert raised.value.exceptions == (wrong,)


async def test_whoever_waits_for_the_end_of_watching_gets_the_mistake_that_brought_it() -> None:
    informer = informer_of(ScriptedSource(lists=[TypeError("two were given")]))
    await informer.__aenter__()

    with pytest.raises(TypeError, match="two were given"):
        await informer.watching_ended()
    with pytest.raises(ExceptionGroup):
        await informer.__aexit__(None, None, None)


async def test_watching_ends_with_the_informer() -> None:
    async with informer_of(ScriptedSource(watches=[[Quiet.HEALTHY]])) as informer:
        waiting = asyncio.create_task(informer.watching_ended())
        await asyncio.sleep(1.0)
        early = waiting.done()

    await waiting
    assert not early


async def test_an_informer_that_was_not_started_watches_nothing() -> None:
    with pytest.raises(MisuseError, match="not started"):
        await idle().watching_ended()
