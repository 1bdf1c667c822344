"""Any sequence of writes leaves a store whose every answer can be computed from its objects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.watch_events import WatchEvent
from reflet.store.deltas import ChangeType, Put, Remove
from reflet.store.keys import Tombstone, key_of
from reflet.store.store import Store

USERS = ("ernie", "bert", "elmo")
Model = tuple[dict[str, ConfigMap], str]

objects = st.builds(
    lambda name, namespace, version, users: ConfigMap(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            resource_version=str(version),
            annotations={"users": ",".join(users)},
        )
    ),
    name=st.sampled_from("abc"),
    namespace=st.sampled_from(["", "shop", "bank"]),
    version=st.integers(1, 99),
    users=st.lists(st.sampled_from(USERS), max_size=4),
)
events = st.builds(
    lambda kind, item: WatchEvent(type=kind, object=item),
    st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]),
    objects,
)
operations = st.one_of(
    st.builds(Put, objects),
    st.builds(Remove, objects),
    st.builds(lambda item: Remove(Tombstone(key_of(item), item)), objects),
)
writes = st.one_of(
    st.tuples(st.just("change"), st.lists(events, max_size=6)),
    st.tuples(st.just("replace"), st.lists(objects, max_size=6)),
    st.tuples(st.just("transaction"), st.lists(operations, max_size=6)),
    st.tuples(st.just("put"), objects),
    st.tuples(st.just("delete"), objects),
    st.tuples(st.just("bookmark"), st.integers(1, 99).map(str)),
)


def users_of(item: ConfigMap) -> list[str]:
    text = item.metadata.annotations["users"]
    return text.split(",") if text else []


Noted = tuple[ChangeType, ConfigMap, ConfigMap | None, bool]


def noted(
    what: ChangeType, item: ConfigMap, old: ConfigMap | None = None, /, *, stale: bool = False
) -> Noted:
    return what, item, old, stale


def write(store: Store[ConfigMap], kind: str, content: Any) -> None:
    match kind:
        case "change":
            store.change(content, noted)
        case "replace":
            store.replace(content, "list")
        case "transaction":
            store.transaction(content)
        case "put":
            store.put(content)
        case "delete":
            store.delete(content)
        case _:
            store.bookmark(content)


def expected_after(model: Model, kind: str, content: Any) -> Model:
    """The same, with nothing but a dictionary."""
    items, version = dict(model[0]), model[1]
    match kind:
        case "change":
            for event in content:
                version = event.object.metadata.resource_version
                if event.type == "DELETED":
                    items.pop(key_of(event.object), None)
                elif event.type != "BOOKMARK":
                    items[key_of(event.object)] = event.object
        case "replace":
            items, version = {key_of(item): item for item in content}, "list"
        case "transaction":
            for operation in content:
                target: Any = operation.object
                item: Any = target.object if isinstance(target, Tombstone) else target
                version = item.metadata.resource_version
                if isinstance(operation, Put):
                    items[key_of(item)] = item
                else:
                    items.pop(key_of(item), None)
        case "put":
            items[key_of(content)] = content
            version = content.metadata.resource_version
        case "delete":
            items.pop(key_of(content), None)
            version = content.metadata.resource_version
        case _:
            version = content
    return items, version


def recomputed(
    items: dict[str, ConfigMap], values: Callable[[ConfigMap], list[str]]
) -> dict[str, list[str]]:
    index: dict[str, set[str]] = {}
    for key, item in items.items():
        for value in values(item):
            index.setdefault(value, set()).add(key)
    return {value: sorted(keys) for value, keys in index.items()}


def answered(store: Store[ConfigMap], name: str) -> dict[str, list[str]]:
    index = {value: store.index_keys(name, value) for value in store.index_values(name)}
    for value, keys in index.items():
        assert sorted(key_of(item) for item in store.by_index(name, value)) == keys
    return index


@given(st.lists(writes, max_size=12))
def test_every_index_equals_its_recomputation(history: list[tuple[str, Any]]) -> None:
    store = Store(indexers={"users": users_of})
    model: Model = ({}, "")

    for kind, content in history:
        write(store, kind, content)
        model = expected_after(model, kind, content)

        items, version = store.snapshot()
        assert (items, version) == model
        assert answered(store, "users") == recomputed(items, users_of)
        assert answered(store, "namespace") == recomputed(
            items, lambda item: [item.metadata.namespace]
        )


@given(st.lists(writes, max_size=12), st.integers(0, 12))
def test_an_index_that_was_added_late_is_like_one_that_was_always_there(
    history: list[tuple[str, Any]], moment: int
) -> None:
    store = Store(indexers={"always": users_of})

    for number, (kind, content) in enumerate([*history, ("bookmark", "9")]):
        if number == min(moment, len(history)):
            store.add_indexers({"late": users_of})
        write(store, kind, content)

    assert answered(store, "late") == answered(store, "always")


hatreds = st.sets(st.sampled_from(USERS), max_size=2)


@given(st.lists(writes, max_size=12), hatreds)
def test_an_index_has_exactly_what_its_function_can_digest(
    history: list[tuple[str, Any]], hated: set[str]
) -> None:
    def fussy(item: ConfigMap) -> list[str]:
        if hated & set(users_of(item)):
            raise ValueError("hated")
        return users_of(item)

    store = Store(indexers={"users": users_of, "fussy": fussy})
    model: Model = ({}, "")
    for kind, content in history:
        write(store, kind, content)
        model = expected_after(model, kind, content)

    items, version = store.snapshot()
    assert (items, version) == model
    assert answered(store, "users") == recomputed(items, users_of)
    assert answered(store, "fussy") == recomputed(
        items, lambda item: [] if hated & set(users_of(item)) else users_of(item)
    )


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("change"), st.lists(events, max_size=6)),
            st.tuples(st.just("replace"), st.lists(objects, max_size=6)),
        ),
        max_size=12,
    ),
    hatreds,
)
def test_a_store_has_exactly_what_its_transform_can_digest(
    history: list[tuple[str, Any]], hated: set[str]
) -> None:
    def is_hated(item: ConfigMap) -> bool:
        return bool(hated & set(users_of(item)))

    def picky(item: ConfigMap) -> ConfigMap:
        if is_hated(item):
            raise ValueError("hated")
        return item

    store = Store(indexers={"users": users_of}, transform=picky)
    model: Model = ({}, "")
    for kind, content in history:
        write(store, kind, content)
        model = expected_after(model, kind, content)

        items, version = store.snapshot()
        liked = {key: item for key, item in model[0].items() if not is_hated(item)}
        assert (items, version) == (liked, model[1])
        assert answered(store, "users") == recomputed(items, users_of)


@given(st.lists(events, max_size=20), hatreds)
def test_who_follows_the_changes_knows_what_the_store_has(
    history: list[WatchEvent[ConfigMap]], hated: set[str]
) -> None:
    def picky(item: ConfigMap) -> ConfigMap:
        if hated & set(users_of(item)):
            raise ValueError("hated")
        return item

    store = Store(transform=picky)
    view: dict[str, ConfigMap] = {}

    for what, item, old, stale in store.change(history, noted)[0]:
        key = key_of(item)
        assert view.get(key) == old
        assert (what == "ADDED") == (key not in view) or what == "DELETED"
        assert not stale or item == old
        if what == "DELETED":
            view.pop(key, None)
        else:
            view[key] = item

    assert view == store.snapshot()[0]


@given(st.lists(events, max_size=20), st.data())
def test_what_a_batch_finds_does_not_depend_on_how_it_is_cut(
    history: list[WatchEvent[ConfigMap]], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(history)))
    whole, pieces = Store[ConfigMap](), Store[ConfigMap]()

    made, repeated = whole.change(history, noted)
    first, second = (pieces.change(part, noted) for part in (history[:cut], history[cut:]))
    assert (made, repeated) == (first[0] + second[0], first[1] or second[1])
    assert whole.snapshot()[0] == pieces.snapshot()[0]


class Reader(threading.Thread):
    """Asks for as long as the test writes, and remembers the first thing that cannot be."""

    def __init__(self, store: Store[ConfigMap], stop: threading.Event) -> None:
        super().__init__(name="reader")
        self._store = store
        self._stop_reading = stop
        self.complaint = ""

    def run(self) -> None:
        newest = 0
        while not self._stop_reading.is_set() and not self.complaint:
            newest = self._ask(newest)

    def _ask(self, newest: int) -> int:
        for user in USERS:
            found = self._store.by_index("users", user)
            if any(user not in users_of(item) for item in found):
                self.complaint = f"by_index({user!r}) gave an object without {user!r}"
            if len({item.metadata.resource_version for item in found}) > 1:
                self.complaint = "one query saw two states"
        items, version = self._store.snapshot()
        if any(item.metadata.resource_version != version for item in items.values()):
            self.complaint = "a snapshot mixed two states"
        held = self._store.get("shop/a")
        seen = newest if held is None else int(held.metadata.resource_version)
        if seen < newest:
            self.complaint = f"version {seen} came after {newest}"
        return seen


def state(version: int) -> list[ConfigMap]:
    """All objects at one version, each with a user that changes with it."""
    return [
        ConfigMap(
            metadata=ObjectMeta(
                name=name,
                namespace="shop",
                resource_version=str(version),
                annotations={"users": USERS[(version + number) % 3]},
            )
        )
        for number, name in enumerate("abcdefgh")
    ]


@pytest.mark.parametrize("way", ["change", "replace", "transaction"])
def test_readers_in_other_threads_see_one_state_at_a_time(way: str) -> None:
    store = Store(indexers={"users": users_of})
    store.replace(state(0), "0")
    stop = threading.Event()
    readers = [Reader(store, stop) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for version in range(1, 600):
            items = state(version)
            match way:
                case "change":
                    store.change(
                        [WatchEvent(type="MODIFIED", object=item) for item in items], noted
                    )
                case "replace":
                    store.replace(items, str(version))
                case _:
                    store.transaction([Put(item) for item in items])
    finally:
        stop.set()
        for reader in readers:
            reader.join()

    assert [reader.complaint for reader in readers] == ["", "", ""]
