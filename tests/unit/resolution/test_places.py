"""Places name a field of a pod for programs and for people."""

from __future__ import annotations

import pytest

from reflet.errors import ConfigurationError
from reflet.resolution.places import Place, container_named, containers_of
from tests.unit.resolution.scenes import pod_with


def test_containers_come_in_the_order_in_which_the_kubelet_visits_them() -> None:
    pod = pod_with(initContainers=[{"name": "a"}], ephemeralContainers=[{"name": "z"}])

    paths = {placed.container.name: placed.path for placed in containers_of(pod.spec)}

    assert list(paths.items()) == [
        ("a", "spec.initContainers[0]"),
        ("web", "spec.containers[0]"),
        ("z", "spec.ephemeralContainers[0]"),
    ]


def test_an_unknown_container_is_refused_with_the_names_there_are() -> None:
    pod = pod_with(initContainers=[{"name": "setup"}])

    with pytest.raises(ConfigurationError) as caught:
        container_named(pod, "wbe")

    assert str(caught.value) == "pod web-0 has no container 'wbe'; it has setup, web"


def test_a_pod_without_containers_says_so() -> None:
    with pytest.raises(ConfigurationError, match="it has no containers"):
        container_named(pod_with(containers=[]), "web")


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(container="web", variable="A"), "container web, variable A"),
        (Place(volume="files", path="spec.volumes[0]"), "volume files"),
        (Place(path="spec.enableServiceLinks"), "spec.enableServiceLinks"),
        (Place(), "the pod"),
    ],
)
def test_a_place_reads_well(place: Place, text: str) -> None:
    assert str(place) == text


def test_a_place_inside_a_container_carries_the_container_and_the_variable() -> None:
    placed = container_named(pod_with(), "web")

    assert (placed.place(), placed.place("env[2].value", variable="A")) == (
        Place(path="spec.containers[0]", container="web"),
        Place(path="spec.containers[0].env[2].value", container="web", variable="A"),
    )


def test_a_container_that_is_not_there_is_told_with_whose_it_would_be() -> None:
    with pytest.raises(ConfigurationError, match=r"^deployment/web has no container 'wbe'; it has"):
        container_named(pod_with(), "wbe", owner="deployment/web")
