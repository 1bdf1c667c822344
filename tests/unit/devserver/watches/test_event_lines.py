from __future__ import annotations

import msgspec
import pytest

from reflet.apirules.refusals import expired
from reflet.devserver.storage.stored import Stored, StoredChange, moved_to, stored_at
from reflet.devserver.watches.event_lines import (
    CHUNKED_JSON_LINES,
    JSON_LINES,
    EventType,
    Representation,
    ServedEvent,
    Sightings,
    addition,
    bookmark,
    http_chunk,
    json_line,
    refusal,
)
from tests.unit.devserver.watch_scene import BLANK, config_map, key, labelled

RED = labelled(color="red")


def state(revision: int, color: str) -> Stored:
    return stored_at(key("a"), config_map("a", labels={"color": color}), revision, 1)


def modified(before: str, after: str) -> Sightings:
    return Sightings(StoredChange("MODIFIED", state(5, after), state(4, before)))


def test_a_line_holds_the_type_and_the_object() -> None:
    line = json_line(addition(state(5, "red")))

    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert msgspec.json.decode(line) == {"type": "ADDED", "object": state(5, "red").object}


def test_a_chunk_says_its_length_in_hexadecimal() -> None:
    assert http_chunk(b"0123456789abcdef") == b"10\r\n0123456789abcdef\r\n"


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ("red", "red", "MODIFIED"),
        ("blue", "red", "ADDED"),
        ("red", "blue", "DELETED"),
        ("blue", "blue", None),
    ],
)
def test_a_selector_decides_what_a_modification_looks_like(
    before: str, after: str, seen: EventType | None
) -> None:
    assert modified(before, after).type_for(RED) == seen


@pytest.mark.parametrize(("color", "seen"), [("red", "ADDED"), ("blue", None)])
def test_a_new_object_is_seen_if_it_matches(color: str, seen: EventType | None) -> None:
    assert Sightings(StoredChange("ADDED", state(5, color))).type_for(RED) == seen


@pytest.mark.parametrize(("color", "seen"), [("red", "DELETED"), ("blue", None)])
def test_a_deleted_object_is_seen_if_it_matched(color: str, seen: EventType | None) -> None:
    last = state(4, color)
    change = StoredChange("DELETED", moved_to(last, 5), last)

    assert Sightings(change).type_for(RED) == seen


def test_an_object_that_ceases_to_match_is_shown_as_it_last_matched_with_the_new_version() -> None:
    event = modified("red", "blue").event("DELETED")

    assert event.object["metadata"]["labels"] == {"color": "red"}
    assert event.object["metadata"]["resourceVersion"] == "5"
    assert msgspec.json.decode(event.encoded) == event.object


def test_an_object_that_begins_to_match_is_shown_as_it_is() -> None:
    event = modified("blue", "red").event("ADDED")

    assert (event.type, event.object) == ("ADDED", state(5, "red").object)


def test_without_a_selector_a_change_is_what_it_is() -> None:
    assert modified("red", "blue").type_for(None) == "MODIFIED"


def test_an_event_is_put_into_bytes_once_for_each_representation() -> None:
    calls: list[ServedEvent] = []

    def render(event: ServedEvent) -> bytes:
        calls.append(event)
        return b"table"

    table = Representation(render)
    sightings = modified("red", "red")

    assert sightings.rendered("MODIFIED", table) is sightings.rendered("MODIFIED", table)
    assert len(calls) == 1
    line = sightings.rendered("MODIFIED", JSON_LINES)
    assert sightings.rendered("MODIFIED", CHUNKED_JSON_LINES) == http_chunk(line)


def test_a_bookmark_is_an_empty_object_with_a_version() -> None:
    assert bookmark(BLANK, 7).object == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7"},
    }


def test_the_bookmark_after_the_initial_events_says_so() -> None:
    pod = {"kind": "Pod", "apiVersion": "v1", "spec": {"containers": None}, "status": {}}

    assert bookmark(pod, 7, ends_initial_events=True).object == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "resourceVersion": "7",
            "annotations": {"k8s.io/initial-events-end": "true"},
        },
        "spec": {"containers": None},
        "status": {},
    }


def test_annotations_that_a_kind_always_has_stay_in_the_bookmark() -> None:
    quirk = {"deprecated.daemonset.template.generation": "0"}

    event = bookmark({"metadata": {"annotations": quirk}}, 7, ends_initial_events=True)

    assert event.object["metadata"]["annotations"] == {
        **quirk,
        "k8s.io/initial-events-end": "true",
    }


def test_a_refusal_in_a_stream_is_an_error_event_with_the_status() -> None:
    line = json_line(refusal(expired("too old resource version: 1 (5)")))

    assert msgspec.json.decode(line) == {
        "type": "ERROR",
        "object": {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "too old resource version: 1 (5)",
            "reason": "Expired",
            "code": 410,
        },
    }
