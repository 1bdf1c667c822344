"""Whatever fails, and however: once it stops failing, the mirror equals the server."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflet.api.core.config import ConfigMap
from reflet.informer.reflector.reflector import Reflector
from reflet.runtime.metrics import MemoryMetrics
from reflet.store.deltas import Changed, Delta, Replaced
from reflet.store.store import Store
from reflet.testing import virtual_time
from reflet.testing.virtual_time import VirtualClock
from tests.properties.history_server import Fault, HistoryServer, Trouble

LONG_ENOUGH = 1200.0  # seconds after the last fault; more than any back-off and any silence
MOST_REQUESTS_OF_A_PASS = 7  # besides pages: four streams, two lists, one watch

requests_with_trouble = st.builds(Fault, st.sampled_from(Trouble))
streams_with_trouble = st.builds(Fault, st.sampled_from(Trouble), st.integers(0, 4))
faults = st.lists(st.one_of(requests_with_trouble, streams_with_trouble), max_size=20)


@dataclass(frozen=True)
class Happening:
    """After *pause* seconds an object is put, deleted, or the history is compacted."""

    pause: float
    what: str
    name: str


histories = st.lists(
    st.builds(
        Happening,
        st.sampled_from([0.0, 0.0, 0.3, 2.0, 40.0]),
        st.sampled_from(["put", "put", "delete", "compact"]),
        st.sampled_from("abcd"),
    ),
    max_size=25,
)


@dataclass
class WatchfulStore:
    """A store that notes the versions in the order in which it is told them."""

    store: Store[ConfigMap] = field(default_factory=Store)
    replaced_at: list[int] = field(default_factory=list)
    went_back: list[str] = field(default_factory=list)
    newest: int = 0

    def apply(self, delta: Delta[ConfigMap], /) -> None:
        self.store.apply(delta)
        match delta:
            case Replaced(version=version):
                if int(version) < self.newest:
                    self.went_back.append(f"replaced at {version} after {self.newest}")
                self.newest = int(version)
            case Changed(events=events):
                for event in events:
                    version = event.object.metadata.resource_version
                    if int(version) < self.newest + (event.type != "BOOKMARK"):
                        self.went_back.append(f"{event.type} {version} after {self.newest}")
                    self.newest = int(version)
            case _:
                pass


async def happen(history: list[Happening], server: HistoryServer) -> None:
    for happening in history:
        await asyncio.sleep(happening.pause)
        match happening.what:
            case "put":
                server.put(happening.name)
            case "delete":
                server.delete(happening.name)
            case _:
                server.compact()


@asynccontextmanager
async def mirrored(
    server: HistoryServer, sink: WatchfulStore, metrics: MemoryMetrics, **options: bool | float
) -> AsyncIterator[Reflector[ConfigMap]]:
    reflector = Reflector(
        server,
        sink,
        clock=VirtualClock(),
        metrics=metrics,
        held=sink.store,
        streaming=bool(options.get("streaming", True)),
        page_size=int(options.get("page_size", 0)),
        internal_error_window=options.get("window", 0.0),
    )
    running = asyncio.create_task(reflector.run())
    try:
        yield reflector
    finally:
        running.cancel()
        await asyncio.wait((running,))


@settings(max_examples=300, deadline=None)
@given(
    history=histories,
    troubles=faults,
    streaming=st.booleans(),
    supported=st.booleans(),
    page_size=st.sampled_from([0, 0, 1, 2]),
    window=st.sampled_from([0.0, 30.0]),
)
def test_once_the_faults_stop_the_sink_equals_the_server(
    history: list[Happening],
    troubles: list[Fault],
    streaming: bool,
    supported: bool,
    page_size: int,
    window: float,
) -> None:
    async def scene() -> None:
        server = HistoryServer(troubles, streaming=supported)
        sink, metrics = WatchfulStore(), MemoryMetrics()
        mirror = mirrored(
            server, sink, metrics, streaming=streaming, page_size=page_size, window=window
        )
        async with mirror as reflector:
            await happen(history, server)
            server.heal()
            await asyncio.sleep(LONG_ENOUGH)

            assert dict(zip(sink.store.keys(), sink.store.objects(), strict=True)) == server.objects
            assert reflector.last_version == sink.store.version == str(server.version)
            assert sink.went_back == []
            assert await reflector.check_consistency()
        assert server.open_watches == 0

    virtual_time.run(scene())


@settings(max_examples=60, deadline=None)
@given(
    history=histories,
    troubles=st.lists(
        st.one_of(requests_with_trouble, streams_with_trouble), min_size=1, max_size=4
    ),
    streaming=st.booleans(),
    window=st.sampled_from([0.0, 30.0]),
)
def test_requests_stay_under_the_bound_of_the_back_off_while_faults_last(
    history: list[Happening], troubles: list[Fault], streaming: bool, window: float
) -> None:
    """The faults come round for ever: all requests but a few for each delay must be waited for."""

    def for_ever() -> Iterator[Fault]:
        while True:
            yield from troubles

    async def scene() -> None:
        server = HistoryServer(for_ever())
        sink, metrics = WatchfulStore(), MemoryMetrics()
        async with mirrored(server, sink, metrics, streaming=streaming, window=window):
            await happen(history, server)
            await asyncio.sleep(600)
            elapsed = VirtualClock().monotonic()
            delays = metrics.counted("reflet_reflector_delays_total", resource="reflector")

            assert server.requests <= MOST_REQUESTS_OF_A_PASS * (delays + 1) + 2 * elapsed
            assert sink.went_back == []

    virtual_time.run(scene())


@pytest.mark.parametrize("after", [None, 0, 1], ids=["request", "stream", "stream-after-an-event"])
@pytest.mark.parametrize("trouble", Trouble)
def test_no_fault_that_lasts_for_an_hour_becomes_a_hot_loop(
    trouble: Trouble, after: int | None
) -> None:
    async def scene() -> None:
        server = HistoryServer(itertools.repeat(Fault(trouble, after)))
        server.put("a")
        sink, metrics = WatchfulStore(), MemoryMetrics()
        async with mirrored(server, sink, metrics, window=30.0):
            await asyncio.sleep(3600)

            assert server.requests <= 1000  # delays of a minute at most, a few requests each

    virtual_time.run(scene())
