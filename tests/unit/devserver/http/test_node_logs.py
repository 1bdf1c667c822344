from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.http.node_logs import NodeLogs
from reflet.devserver.request.authentication import TokenIssuer
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key
from reflet.devserver.verbs.state import LogRequest, State
from reflet.errors import ApiError, NotFound

WANTED = LogRequest("default", "web", "main")


def state_with(status: dict[str, Any] | None) -> State:
    storage = Storage()
    metadata = {"name": "web", "namespace": "default", "uid": "u"}
    storage.create(Key("pods", "default", "web"), {"metadata": metadata, "spec": {"nodeName": "n"}})
    if status is not None:
        node = {"metadata": {"name": "n", "uid": "v"}, "status": status}
        storage.create(Key("nodes", "", "n"), node)
    return State(storage, tokens=TokenIssuer(b"secret"))


def at(address: str, port: int) -> dict[str, Any]:
    return {
        "addresses": [{"type": "InternalIP", "address": address}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }


async def test_a_pod_whose_node_is_not_there_has_no_log() -> None:
    with pytest.raises(NotFound, match='pods "n" not found'):
        await NodeLogs(state_with(None))(WANTED)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({}, "node n does not say where it answers for logs"),
        (at("192.0.2.1", 10250), "asks for logs on its own machine only"),
        (at("127.0.0.1", 1), "the node at 127.0.0.1:1 does not answer"),
    ],
)
async def test_a_node_that_cannot_be_asked_is_named(status: dict[str, Any], words: str) -> None:
    with pytest.raises(ApiError, match=words):
        await NodeLogs(state_with(status))(WANTED)
