"""Which request a verb is, and what its answer becomes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.api.options import DeleteOptions, ListOptions, PatchType, WatchOptions
from reflet.api.resources import CONFIG_MAPS, PODS
from reflet.api.status import Status
from reflet.api.unstructured import AnyObject
from reflet.client.resource_client import ResourceClient
from reflet.errors import (
    ConfigurationError,
    DecodeError,
    Expired,
    Forbidden,
    NotFound,
    ParseError,
    RefletError,
)
from tests.unit.client.scripted_transport import (
    ScriptedStream,
    ScriptedTransport,
    events,
    ok,
    refused,
)

FOUND = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}


def maps(transport: ScriptedTransport, namespace: str | None = "shop") -> ResourceClient[ConfigMap]:
    return ResourceClient(transport, CONFIG_MAPS, ConfigMap, namespace=namespace)


def listing(*names: str, version: str = "1", more: str = "") -> dict[str, Any]:
    return {
        "kind": "ConfigMapList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": version, "continue": more},
        "items": [{"metadata": {"name": name}} for name in names],
    }


async def test_get_asks_for_one_object() -> None:
    transport = ScriptedTransport(ok(FOUND))

    found = await maps(transport).get("a")

    assert found.data == {"k": "v"}
    (request,) = transport.requests
    assert (request.method, request.path) == ("GET", "/api/v1/namespaces/shop/configmaps/a")


async def test_a_refusal_is_raised_with_the_facts_of_the_request() -> None:
    transport = ScriptedTransport(refused(404, "NotFound", 'configmaps "a" not found'))

    with pytest.raises(NotFound, match='"a" not found') as caught:
        await maps(transport).get("a")

    assert caught.value.verb == "get"
    assert caught.value.path == "/api/v1/namespaces/shop/configmaps/a"


async def test_the_delay_that_a_header_asks_for_is_a_fact_too() -> None:
    transport = ScriptedTransport(refused(403, "Forbidden", "no", **{"retry-after": "7"}))

    with pytest.raises(Forbidden) as caught:
        await maps(transport).list()

    assert caught.value.retry_after == 7


async def test_list_collects_pages() -> None:
    transport = ScriptedTransport(ok(listing("a", "b", more="t")), ok(listing("c", version="9")))

    whole = await maps(transport, None).list(ListOptions(resource_version="0"))

    assert [item.metadata.name for item in whole.items] == ["a", "b", "c"]
    assert whole.metadata.resource_version == "1"
    assert [dict(request.query) for request in transport.requests] == [
        {"limit": "500", "resourceVersion": "0"},
        {"limit": "500", "continue": "t"},
    ]
    assert transport.requests[0].path == "/api/v1/configmaps"


async def test_of_a_list_is_kept_what_is_taken_of_each_object_and_pages_are_told() -> None:
    first = listing("a", "b", more="t")
    first["metadata"]["remainingItemCount"] = 1
    transport = ScriptedTransport(ok(first), ok(listing("c")))
    told: list[tuple[int, int | None]] = []

    names = await maps(transport).list_as(
        lambda item: item.metadata.name, on_page=lambda *page: told.append(page)
    )

    assert names.items == ("a", "b", "c")
    assert told == [(2, 1), (1, 0)]


async def test_a_list_whose_token_expires_starts_over() -> None:
    transport = ScriptedTransport(
        ok(listing("a", more="t")),
        refused(410, "Expired", "too old"),
        ok(listing("b", version="5")),
    )

    whole = await maps(transport).list()

    assert [item.metadata.name for item in whole.items] == ["b"]
    assert whole.metadata.resource_version == "5"


async def test_pages_raise_an_expired_token_after_the_pages_before_it() -> None:
    transport = ScriptedTransport(ok(listing("a", more="t")), refused(410, "Expired", "too old"))
    pages = maps(transport).pages()

    first = await anext(pages)

    assert [item.metadata.name for item in first.items] == ["a"]
    with pytest.raises(Expired):
        await anext(pages)


async def all_pages(client: ResourceClient[ConfigMap]) -> None:
    async for _ in client.pages():
        pass


@pytest.mark.parametrize("read", [ResourceClient.list, ResourceClient.table, all_pages])
async def test_a_server_that_goes_in_circles_is_noticed(read: Any) -> None:
    kind = "Table" if read is ResourceClient.table else "ConfigMapList"
    page = ok({**listing(more="t"), "kind": kind})

    with pytest.raises(RefletError, match="the same continue token twice"):
        await read(maps(ScriptedTransport(page, page)))


async def test_create_sends_the_object() -> None:
    transport = ScriptedTransport(ok(FOUND, 201))

    await maps(transport).create(ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "v"}))

    (request,) = transport.requests
    assert (request.method, request.path) == ("POST", "/api/v1/namespaces/shop/configmaps")
    assert json.loads(request.body) == FOUND
    assert ("content-type", "application/json") in request.headers


async def test_a_patch_says_which_kind_it_is() -> None:
    transport = ScriptedTransport(ok(FOUND))

    await maps(transport).patch("a", [{"op": "remove", "path": "/data/k"}], PatchType.JSON)

    (request,) = transport.requests
    assert request.method == "PATCH"
    assert ("content-type", "application/json-patch+json") in request.headers


async def test_delete_gives_the_status_or_the_object() -> None:
    success = {"kind": "Status", "apiVersion": "v1", "status": "Success"}
    transport = ScriptedTransport(ok(success), ok(FOUND))

    gone = await maps(transport).delete("a", DeleteOptions(grace_period_seconds=0))
    lingering = await maps(transport).delete("a")

    assert isinstance(gone, Status)
    assert isinstance(lingering, ConfigMap)
    assert json.loads(transport.requests[0].body)["gracePeriodSeconds"] == 0


# Parts of objects

SCALE = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}}
SUCCESS = {"apiVersion": "v1", "kind": "Status", "status": "Success"}
PARTS: dict[str, Callable[[ResourceClient[Any], str | None], Awaitable[object]]] = {
    "get": lambda client, part: client.get("a", subresource=part),
    "create": lambda client, part: client.create(FOUND, name="a", subresource=part),
    "replace": lambda client, part: client.replace(FOUND, subresource=part),
    "patch": lambda client, part: client.patch("a", {}, subresource=part),
    "apply": lambda client, part: client.apply(FOUND, field_manager="me", subresource=part),
}


@pytest.mark.parametrize("verb", PARTS)
@pytest.mark.parametrize(
    ("answer", "kind"), [(FOUND, ConfigMap), (SUCCESS, Status), (SCALE, AnyObject)]
)
async def test_a_part_of_an_object_comes_as_what_it_is(
    verb: str, answer: dict[str, Any], kind: type[object]
) -> None:
    transport = ScriptedTransport(ok(answer))

    came = await PARTS[verb](maps(transport), "part")

    assert isinstance(came, kind)
    assert transport.requests[0].path.endswith("/configmaps/a/part")


@pytest.mark.parametrize("verb", PARTS)
@pytest.mark.parametrize("answer", [FOUND, SUCCESS, SCALE])
async def test_a_raw_client_gives_parts_raw(verb: str, answer: dict[str, Any]) -> None:
    raw = ResourceClient(ScriptedTransport(ok(answer)), CONFIG_MAPS, AnyObject, namespace="shop")

    came = await PARTS[verb](raw, "part")

    assert isinstance(came, AnyObject)
    assert came.to_dict() == answer


@pytest.mark.parametrize("verb", PARTS)
@pytest.mark.parametrize("part", [None, "status"])
async def test_the_object_and_its_status_are_the_object_and_nothing_else(
    verb: str, part: str | None
) -> None:
    with pytest.raises(DecodeError, match="expected v1, not 'autoscaling/v1'"):
        await PARTS[verb](maps(ScriptedTransport(ok(SCALE))), part)


async def test_a_struct_that_lacks_fields_is_not_written_back() -> None:
    pods = ResourceClient(ScriptedTransport(), PODS, Pod, namespace="shop")

    with pytest.raises(ConfigurationError, match="would lose"):
        await pods.replace(Pod(metadata=ObjectMeta(name="web")))


async def test_an_object_without_a_name_cannot_be_replaced() -> None:
    with pytest.raises(ConfigurationError, match=r"no metadata\.name"):
        await maps(ScriptedTransport()).replace({"kind": "ConfigMap", "metadata": {}})


async def test_a_name_that_cannot_be_in_a_path_is_refused_before_it_is_sent() -> None:
    transport = ScriptedTransport()

    with pytest.raises(ParseError):
        await maps(transport).get("../secrets")

    assert transport.requests == []


async def test_a_watch_gives_events_and_closes_its_stream() -> None:
    transport = ScriptedTransport(
        events({"type": "ADDED", "object": FOUND}, {"type": "DELETED", "object": FOUND})
    )

    async with maps(transport).watch(WatchOptions(resource_version="5")) as watch:
        seen = [(event.type, event.object.metadata.name) async for event in watch]

    assert seen == [("ADDED", "a"), ("DELETED", "a")]
    assert transport.open_streams == 0
    assert dict(transport.requests[0].query)["resourceVersion"] == "5"


async def test_a_refused_watch_raises_before_anything_is_read() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    transport = ScriptedTransport(ScriptedStream(410, [json.dumps(status).encode()]))

    with pytest.raises(Expired) as caught:
        async with maps(transport).watch():
            raise AssertionError("the watch was opened")

    assert caught.value.verb == "watch"
    assert transport.open_streams == 0


async def test_tables_are_collected_over_pages() -> None:
    def table(name: str, more: str) -> dict[str, Any]:
        return {
            "kind": "Table",
            "metadata": {"resourceVersion": "3", "continue": more},
            "columnDefinitions": [{"name": "Name"}],
            "rows": [{"cells": [name]}],
        }

    transport = ScriptedTransport(ok(table("a", "t")), ok(table("b", "")))

    whole = await maps(transport).table()

    assert [row.cells for row in whole.rows] == [("a",), ("b",)]
    assert "as=Table" in dict(transport.requests[0].headers)["accept"]


async def test_a_page_of_a_table_may_be_cells_alone() -> None:
    answer = {"kind": "Table", "rows": [{"cells": ["a"], "object": None}]}
    transport = ScriptedTransport(ok(answer))

    page = await maps(transport).table_page(ListOptions(limit=7), only_cells=True)

    assert [row.cells for row in page.rows] == [("a",)]
    assert dict(transport.requests[0].query) == {"limit": "7", "includeObject": "None"}
