"""Registered pods, and the references that follow from them."""

from __future__ import annotations

from reflet.managers.registry import PodKey, PodRegistry
from reflet.resolution.references.references import config_map_names
from tests.unit.managers.pods import pod


class Told:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str, str]] = []

    def add_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        self.heard.append(("add", namespace, name, referrer))

    def delete_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        self.heard.append(("delete", namespace, name, referrer))

    def take(self) -> list[tuple[str, str, str, str]]:
        taken, self.heard = self.heard, []
        return taken


def registry() -> tuple[PodRegistry, Told]:
    told = Told()
    return PodRegistry(told, config_map_names), told


def test_a_name_counts_once_for_each_pod() -> None:
    pods, told = registry()

    pods.register(pod("web", "b", "a", "b"))

    uid = "uid of web"
    assert told.take() == [("add", "shop", "b", uid), ("add", "shop", "a", uid)]


def test_registering_again_tells_only_the_difference() -> None:
    pods, told = registry()
    pods.register(pod("web", "a", "b"))
    told.take()

    pods.register(pod("web", "b", "c"))

    uid = "uid of web"
    assert told.take() == [("add", "shop", "c", uid), ("delete", "shop", "a", uid)]


def test_the_same_pod_again_tells_nothing() -> None:
    pods, told = registry()
    pods.register(pod("web", "a"))
    told.take()

    pods.register(pod("web", "a"))

    assert told.take() == []


def test_what_was_registered_decides_what_is_given_back() -> None:
    pods, told = registry()
    pods.register(pod("web", "a"))
    told.take()

    pods.unregister(pod("web", "b"))

    assert told.take() == [("delete", "shop", "a", "uid of web")]
    assert (len(pods), pods.pods_using("shop", "a")) == (0, ())


def test_an_unknown_pod_is_unregistered_without_harm() -> None:
    pods, told = registry()
    pods.register(pod("web", "a"))
    told.take()

    pods.unregister(pod("web", "a", uid="another"))

    assert told.take() == []
    assert pod("web") in pods
    assert pod("web", uid="another") not in pods


def test_the_users_of_an_object_are_known() -> None:
    pods, _ = registry()
    pods.register(pod("web", "a", "b"))
    pods.register(pod("job", "a"))
    pods.register(pod("web", "b"))

    assert pods.pods_using("shop", "a") == (PodKey("shop", "job", "uid of job"),)
    assert [key.name for key in pods.pods_using("shop", "b")] == ["web"]
