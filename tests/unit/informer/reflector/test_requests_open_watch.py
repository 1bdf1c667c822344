from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.options import WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.errors import Forbidden, TransportError
from reflet.informer.reflector.requests import OpenWatch
from reflet.testing.scripted_source import ScriptedSource, Step, added

A, B = (ConfigMap(metadata=ObjectMeta(name=name, resource_version="7")) for name in "ab")


async def opened(
    *script: Step[ConfigMap],
) -> tuple[OpenWatch[ConfigMap], ScriptedSource[ConfigMap]]:
    source = ScriptedSource[ConfigMap](watches=[script])
    context = source.watch(WatchOptions(), silence=None)
    return await OpenWatch.open(context, opened_at="5", since=0.0), source


async def test_batches_come_as_they_arrive_and_then_the_end() -> None:
    watch, _ = await opened([added(A), added(B)], added(A))

    assert await watch.next_batch() == [added(A), added(B)]
    assert await watch.next_batch() == [added(A)]
    assert await watch.next_batch() is None
    await watch.close()


async def test_a_refused_watch_raises_when_it_is_opened() -> None:
    source = ScriptedSource[ConfigMap](watches=[Forbidden("no")])

    with pytest.raises(Forbidden):
        await OpenWatch.open(source.watch(WatchOptions(), silence=None), opened_at="", since=0.0)


async def test_closing_in_the_middle_closes_the_stream_and_what_reads_it() -> None:
    ended = []

    class Stream:
        received_bytes = 0

        async def batches(self) -> AsyncIterator[Sequence[WatchEvent[ConfigMap]]]:
            try:
                yield [added(A)]
                yield [added(B)]
            finally:
                ended.append("batches")

    @asynccontextmanager
    async def context() -> AsyncIterator[Stream]:
        yield Stream()
        ended.append("stream")

    watch: OpenWatch[ConfigMap] = await OpenWatch.open(context(), opened_at="", since=0.0)
    await watch.next_batch()
    await watch.close()

    assert ended == ["batches", "stream"]


async def test_closing_twice_changes_nothing() -> None:
    watch, source = await opened(added(A))

    await watch.close()
    await watch.close()

    assert source.open_watches == 0


async def test_a_stream_that_does_not_close_cleanly_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @asynccontextmanager
    async def context() -> AsyncIterator[_Empty]:
        yield _Empty()
        raise TransportError("reset while closing")

    watch: OpenWatch[ConfigMap] = await OpenWatch.open(context(), opened_at="", since=0.0)
    await watch.close()

    assert "did not close cleanly" in caplog.text


async def test_what_was_read_too_much_comes_first_after_the_hand_over() -> None:
    watch, _ = await opened([added(A), added(B)])
    watch.events = 9
    watch.position.ordered = False
    await watch.next_batch()

    watch.hand_over([added(B)], version="12")

    assert await watch.next_batch() == [added(B)]
    assert await watch.next_batch() is None
    assert (watch.opened_at, watch.events, watch.position.ordered) == ("12", 0, True)
    await watch.close()


async def test_bytes_are_counted_once() -> None:
    watch, _ = await opened([added(A), added(B)], added(A))

    await watch.next_batch()
    assert (watch.new_bytes(), watch.new_bytes()) == (2, 0)
    await watch.next_batch()
    assert watch.new_bytes() == 1
    await watch.close()


class _Empty:
    received_bytes = 0

    async def batches(self) -> AsyncIterator[Sequence[WatchEvent[ConfigMap]]]:
        return
        yield
