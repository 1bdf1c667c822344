"""The two queues, against models that do nothing cleverly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.informer.process_deltas import Updater
from reflet.informer.queues.delta_fifo import DeltaFifo, DeltaType, QueuedDelta
from reflet.informer.queues.ordered_queue import OrderedQueue
from reflet.store.keys import Tombstone
from reflet.store.store import Store

NAMES = "abcd"
Line = tuple[str, str]
"""A delta: its type, and the object with its version; a tombstone begins with a cross."""

items = st.tuples(st.sampled_from(NAMES), st.integers(1, 9))
operations = st.one_of(
    st.tuples(st.sampled_from(["add", "update", "delete"]), items),
    st.tuples(
        st.just("replace"), st.dictionaries(st.sampled_from(NAMES), st.integers(1, 9), max_size=4)
    ),
    st.tuples(st.sampled_from(["resync", "pop", "pop", "pop"]), st.none()),
)
known_objects = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 9))


def made(name: str, version: int) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, resource_version=str(version)))


def text(item: object) -> str:
    match item:
        case Tombstone(key=key, object=last):
            return f"†{key} {text(last)}"
        case ConfigMap():
            return f"{item.metadata.name}{item.metadata.resource_version}"
        case _:
            return "nothing"


def lines(deltas: Sequence[QueuedDelta[ConfigMap]]) -> list[Line]:
    return [(delta.type.value, text(delta.object)) for delta in deltas]


def store_of(known: dict[str, int]) -> Store[ConfigMap]:
    store = Store[ConfigMap]()
    store.replace([made(*item) for item in known.items()], "1")
    return store


class ByKey:
    """The contract of the queue by key, told with lists of lines."""

    def __init__(self, known: dict[str, int]) -> None:
        self.known = known
        self.queued: list[tuple[str, list[Line]]] = []
        self.populated = False
        self.initial = 0
        self.synced = False

    def deltas_of(self, name: str) -> list[Line] | None:
        return next((deltas for key, deltas in self.queued if key == name), None)

    def append(self, kind: str, name: str, what: str) -> None:
        deltas = self.deltas_of(name)
        if deltas is None:
            self.queued.append((name, [(kind, what)]))
        elif kind == deltas[-1][0] == "Deleted":
            if deltas[-1][1].startswith("†"):
                deltas[-1] = (kind, what)
        else:
            deltas.append((kind, what))

    def populate(self, count: int) -> None:
        if not self.populated:
            self.populated, self.initial = True, count
            self.synced = count == 0

    def do(self, operation: str, content: Any) -> None:
        match operation:
            case "add" | "update":
                self.populate(0)
                kind = "Added" if operation == "add" else "Updated"
                self.append(kind, content[0], text(made(*content)))
            case "delete":
                self.populate(0)
                if self.deltas_of(content[0]) is not None or content[0] in self.known:
                    self.append("Deleted", content[0], text(made(*content)))
            case "replace":
                self.replace(content)
            case _:
                for name, version in self.known.items():
                    if self.deltas_of(name) is None:
                        self.append("Sync", name, f"{name}{version}")

    def replace(self, listed: dict[str, int]) -> None:
        for name, version in listed.items():
            self.append("Replaced", name, f"{name}{version}")
        gone = [name for name, _ in self.queued if name not in listed]
        for name in gone:
            deltas = self.deltas_of(name)
            assert deltas is not None
            last = deltas[-1][1].removeprefix(f"†{name} ")
            self.append("Deleted", name, f"†{name} {last}")
        missing = [name for name in self.known if name not in listed and name not in gone]
        for name in missing:
            self.append("Deleted", name, f"†{name} {name}{self.known[name]}")
        self.populate(len(listed) + len(gone) + len(missing))

    def pop(self) -> tuple[list[Line], bool]:
        is_initial = not self.synced
        _, deltas = self.queued.pop(0)
        if self.initial:
            self.initial -= 1
            self.synced = self.synced or not self.initial
        return deltas, is_initial


@given(known_objects, st.lists(operations, max_size=30))
def test_the_queue_by_key_does_what_its_contract_says(
    known: dict[str, int], history: list[tuple[str, Any]]
) -> None:
    queue = DeltaFifo(known=store_of(known), emit_replaced=True)
    model = ByKey(known)

    for operation, content in history:
        if operation == "pop":
            if not len(queue):
                assert not model.queued
                continue
            popped: list[tuple[list[Line], bool]] = []
            queue.pop_now(lambda deltas, initial: popped.append((lines(deltas), initial)))  # noqa: B023 - called at once
            assert popped == [model.pop()]
        elif operation == "replace":
            queue.replace([made(*item) for item in content.items()])
            model.do(operation, content)
        elif operation == "resync":
            queue.resync()
            model.do(operation, content)
        else:
            getattr(queue, operation)(made(*content))
            model.do(operation, content)
        assert (len(queue), queue.synced.is_set) == (len(model.queued), model.synced)


@given(known_objects, st.lists(operations, max_size=30))
def test_through_the_queue_by_key_a_store_ends_as_the_server_is(
    known: dict[str, int], history: list[tuple[str, Any]]
) -> None:
    store = store_of(known)
    server = dict(known)
    queue = DeltaFifo(known=store, emit_replaced=True)
    updater = Updater(store, lambda changes, repeated: None)

    for operation, content in history:
        play(queue, updater, operation, content)
        after(server, operation, content)
    while len(queue):
        queue.pop_now(updater.process)

    assert held(store) == server


@given(st.lists(operations, max_size=30), st.booleans())
def test_through_the_queue_in_order_a_store_ends_as_the_server_is(
    history: list[tuple[str, Any]], comparing: bool
) -> None:
    store, server = Store[ConfigMap](), dict[str, int]()
    queue = OrderedQueue(known=store if comparing else None)
    updater = Updater(store, lambda changes, repeated: None)

    for operation, content in history:
        play(queue, updater, operation, content)
        after(server, operation, content)
    while len(queue):
        queue.pop_batch_now(updater.process)

    assert held(store) == server
    assert queue.synced.is_set or not any(each != "pop" and each != "resync" for each, _ in history)


@given(st.lists(operations, max_size=30))
def test_the_queue_in_order_forgets_nothing_and_moves_nothing(
    history: list[tuple[str, Any]],
) -> None:
    queue = OrderedQueue[ConfigMap]()
    put: list[str] = []
    popped: list[str] = []

    def process(deltas: Sequence[QueuedDelta[ConfigMap]], is_initial: bool) -> None:
        popped.extend(delta.type.value + text(delta.object) for delta in deltas)
        about_objects = [delta.key for delta in deltas if delta.object is not None]
        assert len(set(about_objects)) == len(about_objects)
        assert len(deltas) == 1 or all(delta.object is not None for delta in deltas)

    for operation, content in history:
        match operation:
            case "pop":
                if len(queue):
                    queue.pop_batch_now(process)
            case "replace":
                queue.replace([made(*item) for item in content.items()], "1")
                put.append(f"{DeltaType.REPLACED_ALL.value}nothing")
            case "resync":
                queue.resync()
                put.append(f"{DeltaType.SYNC_ALL.value}nothing")
            case _:
                getattr(queue, operation)(made(*content))
                kind = {"add": "Added", "update": "Updated", "delete": "Deleted"}[operation]
                put.append(kind + text(made(*content)))
    while len(queue):
        queue.pop_batch_now(process)

    assert popped == put


def play(
    queue: DeltaFifo[ConfigMap] | OrderedQueue[ConfigMap],
    updater: Updater[ConfigMap],
    operation: str,
    content: Any,
) -> None:
    match operation:
        case "pop":
            if len(queue):
                queue.pop_now(updater.process)
        case "resync":
            queue.resync()
        case "replace":
            listed = [made(*item) for item in content.items()]
            if isinstance(queue, OrderedQueue):
                queue.replace(listed, "1")
            else:
                queue.replace(listed)
        case _:
            getattr(queue, operation)(made(*content))


def after(server: dict[str, int], operation: str, content: Any) -> None:
    match operation:
        case "add" | "update":
            server[content[0]] = content[1]
        case "delete":
            server.pop(content[0], None)
        case "replace":
            server.clear()
            server.update(content)
        case _:
            pass


def held(store: Store[ConfigMap]) -> dict[str, int]:
    return {it.metadata.name: int(it.metadata.resource_version) for it in store.objects()}
