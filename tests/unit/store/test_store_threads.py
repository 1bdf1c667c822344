"""One thread writes a store, others read it: with a GIL and without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Final

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.watch_events import WatchEvent
from reflet.store.store import Store
from reflet.testing.scripted_source import added, deleted, modified
from tests.unit.store.config_maps import config_map
from tests.unit.store.stores import change, store_of

READERS: Final = 8
ROUNDS: Final = 400
NAMES: Final = ("a", "b", "c", "d")


@pytest.fixture(autouse=True)
def _threads_take_turns_often() -> Iterator[None]:
    """With a GIL a thread would otherwise run for many batches before another does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def users_at(number: int) -> str:
    return "even" if number % 2 == 0 else "odd"


def batch(number: int) -> Iterator[WatchEvent[ConfigMap]]:
    """Every object gets a version and moves in the index; a guest comes or goes."""
    for name in NAMES:
        yield modified(config_map(name, str(number), users=users_at(number)))
    guest = config_map("guest", str(number), users=users_at(number))
    yield added(guest) if number % 2 == 0 else deleted(guest)


def looks(store: Store[ConfigMap]) -> Iterator[list[ConfigMap]]:
    """What each way to read finds; every answer that is not empty shows one batch."""
    first = store.get("shop/a")  # may be of a batch that is not finished
    assert first is not None
    yield [first]
    yield store.objects()
    yield list(store.snapshot()[0].values())
    yield store.by_index("namespace", "shop")
    yield store.by_index("users", "even")
    yield store.by_index("users", "odd")
    yield store.sharing_index("users", first)


def read(store: Store[ConfigMap]) -> None:
    newest = 0
    for _ in range(ROUNDS):
        for found in looks(store):
            versions = {int(item.metadata.resource_version) for item in found}
            assert len(versions) <= 1, f"an answer out of several batches: {versions}"
            assert min(versions, default=newest) >= newest, f"{versions} after {newest}"
            newest = max(versions, default=newest)


def test_every_thread_sees_whole_batches_and_never_an_earlier_one() -> None:
    store = store_of(*(config_map(name, "0", users="even") for name in NAMES))

    with ThreadPoolExecutor(READERS) as threads:
        readers: list[Future[None]] = [threads.submit(read, store) for _ in range(READERS)]
        for number in count(1):
            change(store, *batch(number))
            if all(reader.done() for reader in readers):
                break

    assert [reader.exception() for reader in readers] == [None] * READERS


def test_an_object_shares_memory_with_others_before_it_can_be_read() -> None:
    store: Store[ConfigMap] = Store()
    seen: list[ConfigMap | None] = []

    class Label(str):
        """A text that looks into the store when labels are compared with those of others."""

        __slots__ = ()

        def __hash__(self) -> int:
            seen.append(store.get("shop/a"))
            return super().__hash__()

    labels: dict[str, str] = {Label("app"): "web"}
    seen.clear()

    change(store, added(ConfigMap(metadata=ObjectMeta(name="a", namespace="shop", labels=labels))))

    assert seen
    assert set(seen) == {None}
