"""Watches: what they show, where they begin and how they end."""

from __future__ import annotations

from reflet.devserver.faults import Action, Fault
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.plain_client import MERGE_PATCH, TABLE, Client, config_map


def version_of(client: Client, path: str) -> str:
    return str(client.get(path).body["metadata"]["resourceVersion"])


def test_a_watch_tells_of_every_change_in_order(client: Client, config_maps: str) -> None:
    start = version_of(client, config_maps)

    with client.watch(f"{config_maps}?watch=1&resourceVersion={start}") as watch:
        client.create(config_maps, config_map("a"))
        client.request("PATCH", f"{config_maps}/a", b'{"data":{"x":"1"}}', MERGE_PATCH)
        client.request("DELETE", f"{config_maps}/a")
        told = watch.kinds_and_names(3)

    assert told == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_watch_without_a_version_begins_with_what_is_there(
    client: Client, config_maps: str
) -> None:
    client.create(config_maps, config_map("a"))
    client.create(config_maps, config_map("b"))

    with client.watch(f"{config_maps}?watch=true") as watch:
        told = watch.kinds_and_names(2)

    assert told == [("ADDED", "a"), ("ADDED", "b")]


def test_a_watch_resumes_from_any_version_that_is_remembered(
    client: Client, config_maps: str
) -> None:
    first = client.create(config_maps, config_map("a"))["metadata"]["resourceVersion"]
    client.create(config_maps, config_map("b"))

    with client.watch(f"{config_maps}?watch=1&resourceVersion={first}") as watch:
        told = watch.kinds_and_names(1)

    assert told == [("ADDED", "b")]


def test_a_version_that_is_forgotten_is_an_error_event(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    old = version_of(client, config_maps)
    server.add_fault(Fault(Action.EXPIRE, now=True))

    with client.watch(f"{config_maps}?watch=1&resourceVersion={old}") as watch:
        event = watch.event()
        rest = watch.rest()

    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    assert event["object"]["reason"] == "Expired"
    assert rest == b""


def test_a_streaming_list_ends_with_a_bookmark_and_goes_on(
    client: Client, config_maps: str
) -> None:
    client.create(config_maps, config_map("a"))
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"

    with client.watch(f"{config_maps}?{query}&allowWatchBookmarks=true") as watch:
        first, mark = watch.event(), watch.event()
        client.create(config_maps, config_map("b"))
        told = watch.kinds_and_names(1)

    assert first["type"] == "ADDED"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert told == [("ADDED", "b")]


def test_an_object_that_stops_to_match_is_deleted_for_the_watcher(
    client: Client, config_maps: str
) -> None:
    client.create(config_maps, config_map("a", labels={"app": "web"}))
    start = version_of(client, config_maps)
    query = f"watch=1&resourceVersion={start}&labelSelector=app%3Dweb"

    with client.watch(f"{config_maps}?{query}") as watch:
        body = b'{"metadata":{"labels":{"app":"other"}}}'
        client.request("PATCH", f"{config_maps}/a", body, MERGE_PATCH)
        event = watch.event()

    assert event["type"] == "DELETED"
    assert event["object"]["metadata"]["labels"] == {"app": "web"}


def test_a_watch_of_one_name_hears_of_no_other(client: Client, config_maps: str) -> None:
    query = "watch=1&fieldSelector=metadata.name%3Dmine"

    with client.watch(f"{config_maps}?{query}") as watch:
        client.create(config_maps, config_map("other"))
        client.create(config_maps, config_map("mine"))
        told = watch.kinds_and_names(1)

    assert told == [("ADDED", "mine")]


def test_a_watch_ends_cleanly_when_its_time_is_over(client: Client, config_maps: str) -> None:
    with client.watch(f"{config_maps}?watch=1&timeoutSeconds=1") as watch:
        assert watch.rest() == b""


def test_a_watch_of_tables_names_its_columns_once(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a"))
    client.create(config_maps, config_map("b"))

    with client.watch(f"{config_maps}?watch=1", **TABLE) as watch:
        first, second = watch.event()["object"], watch.event()["object"]

    assert [column["name"] for column in first["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert second["columnDefinitions"] is None
    assert second["rows"][0]["cells"][0] == "b"


def test_the_old_path_watches_one_object(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a"))
    client.create(config_maps, config_map("b"))

    with client.watch("/api/v1/watch/namespaces/default/configmaps/b") as watch:
        assert watch.kinds_and_names(1) == [("ADDED", "b")]


def test_a_version_that_is_no_number_is_refused(client: Client, config_maps: str) -> None:
    answer = client.get(f"{config_maps}?watch=1&resourceVersion=abc")

    assert answer.code == 500
    assert answer.message.startswith('resourceVersion: Invalid value: "abc"')


def test_both_faces_of_events_are_watched(client: Client) -> None:
    with client.watch("/apis/events.k8s.io/v1/namespaces/default/events?watch=1") as watch:
        about = {"kind": "Pod", "name": "p", "namespace": "default"}
        body = {"metadata": {"name": "e"}, "involvedObject": about, "message": "hello"}
        client.create("/api/v1/namespaces/default/events", body)
        event = watch.event()

    assert event["object"]["apiVersion"] == "events.k8s.io/v1"
    assert event["object"]["note"] == "hello"
