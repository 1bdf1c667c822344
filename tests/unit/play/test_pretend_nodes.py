from __future__ import annotations

from typing import Any

from reflet.play.actions import Update
from reflet.play.pretend_nodes import NODE_MARK, node_actions
from tests.unit.play.documents_scene import at


def node(**more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "play-0", "annotations": NODE_MARK}, "spec": {}, **more}


READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def test_a_pretend_node_is_made_ready() -> None:
    (update,) = node_actions(node(), at(0))

    assert isinstance(update, Update)
    status = update.document["status"]
    assert {each["type"]: each["status"] for each in status["conditions"]}["Ready"] == "True"
    assert status["addresses"][0] == {"type": "InternalIP", "address": "192.168.0.2"}


def test_what_somebody_said_of_a_node_stays() -> None:
    (update,) = node_actions(node(status={"capacity": {"cpu": "2"}}), at(0))

    assert isinstance(update, Update)
    assert update.document["status"]["capacity"] == {"cpu": "2"}


def test_the_taint_of_new_nodes_is_taken_away_and_no_other() -> None:
    taints = [{"key": "node.kubernetes.io/not-ready"}, {"key": "gpu"}]

    (update,) = node_actions(node(spec={"taints": taints}, status=READY), at(0))

    assert isinstance(update, Update)
    assert update.document["spec"]["taints"] == [{"key": "gpu"}]


def test_nodes_of_others_are_left_to_them() -> None:
    assert node_actions({"metadata": {"name": "real"}}, at(0)) == []
