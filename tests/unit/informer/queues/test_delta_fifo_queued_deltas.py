"""The kinds of queued deltas, and when a queue is synced."""

from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import RefletError
from reflet.informer.queues.delta_fifo import (
    DeltaType,
    InitialList,
    QueueClosed,
    QueuedDelta,
)
from reflet.store.keys import Tombstone
from tests.unit.store.config_maps import config_map


def test_a_delta_has_the_key_of_its_object() -> None:
    assert QueuedDelta(DeltaType.ADDED, config_map("a")).key == "shop/a"


def test_a_deletion_has_the_key_of_its_tombstone() -> None:
    tombstone = Tombstone[ConfigMap]("x/y", None)

    assert QueuedDelta[ConfigMap](DeltaType.DELETED, tombstone).key == "x/y"


def test_a_delta_about_the_whole_collection_has_no_key() -> None:
    with pytest.raises(RefletError, match="SyncAll is not about one object"):
        _ = QueuedDelta[ConfigMap](DeltaType.SYNC_ALL).key


def test_a_list_is_synced_when_all_of_it_went_through() -> None:
    initial = InitialList()
    initial.begin(3)

    seen = []
    for _ in range(3):
        seen.append((initial.left, initial.synced.is_set))
        initial.passed(1)

    assert seen == [(3, False), (2, False), (1, False)]
    assert initial.synced.is_set


def test_an_empty_list_is_synced_at_once() -> None:
    initial = InitialList()

    initial.begin(0)

    assert initial.synced.is_set


def test_a_change_before_any_list_means_there_is_none_to_wait_for() -> None:
    initial = InitialList()

    initial.skip()
    initial.begin(5)

    assert (initial.synced.is_set, initial.left) == (True, 0)


def test_more_than_the_list_may_go_through() -> None:
    initial = InitialList()
    initial.begin(2)

    initial.passed(5)
    initial.passed(5)

    assert (initial.synced.is_set, initial.left) == (True, 0)


def test_a_closed_queue_says_so_as_client_go_does() -> None:
    assert str(QueueClosed()) == "DeltaFIFO: manipulating with closed queue"
