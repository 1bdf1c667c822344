"""The life of an informer, end to end with its reflector."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import ApiError, ConnectionRefused, MisuseError
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.registration import Registration
from reflet.informer.reflector.endings import ReflectorState
from reflet.informer.shared_informer import (
    InformerStarted,
    InformerStopped,
    NotSynced,
    SharedInformer,
)
from reflet.runtime.latch import Latch
from reflet.runtime.metrics import MemoryMetrics
from reflet.store.deltas import Replaced
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    listing,
    modified,
)
from tests.unit.informer.informers import (
    A1,
    A2,
    B1,
    Heard,
    idle,
    informer_of,
    settled,
)
from tests.unit.store.config_maps import config_map, users_of

pytestmark = pytest.mark.virtual_time


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
    assert informer.reflector.state is ReflectorState.STOPPED
    assert informer.lister().get("a", namespace="shop") == A1


async def test_a_registration_is_named_after_its_handler() -> None:
    registration: Registration[ConfigMap] = idle().add_handler(Heard())

    assert registration.name == "Heard"


async def test_its_contents_can_be_compared_with_the_server() -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("5", A1), listing("5", A1, B1)])
    informer = informer_of(source)
    async with informer:
        await source.until_quiet()
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
