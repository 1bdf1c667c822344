"""From deltas to the store, and what is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import RefletError
from reflet.informer.handlers.changes import Change
from reflet.informer.process_deltas import BatchFailed, Updater
from reflet.informer.queues.delta_fifo import DeltaType, QueuedDelta
from reflet.store.keys import Tombstone
from reflet.store.store import Store
from reflet.testing.scripted_source import added, bookmark, deleted, modified
from tests.unit.store.config_maps import Keyless, config_map

A1, A2, A3 = (config_map("a", version) for version in "123")
B1, B2, C1 = config_map("b", "1"), config_map("b", "2"), config_map("c", "1")


class Scene:
    """An updater, its store, and everything it told with what the store showed then."""

    def __init__(self, *present: ConfigMap) -> None:
        self.store: Store[ConfigMap] = Store()
        self.store.replace(present, "1")
        self.told: list[Change[ConfigMap]] = []
        self.shown: list[dict[str, str]] = []
        self.repeated: list[bool] = []
        self.updater = Updater(self.store, self._tell)

    def _tell(self, changes: Sequence[Change[ConfigMap]], *, repeated: bool) -> None:
        self.told += changes
        self.repeated.append(repeated)
        self.shown.append(self.content)

    @property
    def content(self) -> dict[str, str]:
        items, _ = self.store.snapshot()
        return {key: item.metadata.resource_version for key, item in items.items()}


def without_b_or_version_2(item: ConfigMap) -> ConfigMap:
    if item.metadata.name == "b" or item.metadata.resource_version == "2":
        raise ValueError("no")
    return item


def test_events_are_told_as_what_they_mean_to_the_store() -> None:
    scene = Scene(A1)

    scene.updater.changed(
        [added(A2), modified(B1), deleted(B2), deleted(C1), bookmark("9"), added(B1)]
    )

    assert scene.told == [
        Change("UPDATED", A2, A1),
        Change("ADDED", B1),
        Change("DELETED", B2, B1),
        Change("DELETED", C1, None),
        Change("ADDED", B1),
    ]


def test_the_store_changes_before_anybody_is_told() -> None:
    scene = Scene(A1)

    scene.updater.changed([modified(A2), added(B1)])

    assert scene.shown == [{"shop/a": "2", "shop/b": "1"}]


@pytest.mark.parametrize(("event", "repeated"), [(modified(A1), True), (modified(A2), False)])
def test_an_event_that_brings_a_known_version_is_a_repetition(event: Any, repeated: bool) -> None:
    scene = Scene(A1)

    scene.updater.changed([event])

    assert scene.repeated == [repeated]


def test_an_object_that_the_transform_cannot_digest_any_more_is_a_stale_deletion() -> None:
    scene = Scene(A1)
    scene.store.set_transform(without_b_or_version_2)

    scene.updater.changed([added(B1), modified(A2), modified(A3)])

    assert scene.told == [Change("DELETED", A1, A1, stale=True), Change("ADDED", A3)]


def test_an_object_of_a_list_that_the_transform_cannot_digest_is_a_stale_deletion() -> None:
    scene = Scene(A1)
    scene.store.set_transform(without_b_or_version_2)

    scene.updater.replaced([A2, B1, C1], "7", initial=False)

    assert scene.told == [Change("DELETED", A1, A1, stale=True), Change("ADDED", C1)]


def test_a_list_is_told_as_the_difference_deletions_first() -> None:
    scene = Scene(A1, B1)

    scene.updater.replaced([C1, A2], "7", initial=False)

    assert scene.told == [
        Change("DELETED", B1, B1, stale=True),
        Change("ADDED", C1),
        Change("UPDATED", A2, A1),
    ]
    assert (scene.shown, scene.store.version) == ([{"shop/c": "1", "shop/a": "2"}], "7")


def test_objects_of_the_first_list_are_initial() -> None:
    scene = Scene()

    scene.updater.replaced([A1], "7", initial=True)

    assert scene.told == [Change("ADDED", A1, initial=True)]


def test_an_object_that_is_in_a_list_twice_is_told_once() -> None:
    scene = Scene()

    scene.updater.replaced([A1, B1, A2], "7", initial=False)

    assert scene.told == [Change("ADDED", A2), Change("ADDED", B1)]


def test_a_resync_tells_every_object_again() -> None:
    scene = Scene(A1, B1)

    scene.updater.resynced()

    assert scene.told == [Change("UPDATED", A1, A1), Change("UPDATED", B1, B1)]
    assert scene.repeated == [True]


@pytest.mark.parametrize(
    "kind", [DeltaType.ADDED, DeltaType.UPDATED, DeltaType.REPLACED, DeltaType.SYNC]
)
@pytest.mark.parametrize("initial", [True, False])
def test_a_queued_object_is_an_addition_or_an_update_by_what_the_store_has(
    kind: DeltaType, initial: bool
) -> None:
    scene = Scene(A1)

    scene.updater.process([QueuedDelta(kind, A2)], initial)
    scene.updater.process([QueuedDelta(kind, B1)], initial)

    assert scene.told == [Change("UPDATED", A2, A1), Change("ADDED", B1, initial=initial)]
    assert scene.content == {"shop/a": "2", "shop/b": "1"}


def test_a_queued_deletion_is_told_even_when_the_store_had_nothing() -> None:
    scene = Scene(A1)

    scene.updater.process([QueuedDelta(DeltaType.DELETED, A2)], False)
    scene.updater.process([QueuedDelta(DeltaType.DELETED, B1)], False)

    assert scene.told == [Change("DELETED", A2, A1), Change("DELETED", B1, None)]
    assert scene.content == {}


def test_a_tombstone_is_told_as_a_stale_deletion() -> None:
    scene = Scene(A2)

    scene.updater.process([QueuedDelta(DeltaType.DELETED, Tombstone("shop/a", A1))], False)

    assert scene.told == [Change("DELETED", A1, A2, stale=True)]


def test_a_tombstone_without_an_object_is_told_with_what_the_store_had() -> None:
    scene = Scene(A2)

    scene.updater.process([QueuedDelta(DeltaType.DELETED, Tombstone("shop/a", None))], False)
    scene.updater.process([QueuedDelta(DeltaType.DELETED, Tombstone("shop/z", None))], False)

    assert scene.told == [Change("DELETED", A2, A2, stale=True)]


def test_the_deltas_of_one_key_are_told_in_order() -> None:
    scene = Scene(A1)

    scene.updater.process(
        [
            QueuedDelta(DeltaType.UPDATED, A2),
            QueuedDelta(DeltaType.DELETED, A2),
            QueuedDelta(DeltaType.ADDED, A3),
        ],
        False,
    )

    assert scene.told == [
        Change("UPDATED", A2, A1),
        Change("DELETED", A2, A2),
        Change("ADDED", A3),
    ]


def test_a_whole_list_from_a_queue_is_a_replacement() -> None:
    scene = Scene(A1)

    scene.updater.process([QueuedDelta(DeltaType.REPLACED_ALL, items=(B1,), version="7")], True)

    assert scene.told == [
        Change("DELETED", A1, A1, stale=True),
        Change("ADDED", B1, initial=True),
    ]
    assert scene.store.version == "7"


def test_a_queued_resync_and_bookmark_are_obeyed() -> None:
    scene = Scene(A1)

    scene.updater.process([QueuedDelta(DeltaType.SYNC_ALL)], False)
    scene.updater.process([QueuedDelta(DeltaType.BOOKMARK, version="12")], False)

    assert (scene.told, scene.store.version) == ([Change("UPDATED", A1, A1)], "12")


def test_deltas_that_fail_in_a_batch_are_not_told_and_the_others_are() -> None:
    keyless: Any = Keyless()
    scene = Scene()

    with pytest.raises(
        BatchFailed,
        match=r"^not all items in the batch successfully processed: failed to execute \(1/3\)",
    ):
        scene.updater.process(
            [QueuedDelta(DeltaType.ADDED, item) for item in (A1, keyless, B1)], False
        )

    assert scene.told == [Change("ADDED", A1), Change("ADDED", B1)]


def test_a_delta_about_the_whole_collection_cannot_be_part_of_a_batch() -> None:
    deltas = [QueuedDelta(DeltaType.ADDED, A1), QueuedDelta[ConfigMap](DeltaType.SYNC_ALL)]

    with pytest.raises(RefletError, match="type SyncAll cannot be part of a batch"):
        Scene().updater.process(deltas, False)
