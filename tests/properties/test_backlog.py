"""However much merges, a handler is told the same story."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import given
from hypothesis import strategies as st

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.informer.handlers.changes import Change, passed_change
from reflet.informer.handlers.handler_queue import Backlog, HandlerQueue

KEYS = "abc"
View = dict[str, ConfigMap]
Result = TypeVar("Result")


@dataclass
class History:
    """Changes as an updater makes them: what is absent is added or deleted, the rest changes."""

    view: View
    changes: list[Change[ConfigMap]] = field(default_factory=list)
    version: int = 0

    def state(self, name: str, *, wanted: bool) -> ConfigMap:
        self.version += 1
        return ConfigMap(
            metadata=ObjectMeta(
                name=name,
                resource_version=str(self.version),
                labels={"wanted": "yes"} if wanted else {},
            )
        )

    def step(self, name: str, what: str, *, wanted: bool) -> None:
        old = self.view.get(name)
        match what, old:
            case "delete", None:
                self.changes.append(Change("DELETED", self.state(name, wanted=wanted)))
            case "delete", _:
                self.changes.append(Change("DELETED", self.state(name, wanted=wanted), old))
                del self.view[name]
            case "miss the deletion", ConfigMap():
                self.changes.append(Change("DELETED", old, old, stale=True))
                del self.view[name]
            case "resync", ConfigMap():
                self.changes.append(Change("UPDATED", old, old))
            case (("write" | "write at first"), None):
                new = self.view[name] = self.state(name, wanted=wanted)
                self.changes.append(Change("ADDED", new, initial=what == "write at first"))
            case "write", ConfigMap():
                new = self.view[name] = self.state(name, wanted=wanted)
                self.changes.append(Change("UPDATED", new, old))
            case _:
                pass


steps = st.lists(
    st.tuples(
        st.sampled_from(KEYS),
        st.sampled_from(["write", "write", "delete", "miss the deletion", "resync"]),
        st.booleans(),
    ),
    max_size=40,
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[View, History]:
    """What a handler knows at first, and what happens then.

    Some of what it does not know was there when it began, and waits for it.
    """
    history = History({})
    for name in draw(st.sets(st.sampled_from(KEYS))):
        history.step(name, "write", wanted=draw(st.booleans()))
    known = dict(history.view)
    history.changes.clear()
    for name in draw(st.sets(st.sampled_from(KEYS))):
        history.step(name, "write at first", wanted=draw(st.booleans()))
    for name, what, wanted in draw(steps):
        history.step(name, what, wanted=wanted)
    return known, history


def merged(changes: list[Change[ConfigMap]]) -> list[Change[ConfigMap]]:
    backlog = Backlog[ConfigMap]()
    for change in changes:
        backlog.add(change)
    size, told = len(backlog), []
    while len(backlog):
        waiting = backlog.pop()
        assert len(waiting) <= 3
        told += waiting
    assert len(told) == size
    assert len(told) + backlog.merged == len(changes)
    return told


def followed(known: View, changes: list[Change[ConfigMap]], *, strict: bool) -> View:
    """What somebody knows who believes what he is told; *strict*: nothing that cannot be."""
    view = dict(known)
    for change in changes:
        name = change.object.metadata.name
        match change.type:
            case "ADDED":
                assert not strict or name not in view, "an addition of what is known"
                view[name] = change.object
            case "UPDATED":
                assert view.get(name) == change.old, "an update of another state than the known"
                view[name] = change.object
            case "DELETED":
                assert change.old is None or name in view, "a deletion of what is not known"
                view.pop(name, None)
    return view


@given(histories())
def test_what_comes_out_tells_the_same_story(scene: tuple[View, History]) -> None:
    known, history = scene

    told = merged(history.changes)

    assert followed(known, told, strict=True) == history.view


@given(histories())
def test_nothing_waits_of_a_key_that_the_handler_never_heard_of_once_it_is_gone(
    scene: tuple[View, History],
) -> None:
    known, history = scene

    told = merged(history.changes)

    promised = {change.key for change in history.changes if change.initial}
    assert {change.key for change in told} <= known.keys() | history.view.keys() | promised


@given(histories())
def test_a_handler_that_hears_a_part_of_it_knows_the_right_part(
    scene: tuple[View, History],
) -> None:
    def is_wanted(item: ConfigMap) -> bool:
        return bool(item.metadata.labels)

    def wanted(view: View) -> View:
        return {name: item for name, item in view.items() if is_wanted(item)}

    known, history = scene
    heard = [
        passed
        for change in merged(history.changes)
        if (passed := passed_change(change, is_wanted)) is not None
    ]
    view = dict(wanted(known))
    for change in heard:
        if change.type == "DELETED":
            view.pop(change.object.metadata.name, None)
        else:
            view[change.object.metadata.name] = change.object

    assert view == wanted(history.view)


def at_once(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine returns that need not wait."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise AssertionError("it waits")


@given(histories(), st.integers(1, 10), st.data())
def test_a_queue_tells_the_same_story_however_slow_its_reader_is(
    scene: tuple[View, History], limit: int, data: st.DataObject
) -> None:
    known, history = scene
    queue = HandlerQueue[ConfigMap]("test", limit=limit)
    left = list(history.changes)
    told: list[Change[ConfigMap]] = []
    while left or len(queue):
        # Drawn only where there is a choice: a draw that leads to nothing is drawn for ever.
        if left and (not len(queue) or data.draw(st.booleans())):
            count = data.draw(st.integers(1, len(left)))
            queue.put(left[:count])
            del left[:count]
        else:
            told += at_once(queue.get())

    assert len(told) + queue.merged == len(history.changes)
    assert followed(known, told, strict=True) == history.view
