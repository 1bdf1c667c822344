"""What waits to be taken: the newest state of each object, and no version twice."""

from __future__ import annotations

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.watch_events import WatchEvent
from reflet.sidecar.file_owners import Owner
from reflet.sidecar.object_inbox import ObjectInbox
from reflet.sidecar.selected_objects import SelectedObjects
from reflet.sidecar.targets import SidecarObject
from reflet.store.deltas import Changed, Replaced, Resynced

A = Owner(0, "n", "a", "configmap")
B = Owner(0, "n", "b", "configmap")


def inbox() -> ObjectInbox:
    return ObjectInbox(
        [SelectedObjects("configmap", "n", "x"), SelectedObjects("secret", "n", "x")]
    )


def made(name: str, version: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="n", resource_version=version))


def changed(*events: tuple[str, ConfigMap]) -> Changed[SidecarObject]:
    return Changed([WatchEvent(type=kind, object=each) for kind, each in events])  # type: ignore[arg-type]  # any type


def test_a_list_brings_what_is_there() -> None:
    box = inbox()
    box.apply(0, Replaced([made("a", "1"), made("b", "2")], "2"))

    assert box.take() == {A: made("a", "1"), B: made("b", "2")}
    assert len(box) == 0


def test_the_same_version_is_not_given_again() -> None:
    box = inbox()
    box.apply(0, Replaced([made("a", "1")], "1"))
    box.take()

    box.apply(0, Replaced([made("a", "1")], "9"))
    box.apply(0, changed(("MODIFIED", made("a", "1")), ("BOOKMARK", made("", "12"))))
    box.apply(0, Resynced())

    assert box.take() == {}


def test_what_a_new_list_lacks_is_gone() -> None:
    box = inbox()
    box.apply(0, Replaced([made("a", "1"), made("b", "2")], "2"))
    box.take()
    box.apply(0, Replaced([made("a", "3")], "5"))

    assert box.take() == {A: made("a", "3"), B: None}


def test_only_the_last_state_waits() -> None:
    box = inbox()
    box.apply(0, changed(("ADDED", made("a", "1")), ("MODIFIED", made("a", "2"))))
    box.apply(0, changed(("DELETED", made("a", "3"))))
    assert box.take() == {A: None}

    box.apply(0, changed(("ADDED", made("a", "4"))))
    assert box.take() == {A: made("a", "4")}


def test_the_deletion_of_what_nobody_knew_is_no_news() -> None:
    box = inbox()
    box.apply(0, changed(("DELETED", made("a", "3"))))

    assert box.take() == {}


def test_what_was_followed_in_an_earlier_life_is_gone_when_a_list_lacks_it() -> None:
    box = inbox()
    assert box.remember("configmap", "n", "a") == A
    assert box.remember("configmap", "other", "a") is None
    assert list(box.known(0)) == [A]

    box.apply(1, Replaced([], "1"))
    assert box.take() == {}
    box.apply(0, Replaced([], "1"))
    assert box.take() == {A: None}


def test_what_was_followed_before_is_news_when_it_is_still_there() -> None:
    box = inbox()
    box.remember("configmap", "n", "a")
    box.apply(0, Replaced([made("a", "1")], "1"))

    assert box.take() == {A: made("a", "1")}
