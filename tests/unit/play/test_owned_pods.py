from __future__ import annotations

from typing import Any

import pytest

from reflet.play.owned_pods import available, pod_of, scaled, template_hash
from tests.unit.play.documents_scene import NOW, Document, metadata, ready_pod, template


def owner(image: str = "nginx:1", **spec: Any) -> Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata("web"),
        "spec": {"template": template(image), **spec},
    }


def test_a_pod_is_made_from_the_template_and_belongs_to_its_owner() -> None:
    made = pod_of(owner(), tier="front")["metadata"]

    assert made["generateName"] == "web-"
    assert made["labels"] == {"app": "web", "tier": "front"}
    assert (made["ownerReferences"][0]["uid"], made["ownerReferences"][0]["kind"]) == (
        "uid of web",
        "ReplicaSet",
    )


def test_the_hash_is_the_same_for_the_same_template_only() -> None:
    assert template_hash(owner()) == template_hash(owner(replicas=3))
    assert template_hash(owner()) != template_hash(owner("nginx:2"))


def test_a_pod_is_available_when_it_has_been_ready_for_long_enough() -> None:
    pods = [ready_pod("new", since=4), ready_pod("old", since=20)]

    found, again = available(owner(minReadySeconds=10), pods, NOW)

    assert ([each["metadata"]["name"] for each in found], again) == (["old"], 6.0)


@pytest.mark.parametrize(
    ("value", "up", "number"), [("25%", True, 1), ("25%", False, 0), (3, True, 3)]
)
def test_a_share_is_rounded_up_or_down(value: Any, up: bool, number: int) -> None:
    assert scaled(value, 3, up=up) == number
