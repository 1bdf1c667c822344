"""The verbs for programs without an event loop: the same as with one, but waiting."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.options import ListOptions, PatchType, WatchOptions
from reflet.blocking import BlockingCluster, BlockingResource, connect
from reflet.client.resource_client import ResourceClient
from reflet.cluster import Cluster
from reflet.cluster import connect as connect_with_a_loop
from reflet.errors import (
    ConfigurationError,
    Expired,
    Forbidden,
    NotFound,
    ParseError,
)
from reflet.podconfig.gather import pod_inputs
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.interface import Response
from tests.unit.blocking.cluster_scenes import (
    ADDED,
    DISCOVERY,
    LIST,
    SCALE,
    SETTINGS,
    TOKEN,
    TYPED,
    ScriptedCluster,
    cluster_with,
    config_maps,
    page,
)
from tests.unit.client.scripted_transport import (
    ScriptedStream,
    events,
    ok,
    refused,
)

ON_A_CLUSTER = {"pod_inputs": pod_inputs}
"""Functions of the asyncio face that are methods of the waiting one."""

# Each works with either face: one answers at once, the other is awaited.
VERBS: dict[str, tuple[Callable[[Any], Any], tuple[Response, ...]]] = {
    "get": (lambda c: config_maps(c).get("settings"), (ok(SETTINGS),)),
    "get status": (lambda c: config_maps(c).get("a", subresource="status"), (ok(SETTINGS),)),
    "get raw": (lambda c: c.resource("cm", raw=True).get("settings"), (ok(SETTINGS),)),
    "list": (lambda c: config_maps(c).list(ListOptions(label_selector="a=b")), (ok(LIST),)),
    "list by twos": (lambda c: config_maps(c).list(page_size=2), (ok(LIST),)),
    "list as": (
        lambda c: config_maps(c).list_as(lambda item: item.metadata.name),
        (ok(LIST),),
    ),
    "create": (lambda c: config_maps(c).create(TYPED), (ok(SETTINGS, 201),)),
    "create a part": (
        lambda c: c.resource("pods", raw=True).create(SETTINGS, name="a", subresource="eviction"),
        (ok(SETTINGS, 201),),
    ),
    "create another part": (
        lambda c: config_maps(c).create(SETTINGS, name="a", subresource="eviction"),
        (ok({"kind": "Status", "status": "Success"}, 201),),
    ),
    "get a part": (lambda c: config_maps(c).get("a", subresource="scale"), (ok(SCALE),)),
    "replace a part": (
        lambda c: config_maps(c).replace(SCALE, subresource="scale"),
        (ok(SCALE),),
    ),
    "patch a part": (
        lambda c: config_maps(c).patch("a", {}, subresource="scale"),
        (ok(SCALE),),
    ),
    "apply a part": (
        lambda c: config_maps(c).apply(SCALE, field_manager="me", subresource="scale"),
        (ok(SCALE),),
    ),
    "replace": (lambda c: config_maps(c).replace(SETTINGS), (ok(SETTINGS),)),
    "patch": (
        lambda c: config_maps(c).patch("settings", [{"op": "test"}], PatchType.JSON),
        (ok(SETTINGS),),
    ),
    "apply": (
        lambda c: config_maps(c).apply(SETTINGS, field_manager="me", force=True),
        (ok(SETTINGS),),
    ),
    "delete": (lambda c: config_maps(c).delete("settings"), (ok({"kind": "Status"}),)),
    "delete collection": (
        lambda c: config_maps(c).delete_collection(ListOptions(label_selector="a=b")),
        (ok(LIST),),
    ),
    "find": (lambda c: c.find("cm"), ()),
    "resources": (lambda c: c.resources(refresh=True), (ok(DISCOVERY), ok(DISCOVERY))),
    "version": (lambda c: c.version(), (ok({"gitVersion": "v1.36.0"}),)),
    "request token": (
        lambda c: c.request_token("robot", audiences=["vault"], pod=("web", "7")),
        (ok(TOKEN, 201),),
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_asks_and_answers_as_the_asyncio_face_does(verb: str) -> None:
    call, answers = VERBS[verb]
    awaited = ScriptedCluster(*answers)
    expected = asyncio.run(call(awaited))

    with cluster_with(*answers) as (cluster, transport):
        got = call(cluster)

    assert got == expected
    assert transport.requests == awaited.transport.requests


@pytest.mark.parametrize(
    ("waiting", "awaited"), [(BlockingResource, ResourceClient), (BlockingCluster, Cluster)]
)
def test_every_verb_takes_what_the_asyncio_face_takes(
    waiting: type[Any], awaited: type[Any]
) -> None:
    for name, method in inspect.getmembers(waiting, inspect.isfunction):
        taken = inspect.signature(method).parameters
        hands_on_everything = any(each.kind is each.VAR_KEYWORD for each in taken.values())
        if not name.startswith("_") and not hands_on_everything:
            face = getattr(awaited, name, None) or ON_A_CLUSTER[name]
            expected = {**inspect.signature(face).parameters}
            # What is a method here and a function there takes the cluster by another name.
            expected.pop("cluster", None)
            assert {**taken, "self": 0} == {**expected, "self": 0}, name


def test_no_verb_is_missing() -> None:
    inside = {
        "page",
        "table",
        "table_of",
        "table_page",
    }  # what the others and the command line are made of
    verbs = {
        name for name, _ in inspect.getmembers(ResourceClient, inspect.isfunction) if name[0] != "_"
    }

    assert verbs - set(dir(BlockingResource)) == inside


def test_the_namespace_and_the_resource_are_told() -> None:
    with cluster_with() as (cluster, _):
        assert cluster.namespace == "shop"
        assert cluster.resource("cm").resource.plural == "configmaps"


def test_errors_are_those_of_the_asyncio_face() -> None:
    with cluster_with(refused(404, "NotFound", 'configmaps "x" not found')) as (cluster, _):
        with pytest.raises(NotFound, match="not found"):
            cluster.resource(ConfigMap).get("x")
        with pytest.raises(ParseError, match="did you mean secrets"):
            cluster.resource("secretz")
        with pytest.raises(ConfigurationError, match=r"metadata\.name"):
            cluster.resource(ConfigMap).replace({})


def test_pages_come_one_after_the_other() -> None:
    with cluster_with(page("a"), page("b"), page("")) as (cluster, _):
        pages = list(cluster.resource(ConfigMap).pages(page_size=1))

    assert [[each.metadata.name for each in page.items] for page in pages] == [["settings"]] * 3


def test_pages_left_early_are_fetched_no_further() -> None:
    with cluster_with(*(page("more") for _ in range(100))) as (cluster, transport):
        for _ in cluster.resource(ConfigMap).pages(page_size=1):
            break
        asked = len(transport.requests)
        cluster.find("cm")

        assert len(transport.requests) == asked < 100


def test_a_failing_page_comes_after_the_good_ones() -> None:
    expired = refused(410, "Expired", "the token is too old")
    with cluster_with(page("a"), expired) as (cluster, _):
        pages = cluster.resource(ConfigMap).pages(page_size=1)

        assert len(next(pages).items) == 1
        with pytest.raises(Expired):
            next(pages)


def test_a_watch_gives_its_events_one_by_one_and_is_closed() -> None:
    with cluster_with(events(ADDED, ADDED)) as (cluster, transport):
        with cluster.resource(ConfigMap).watch(WatchOptions(resource_version="5")) as watch:
            assert transport.open_streams == 1
            names = [event.object.metadata.name for event in watch]

        assert names == ["settings", "settings"]
        assert transport.open_streams == 0


def test_a_refused_watch_raises_before_the_block() -> None:
    answer = refused(403, "Forbidden", "no")
    stream = ScriptedStream(403, [answer.body])
    with (
        cluster_with(stream) as (cluster, transport),
        pytest.raises(Forbidden, match="no"),
        cluster.resource(ConfigMap).watch(),
    ):
        pytest.fail("it was refused")

    assert transport.open_streams == 0


def test_an_error_event_is_raised_after_the_events_before_it() -> None:
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    with cluster_with(events(ADDED, {"type": "ERROR", "object": gone})) as (cluster, transport):
        with cluster.resource(ConfigMap).watch() as watch:
            assert next(watch).type == "ADDED"
            with pytest.raises(Expired, match="too old"):
                next(watch)

        assert transport.open_streams == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), LookupError("mine")])
def test_an_error_in_the_block_closes_the_watch_and_goes_on(error: BaseException) -> None:
    with cluster_with(events(ADDED, ADDED)) as (cluster, transport):
        with pytest.raises(type(error)) as raised, cluster.resource(ConfigMap).watch() as watch:
            raise_after(next(watch), error)

        assert raised.value is error
        assert transport.open_streams == 0


def raise_after(_: object, error: BaseException) -> None:
    raise error


def test_after_the_block_a_watch_has_no_more_events() -> None:
    with cluster_with(events(ADDED, ADDED)) as (cluster, _):
        with cluster.resource(ConfigMap).watch() as watch:
            next(watch)

        assert list(watch) == []


def test_without_settings_the_kubeconfig_is_used(tmp_path: Path) -> None:
    file = tmp_path / "config"
    cluster = {"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "x", "context": {"cluster": "c", "namespace": "shop"}}
    file.write_text(json.dumps({"clusters": [cluster], "contexts": [context]}))

    with connect(kubeconfig=str(file), context="x") as connected:
        assert connected.namespace == "shop"
    with connect(kubeconfig=str(file), context="x", namespace="other") as connected:
        assert connected.namespace == "other"


def test_the_limit_of_requests_can_be_given() -> None:
    settings = ConnectionSettings(server="https://127.0.0.1:1")

    with connect(settings, qps=1000, burst=2000) as cluster:
        taken = cluster._cluster.settings

    assert (taken.qps, taken.burst) == (1000, 2000)


def test_it_is_connected_in_the_same_way() -> None:
    taken = inspect.signature(connect).parameters

    assert taken == inspect.signature(connect_with_a_loop).parameters
