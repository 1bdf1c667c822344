"""Histories of many objects: one list for all namespaces, less where less is allowed."""

from __future__ import annotations

from typing import Any

from reflet.client.client import Client
from reflet.errors import NotFound
from reflet.insight.stale.object_history import ObjectHistory
from reflet.podconfig.gather_objects import read_histories
from reflet.resolution.objects import ObjectKey
from reflet.transport.interface import Request, Response
from tests.unit.client.scripted_transport import ok, refused


class Server:
    """A server with one ConfigMap in each of two namespaces; *forbids* lists of all of them."""

    def __init__(self, *, forbids: bool = False) -> None:
        self._forbids = forbids
        self.asked: list[str] = []

    async def send(self, request: Request, /) -> Response:
        self.asked.append(request.path)
        if request.path == "/api/v1/configmaps":
            if self._forbids:
                return refused(403, "Forbidden", "not all of them")
            items = [item(namespace) for namespace in ("a", "b")]
            return ok({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {}, "items": items})
        namespace, name = request.path.split("/")[4], request.path.rpartition("/")[2]
        if name == "settings":
            return ok({"apiVersion": "v1", "kind": "ConfigMap", **item(namespace)})
        return refused(404, "NotFound", f'configmaps "{name}" not found')

    def stream(self, request: Request, /, *, silence: float | None = None) -> Any:
        raise AssertionError("nothing is watched")

    async def close(self) -> None:
        pass


def item(namespace: str) -> dict[str, Any]:
    return {"metadata": {"name": "settings", "namespace": namespace}, "data": {"k": "geheim"}}


KEYS: list[ObjectKey] = [
    ("ConfigMap", "a", "settings"),
    ("ConfigMap", "b", "settings"),
    ("ConfigMap", "b", "nope"),
]


async def test_one_list_is_enough_for_all_namespaces() -> None:
    server = Server()

    found = await read_histories(Client(server), KEYS, everywhere=True)

    assert server.asked == ["/api/v1/configmaps"]
    assert [type(found[key]) for key in KEYS] == [ObjectHistory, ObjectHistory, NotFound]
    assert "geheim" not in repr(found)


async def test_who_may_not_list_all_reads_what_is_wanted() -> None:
    server = Server(forbids=True)

    found = await read_histories(Client(server), KEYS, everywhere=True)

    assert sorted(server.asked[1:]) == [
        "/api/v1/namespaces/a/configmaps/settings",
        "/api/v1/namespaces/b/configmaps/nope",
        "/api/v1/namespaces/b/configmaps/settings",
    ]
    assert isinstance(found["ConfigMap", "b", "settings"], ObjectHistory)
