"""Which requests are made for ConfigMaps and Secrets by name, and what is answered."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.client.client import Client
from reflet.errors import Forbidden, NotFound, ServiceUnavailable, TransportError, Unauthorized
from reflet.podconfig.gather_objects import FEW, MANY, MOST_SINGLE_READS, read_objects
from reflet.resolution.objects import ConfigKind, ObjectKey
from reflet.transport.interface import Request, Response, Stream
from tests.unit.client.scripted_transport import ok, refused

KINDS = {"configmaps": "ConfigMap", "secrets": "Secret"}
HELM = "sh.helm.release.v1.web.v1"


class Namespaces:
    """A server that has these objects, by ``namespace/plural/name``; a transport."""

    def __init__(self, *there: str, lists: Response | Exception | None = None) -> None:
        self._there = there
        self._lists = lists
        self.asked: list[str] = []

    async def send(self, request: Request, /) -> Response:
        *_, namespace, plural = request.path.rsplit("/namespaces/", 1)[1].split("/")[:2]
        name = request.path.partition(f"/{plural}/")[2]
        query = dict(request.query).get("fieldSelector", "")
        self.asked.append(f"{namespace}/{plural}/{name or '*'}" + (f" {query}" if query else ""))
        if name:
            there = f"{namespace}/{plural}/{name}" in self._there
            missing = refused(404, "NotFound", f'{plural} "{name}" not found')
            return ok(document(plural, namespace, name)) if there else missing
        if isinstance(self._lists, Exception):
            raise self._lists
        if self._lists is not None:
            return self._lists
        names = [each.rpartition("/")[2] for each in self._there]
        items = [
            document(plural, namespace, each)
            for each in names
            if f"{namespace}/{plural}/{each}" in self._there and each != HELM
        ]
        kind = f"{KINDS[plural]}List"
        return ok({"apiVersion": "v1", "kind": kind, "metadata": {}, "items": items})

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[Stream]:
        raise AssertionError("nothing is watched")

    async def close(self) -> None:
        pass


def document(plural: str, namespace: str, name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": KINDS[plural], "metadata": metadata}


def keys(kind: ConfigKind, count: int, namespace: str = "shop") -> list[ObjectKey]:
    return [(kind, namespace, f"a{number}") for number in range(count)]


async def test_few_are_read_one_by_one() -> None:
    server = Namespaces("shop/configmaps/a0")

    found = await read_objects(Client(server), keys("ConfigMap", 2))

    assert sorted(server.asked) == ["shop/configmaps/a0", "shop/configmaps/a1"]
    assert isinstance(found["ConfigMap", "shop", "a0"], ConfigMap)
    assert isinstance(found["ConfigMap", "shop", "a1"], NotFound)


async def test_many_of_a_namespace_are_read_by_one_list() -> None:
    server = Namespaces("shop/secrets/a0", "shop/secrets/other", "shop/configmaps/a0")
    wanted = keys("Secret", MOST_SINGLE_READS + 1)

    found = await read_objects(Client(server), [*wanted, ("ConfigMap", "shop", "a0")])

    assert sorted(server.asked) == [
        "shop/configmaps/a0",
        "shop/secrets/* type!=helm.sh/release.v1",
    ]
    assert found.keys() == {*wanted, ("ConfigMap", "shop", "a0")}
    assert isinstance(found["Secret", "shop", "a0"], Secret)
    missing = found["Secret", "shop", "a1"]
    assert isinstance(missing, NotFound)
    assert str(missing) == 'secrets "a1" not found'


async def test_where_many_are_wanted_in_all_a_few_are_a_list_already() -> None:
    server = Namespaces()
    per_namespace = FEW + 1
    namespaces = MANY // per_namespace + 1
    wanted = [
        key
        for number in range(namespaces)
        for key in keys("ConfigMap", per_namespace, f"shop-{number}")
    ]

    await read_objects(Client(server), wanted)

    assert sorted(server.asked) == sorted(f"shop-{n}/configmaps/*" for n in range(namespaces))


async def test_who_may_not_list_reads_one_by_one() -> None:
    server = Namespaces("shop/configmaps/a3", lists=refused(403, "Forbidden", "no"))
    wanted = keys("ConfigMap", MOST_SINGLE_READS + 1)

    found = await read_objects(Client(server), wanted)

    assert sorted(server.asked) == [
        "shop/configmaps/*",
        *sorted(f"shop/configmaps/{name}" for _, _, name in wanted),
    ]
    assert isinstance(found["ConfigMap", "shop", "a3"], ConfigMap)
    assert not any(isinstance(answer, Forbidden) for answer in found.values())


async def test_what_helm_keeps_is_not_listed() -> None:
    server = Namespaces(f"shop/secrets/{HELM}")
    wanted: list[ObjectKey] = [*keys("Secret", MOST_SINGLE_READS), ("Secret", "shop", HELM)]

    found = await read_objects(Client(server), wanted)

    assert sorted(server.asked) == [
        "shop/secrets/* type!=helm.sh/release.v1",
        f"shop/secrets/{HELM}",
    ]
    assert isinstance(found["Secret", "shop", HELM], Secret)


async def test_a_list_that_fails_is_the_answer_for_each() -> None:
    server = Namespaces(lists=refused(503, "ServiceUnavailable", "away"))
    wanted = keys("ConfigMap", MOST_SINGLE_READS + 1)

    found = await read_objects(Client(server), wanted)

    assert server.asked == ["shop/configmaps/*"]
    assert all(isinstance(found[key], ServiceUnavailable) for key in wanted)


@pytest.mark.parametrize(
    "failure", [refused(401, "Unauthorized", "who?"), TransportError("refused")]
)
async def test_a_server_that_cannot_be_asked_is_an_error(failure: Response | Exception) -> None:
    with pytest.raises((Unauthorized, TransportError)):
        await read_objects(Client(Namespaces(lists=failure)), keys("Secret", 20))


@pytest.mark.parametrize("count", [1, MOST_SINGLE_READS + 1])
async def test_every_answer_is_counted(count: int) -> None:
    counted: list[int] = []

    await read_objects(Client(Namespaces()), keys("ConfigMap", count), on_answer=counted.append)

    assert sum(counted) == count
