"""The ways from a reflector's deltas to the store."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from reflet.api.config import ConfigMap
from reflet.errors import RefletError
from reflet.informer.changes import Change
from reflet.informer.intake import (
    Intake,
    KeyedIntake,
    OrderedIntake,
    TransformingIntake,
    raise_all,
)
from reflet.informer.updater import BatchFailed, Updater
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.store.store import EventsRefused, Store
from reflet.testing.scripted_source import added, bookmark, deleted, modified
from tests.unit.store.config_maps import config_map

A1, A2, B1, B2, C1 = (config_map(text[0], text[1]) for text in ("a1", "a2", "b1", "b2", "c1"))


class Scene:
    def __init__(self, kind: str, *, refusing: str = "") -> None:
        def fussy(item: ConfigMap) -> list[str]:
            if item.metadata.name == refusing:
                raise ValueError("no")
            return []

        self.store: Store[ConfigMap] = Store(indexers={"fussy": fussy})
        self.told: list[Change[ConfigMap]] = []
        updater = Updater(self.store, self._tell)
        self.intake: Intake[ConfigMap] = (
            OrderedIntake(updater) if kind == "ordered" else KeyedIntake(updater, self.store)
        )

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


@pytest.mark.parametrize(
    ("kind", "error"), [("ordered", EventsRefused), ("delta-fifo", BatchFailed)]
)
def test_what_the_store_refuses_does_not_keep_the_rest_out(
    kind: str, error: type[Exception]
) -> None:
    scene = Scene(kind, refusing="b")

    with pytest.raises(error):
        scene.take(Changed([added(A1), added(B1), added(C1)]))

    assert scene.told == [Change("ADDED", A1), Change("ADDED", C1)]
    assert scene.content == ({"shop/a": "1", "shop/c": "1"}, "1")


def marked(item: ConfigMap) -> ConfigMap:
    if item.metadata.name == "c":
        raise ValueError("no")
    return msgspec.structs.replace(item, data={"marked": "yes"})


def test_handlers_and_readers_get_the_same_transformed_object(scene: Scene) -> None:
    scene.intake = TransformingIntake(marked, scene.intake)

    listed = list(scene.take(Replaced([A1], "1"), initial=True))
    changed = list(scene.take(Changed([added(B1), bookmark("4")])))

    assert [change.object.data for change in listed + changed] == [{"marked": "yes"}] * 2
    assert listed[0].object is scene.store.get("shop/a")
    assert changed[0].object is scene.store.get("shop/b")
    assert scene.store.version == "4"


def test_events_that_cannot_be_transformed_are_left_out_alone(scene: Scene) -> None:
    scene.intake = TransformingIntake(marked, scene.intake)

    with pytest.raises(RefletError, match=r"^transforming: no$"):
        scene.take(Changed([added(A1), added(C1), added(B1)]))

    assert [change.key for change in scene.told] == ["shop/a", "shop/b"]


def test_a_list_that_cannot_be_transformed_is_refused_as_a_whole(scene: Scene) -> None:
    scene.intake = TransformingIntake(marked, scene.intake)
    scene.take(Replaced([A1], "1"), initial=True)

    with pytest.raises(RefletError, match=r"^transforming: no$"):
        scene.take(Replaced([B1, C1], "2"))

    assert scene.content == ({"shop/a": "1"}, "1")


def test_a_resync_needs_no_transform(scene: Scene) -> None:
    scene.intake = TransformingIntake(marked, scene.intake)
    scene.take(Replaced([A1], "1"), initial=True)

    assert [change.type for change in scene.take(Resynced())] == ["UPDATED"]


def test_one_failure_is_raised_as_it_is() -> None:
    with pytest.raises(ValueError, match=r"^one$"):
        raise_all([ValueError("one")])


def test_several_failures_are_raised_together() -> None:
    with pytest.raises(ExceptionGroup, match="2 changes were not taken"):
        raise_all([ValueError("one"), ValueError("two")])
