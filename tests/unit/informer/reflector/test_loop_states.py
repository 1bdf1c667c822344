"""What the loop says that it is doing."""

from __future__ import annotations

import asyncio

import pytest

from reflet.errors import ConnectionRefused, Expired, Invalid
from reflet.informer.reflector.endings import ReflectorState
from reflet.informer.reflector.reflector import Reflector
from reflet.testing.scripted_source import After, Quiet, added, bookmark, listing
from tests.unit.informer.mirrors import Mirror, config_map

pytestmark = pytest.mark.virtual_time

A = config_map("a", "1")
END = bookmark("9", ends_initial_events=True)
REFUSED = ConnectionRefused("refused")


@pytest.mark.parametrize(
    ("watches", "moment", "state"),
    [
        ([[After(5), END, Quiet.HEALTHY]], 1, ReflectorState.WATCH_LIST),
        ([REFUSED], 0.5, ReflectorState.BACKING_OFF),
        ([[END, Quiet.HEALTHY]], 1, ReflectorState.WATCHING),
        ([[END, After(5)], REFUSED], 5.5, ReflectorState.BACKING_OFF),
        ([Invalid("no", code=422)], 1, ReflectorState.WATCHING),
    ],
    ids=["filling", "away", "filled", "away later", "listed"],
)
async def test_it_is_in_one_state_at_a_time(
    watches: list[object], moment: float, state: ReflectorState
) -> None:
    mirror = Mirror(streaming=True, lists=[listing("9", A)], watches=watches)  # type: ignore[arg-type]  # scripts

    async with mirror.running() as reflector:
        await asyncio.sleep(moment)

        assert reflector.state is state
    assert mirror.reflector.state is ReflectorState.STOPPED


async def test_it_lists_and_opens_watches_in_states_of_their_own() -> None:
    mirror = Mirror(lists=[listing("5", A), listing("7")], watches=[[added(A), After(5)]])
    seen = []
    page, watch = mirror.source.page, mirror.source.watch

    async def noted_page(options, /):  # type: ignore[no-untyped-def]  # as the source has it
        seen.append(mirror.reflector.state)
        return await page(options)

    def noted_watch(options, /, *, silence):  # type: ignore[no-untyped-def]  # as the source has it
        seen.append(mirror.reflector.state)
        return watch(options, silence=silence)

    mirror.source.page, mirror.source.watch = noted_page, noted_watch  # type: ignore[method-assign]  # to look in

    await mirror.run_for(5.1)

    assert seen == [
        ReflectorState.LIST,
        ReflectorState.BETWEEN_WATCHES,
        ReflectorState.BETWEEN_WATCHES,
    ]


async def test_a_second_410_in_a_minute_backs_off_between_two_passes() -> None:
    gone = Expired("too old resource version", code=410, reason="Expired")
    mirror = Mirror(
        lists=[listing("5")] * 3, watches=[[added(A), gone], [added(A), gone], [Quiet.HEALTHY]]
    )

    async with mirror.running() as reflector:
        await asyncio.sleep(0.5)
        states = [reflector.state]
        await asyncio.sleep(0.5)
        states.append(reflector.state)

    assert states == [ReflectorState.BACKING_OFF, ReflectorState.WATCHING]


async def test_a_source_of_somebodys_own_needs_no_gate() -> None:
    mirror = Mirror(lists=[listing("5")], watches=[[Quiet.HEALTHY]])
    del mirror.source.gate
    reflector = Reflector(mirror.source, mirror.store, streaming=False)
    running = asyncio.create_task(reflector.run())

    await mirror.source.until_quiet()

    assert (reflector.state, mirror.source.requests) == (
        ReflectorState.WATCHING,
        ["list at '0'", "watch since '5'"],
    )
    running.cancel()
    await asyncio.wait((running,))
    assert reflector.state is ReflectorState.STOPPED
