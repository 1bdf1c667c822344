"""Who fits the place where a reflector puts what it learns."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.informer.queues.delta_fifo import DeltaFifo
from reflet.informer.queues.ordered_queue import OrderedQueue
from reflet.store.deltas import Changed, Put, Remove, Replaced, Resynced, Sink
from reflet.store.keys import Tombstone
from reflet.store.store import Store
from reflet.testing.scripted_source import added, bookmark, modified
from tests.unit.store.config_maps import config_map


def sinks() -> list[Sink[ConfigMap]]:
    return [Store[ConfigMap](), DeltaFifo[ConfigMap](), OrderedQueue[ConfigMap]()]


@pytest.mark.parametrize("sink", sinks(), ids=lambda sink: type(sink).__name__)
@pytest.mark.parametrize(
    "delta",
    [
        Replaced([config_map("a", "1")], "1"),
        Changed([added(config_map("b", "2")), modified(config_map("a", "3")), bookmark("4")]),
        Resynced(),
    ],
    ids=lambda delta: type(delta).__name__,
)
def test_a_sink_takes_every_kind_of_delta(sink: Sink[ConfigMap], delta: Any) -> None:
    sink.apply(delta)


def test_deltas_with_the_same_content_are_equal() -> None:
    assert Replaced([config_map("a")], "1") == Replaced([config_map("a")], "1")


def test_every_generic_value_can_be_made_with_its_type_named() -> None:
    a = config_map("a")

    assert Replaced[ConfigMap]([a], "1") == Replaced([a], "1")
    assert Changed[ConfigMap]([]) == Changed([])
    assert Put[ConfigMap](a) == Put(a)
    assert Remove[ConfigMap](a) == Remove(a)
    assert Tombstone[ConfigMap]("shop/a", a) == Tombstone("shop/a", a)
