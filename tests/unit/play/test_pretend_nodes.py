from __future__ import annotations

from typing import Any

import pytest

from reflet.play.pod_scripts import ANNOTATION
from reflet.play.pretend_nodes import address_of, keep_ready, missing_object
from tests.unit.play.documents_scene import Document, metadata, pod, status_of, view_of


def node(**more: Any) -> Document:
    own = {"name": "play-0", "annotations": {ANNOTATION: "node"}, "resourceVersion": "1"}
    return {"metadata": own, "spec": {}, **more}


READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def test_a_pretend_node_is_made_ready() -> None:
    status = status_of(keep_ready(view_of(), node()))

    assert {each["type"]: each["status"] for each in status["conditions"]} == {"Ready": "True"}
    assert status["addresses"][0] == {"type": "InternalIP", "address": "192.168.0.2"}


def test_what_somebody_said_of_a_node_stays() -> None:
    decided = keep_ready(view_of(), node(status={"capacity": {"cpu": "2"}}))

    assert status_of(decided)["capacity"] == {"cpu": "2"}


def test_the_taint_of_new_nodes_is_taken_away_and_no_other() -> None:
    taints = [{"key": "node.kubernetes.io/not-ready"}, {"key": "gpu"}]

    (update,) = keep_ready(view_of(), node(spec={"taints": taints}, status=READY)).actions

    assert update.document["spec"]["taints"] == [{"key": "gpu"}]


def test_nodes_of_others_are_left_to_them() -> None:
    assert not keep_ready(view_of(), {"metadata": {"name": "real"}}).actions


@pytest.mark.parametrize(
    ("version", "address"),
    [("255", "10.244.0.255"), ("256", "10.244.1.0"), ("786432", "10.244.0.0")],
)
def test_each_pod_has_an_address_of_its_own(version: str, address: str) -> None:
    assert address_of(pod(metadata={"resourceVersion": version})) == address


def variable(kind: str, **reference: Any) -> Document:
    return {"env": [{"name": "X", "valueFrom": {kind: {"name": "settings", **reference}}}]}


@pytest.mark.parametrize(
    ("container", "words"),
    [
        ({"envFrom": [{"secretRef": {"name": "token"}}]}, 'secret "token" not found'),
        ({"envFrom": [{"configMapRef": {"name": "settings"}}]}, ""),
        (variable("configMapKeyRef", key="a"), ""),
        (
            variable("configMapKeyRef", key="b"),
            "couldn't find key b in ConfigMap shop/settings",
        ),
        (variable("configMapKeyRef", key="b", optional=True), ""),
    ],
)
def test_what_a_container_lacks_is_told_in_the_kubelets_words(
    container: Document, words: str
) -> None:
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("settings")}

    assert missing_object(view_of({**held, "data": {"a": "1"}}), pod(), container) == words
