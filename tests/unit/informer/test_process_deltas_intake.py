"""The ways from a reflector's deltas to the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import RefletError
from reflet.informer.handlers.changes import Change
from reflet.informer.process_deltas import Intake, KeyedIntake, OrderedIntake, Updater
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.store.store import Store
from reflet.store.transforms import Transform
from reflet.testing.scripted_source import added, bookmark, deleted, modified
from tests.unit.store.config_maps import Keyless, config_map

A1, A2, A3, B1, B2, C1 = (
    config_map(text[0], text[1]) for text in ("a1", "a2", "a3", "b1", "b2", "c1")
)


def fussy(item: ConfigMap) -> list[str]:
    if item.metadata.name == "b":
        raise ValueError("no")
    return [item.metadata.name]


class Scene:
    def __init__(self, kind: str, *, transform: Transform[ConfigMap] | None = None) -> None:
        self.kind = kind
        self.store: Store[ConfigMap] = Store(indexers={"fussy": fussy})
        self.told: list[Change[ConfigMap]] = []
        updater = Updater(self.store, self._tell)
        self.intake: Intake[ConfigMap] = OrderedIntake(updater)
        if kind == "ordered":
            self.store.set_transform(transform)
        else:
            self.intake = KeyedIntake(updater, self.store, transform)

    def _tell(self, changes: Sequence[Change[ConfigMap]], *, repeated: bool) -> None:
        self.told += changes

    def take(self, delta: Delta[ConfigMap], *, initial: bool = False) -> list[Change[ConfigMap]]:
        self.told.clear()
        self.intake.take(delta, initial=initial)
        return self.told

    @property
    def content(self) -> tuple[dict[str, str], str]:
        items, version = self.store.snapshot()
        return {key: item.metadata.resource_version for key, item in items.items()}, version


@pytest.fixture(params=["ordered", "delta-fifo"])
def scene(request: pytest.FixtureRequest) -> Scene:
    return Scene(request.param)


def test_the_first_list_is_initial(scene: Scene) -> None:
    told = scene.take(Replaced([A1, B1], "5"), initial=True)

    assert told == [Change("ADDED", A1, initial=True), Change("ADDED", B1, initial=True)]
    assert scene.content == ({"shop/a": "1", "shop/b": "1"}, "5")


def test_a_later_list_is_told_as_the_difference(scene: Scene) -> None:
    scene.take(Replaced([A1, B1], "5"), initial=True)

    told = scene.take(Replaced([A2, C1], "7"))

    assert sorted(told, key=lambda change: change.key) == [
        Change("UPDATED", A2, A1),
        Change("DELETED", B1, B1, stale=True),
        Change("ADDED", C1),
    ]
    assert scene.content == ({"shop/a": "2", "shop/c": "1"}, "7")


def test_the_version_is_that_of_the_last_event_even_if_it_is_a_bookmark(scene: Scene) -> None:
    scene.take(Replaced([], "5"), initial=True)

    scene.take(Changed([added(A1), bookmark("9")]))

    assert scene.content == ({"shop/a": "1"}, "9")


def test_a_resync_tells_everything_again(scene: Scene) -> None:
    scene.take(Replaced([A1], "5"), initial=True)

    assert scene.take(Resynced()) == [Change("UPDATED", A1, A1)]
    assert scene.content[1] == "5"


def test_no_events_change_nothing(scene: Scene) -> None:
    scene.take(Replaced([A1], "5"), initial=True)

    assert scene.take(Changed([])) == []
    assert scene.content[1] == "5"


def test_in_order_events_are_told_as_they_came() -> None:
    scene = Scene("ordered")
    scene.take(Replaced([A1], "1"), initial=True)

    told = scene.take(Changed([modified(A2), added(B1), deleted(A2), deleted(C1)]))

    assert [(change.type, change.key) for change in told] == [
        ("UPDATED", "shop/a"),
        ("ADDED", "shop/b"),
        ("DELETED", "shop/a"),
        ("DELETED", "shop/c"),
    ]


def test_by_key_events_of_one_key_come_together_and_the_unknown_is_not_deleted() -> None:
    scene = Scene("delta-fifo")
    scene.take(Replaced([A1], "1"), initial=True)

    told = scene.take(Changed([modified(A2), added(B1), deleted(A2), deleted(C1)]))

    assert [(change.type, change.key) for change in told] == [
        ("UPDATED", "shop/a"),
        ("DELETED", "shop/a"),
        ("ADDED", "shop/b"),
    ]


def test_what_an_index_cannot_digest_is_stored_and_told_all_the_same(scene: Scene) -> None:
    scene.take(Replaced([A1, B1], "1"), initial=True)

    told = scene.take(Changed([modified(B2), added(C1)]))

    assert told == [Change("UPDATED", B2, B1), Change("ADDED", C1)]
    assert scene.store.index_values("fussy") == ["a", "c"]


def test_a_list_with_an_object_without_a_key_is_refused_as_a_whole(scene: Scene) -> None:
    keyless: Any = Keyless()
    scene.take(Replaced([A1], "1"), initial=True)

    with pytest.raises(RefletError, match="no meta"):
        scene.take(Replaced([B1, keyless], "2"))

    assert scene.content == ({"shop/a": "1"}, "1")


def marked(item: ConfigMap) -> ConfigMap:
    """Cannot digest the second version of anything, nor c."""
    if item.metadata.name == "c" or item.metadata.resource_version == "2":
        raise ValueError("no")
    return msgspec.structs.replace(item, data={"marked": "yes"})


@pytest.fixture(params=["ordered", "delta-fifo"])
def transforming(request: pytest.FixtureRequest) -> Scene:
    return Scene(request.param, transform=marked)


def test_handlers_and_readers_get_the_same_transformed_object(transforming: Scene) -> None:
    listed = list(transforming.take(Replaced([A1], "1"), initial=True))
    changed = list(transforming.take(Changed([added(B1), bookmark("4")])))

    assert [change.object.data for change in listed + changed] == [{"marked": "yes"}] * 2
    assert listed[0].object is transforming.store.get("shop/a")
    assert changed[0].object is transforming.store.get("shop/b")
    assert transforming.store.version == "4"


def test_events_that_cannot_be_transformed_are_left_out_alone(transforming: Scene) -> None:
    told = transforming.take(Changed([added(A1), added(C1), added(B1)]))

    assert [change.key for change in told] == ["shop/a", "shop/b"]


def test_objects_of_a_list_that_cannot_be_transformed_are_left_out_alone(
    transforming: Scene,
) -> None:
    told = transforming.take(Replaced([A1, C1, B2], "2"), initial=True)

    assert [change.key for change in told] == ["shop/a"]
    assert transforming.content == ({"shop/a": "1"}, "2")


@pytest.mark.parametrize(
    "delta", [Changed([modified(A2)]), Changed([deleted(A2)]), Replaced([A2], "2")]
)
def test_what_cannot_be_transformed_any_more_is_told_as_a_stale_deletion(
    transforming: Scene, delta: Delta[ConfigMap]
) -> None:
    transforming.take(Replaced([A1], "1"), initial=True)
    a1 = transforming.store.get("shop/a")
    assert a1 is not None

    assert transforming.take(delta) == [Change("DELETED", a1, a1, stale=True)]
    assert transforming.content == ({}, "2")


def test_what_can_be_transformed_again_is_an_addition(transforming: Scene) -> None:
    transforming.take(Replaced([A1, C1], "1"), initial=True)
    transforming.take(Changed([modified(A2)]))

    told = transforming.take(Changed([modified(A3)]))

    assert [(change.type, change.object.metadata.resource_version) for change in told] == [
        ("ADDED", "3")
    ]


def test_what_was_left_out_is_not_told_when_it_goes(transforming: Scene) -> None:
    transforming.take(Replaced([C1], "1"), initial=True)

    assert transforming.take(Changed([deleted(C1)])) == []
    assert transforming.take(Replaced([], "3")) == []


def test_a_resync_needs_no_transform(transforming: Scene) -> None:
    transforming.take(Replaced([A1], "1"), initial=True)

    assert [change.type for change in transforming.take(Resynced())] == ["UPDATED"]


def without_version(item: ConfigMap) -> ConfigMap:
    metadata = msgspec.structs.replace(item.metadata, resource_version="")
    return msgspec.structs.replace(item, metadata=metadata)


@pytest.mark.parametrize("kind", ["ordered", "delta-fifo"])
def test_the_version_is_the_servers_whatever_the_transform_leaves(kind: str) -> None:
    scene = Scene(kind, transform=without_version)
    scene.take(Replaced([A1], "1"), initial=True)

    scene.take(Changed([modified(A2)]))

    assert scene.store.version == "2"
