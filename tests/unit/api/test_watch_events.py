from typing import Literal

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.meta import KubernetesObject, ObjectMeta
from reflet.api.unstructured import AnyObject
from reflet.api.watch_events import BrokenLine, ErrorEvent, EventDecoder, WatchEvent

ADDED = b'{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}}'
BOOKMARK = (
    b'{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":'
    b'{"resourceVersion":"9","creationTimestamp":null,'
    b'"annotations":{"k8s.io/initial-events-end":"true"}}}}'
)
ERROR = (
    b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},'
    b'"status":"Failure","message":"too old","reason":"Expired","code":410}}'
)


def types(decoder: EventDecoder[ConfigMap], buffer: bytes) -> list[str]:
    return [
        "broken" if isinstance(event, BrokenLine) else event.type
        for event in decoder.decode_lines(buffer)
    ]


def test_lines_become_events_in_order() -> None:
    events = EventDecoder(ConfigMap).decode_lines(ADDED + b"\n" + BOOKMARK + b"\n")

    match events:
        case [WatchEvent(type="ADDED", object=first), WatchEvent(type="BOOKMARK", object=second)]:
            assert first.metadata.name == "a"
            assert second.metadata.resource_version == "9"
            assert second.metadata.annotations == {"k8s.io/initial-events-end": "true"}
        case _:
            pytest.fail(f"unexpected events: {events}")


class Gadget(msgspec.Struct, rename="camel"):
    api_version: Literal["v1"]
    kind: Literal["ConfigMap"]
    metadata: ObjectMeta
    spec: dict[str, int]


def test_a_bookmark_need_not_have_what_a_class_requires() -> None:
    (event,) = EventDecoder(Gadget).decode_lines(BOOKMARK)

    assert isinstance(event, WatchEvent)
    assert (event.type, event.object.metadata.resource_version) == ("BOOKMARK", "9")


@pytest.mark.parametrize("buffer", [b"", b"\n", b"\r\n\n", b"  \n"])
def test_empty_lines_are_nothing(buffer: bytes) -> None:
    assert EventDecoder(ConfigMap).decode_lines(buffer) == []


@pytest.mark.parametrize("kind", [ConfigMap, AnyObject])
def test_an_error_event_carries_the_servers_status(kind: type[KubernetesObject]) -> None:
    events = EventDecoder(kind).decode_lines(ADDED + b"\n" + ERROR)

    last = events[-1]
    assert isinstance(last, ErrorEvent)
    assert (last.type, last.object.code, last.object.reason) == ("ERROR", 410, "Expired")
    assert len(events) == 2


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"{", ""),
        (b"7", ""),
        (b'{"type":"ADDED"}', "object"),
        (b'{"object":{}}', "type"),
        (b'{"type":"EXPLODED","object":{}}', "type"),
        (b'{"type":"ADDED","object":{"metadata":{}}}', "object.metadata.name"),
        (b'{"type":"ADDED","object":{"metadata":{"generateName":"a-"}}}', "object.metadata.name"),
        (b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a"}}}', "object.kind"),
        (b'{"type":"ADDED","object":{"metadata":{"name":"a"},"data":{"k":1}}}', 'object.data["k"]'),
        (b'{"type":"ERROR","object":{"kind":"Pod"}}', "object.kind"),
        (b'{"type":"ERROR","object":7}', "object"),
        (b'{"type":"ADDED","object":' + b"[" * 100_000, ""),
        (b'{"type":"ADDED","object":{"metadata":{"name":"\xff"}}}', "object"),
    ],
)
def test_a_broken_line_comes_after_the_good_ones_and_ends_the_buffer(
    line: bytes, path: str
) -> None:
    events = EventDecoder(ConfigMap).decode_lines(b"\n".join([ADDED, BOOKMARK, line, ADDED]))

    assert [type(event) for event in events] == [WatchEvent, WatchEvent, BrokenLine]
    last = events[-1]
    assert isinstance(last, BrokenLine)
    assert last.error.path == path


def test_nulls_that_servers_send_are_no_reason_to_stop() -> None:
    line = b'{"type":"MODIFIED","object":{"metadata":{"name":"a","labels":null},"data":null}}'

    assert types(EventDecoder(ConfigMap), ADDED + b"\n" + line) == ["ADDED", "MODIFIED"]


def test_the_bookmark_of_a_pod_has_no_containers() -> None:
    line = (
        b'{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":'
        b'{"resourceVersion":"9","creationTimestamp":null},"spec":{"containers":null},"status":{}}}'
    )

    (event,) = EventDecoder(Pod).decode_lines(line)

    assert isinstance(event, WatchEvent)
    assert event.object.metadata.resource_version == "9"


def test_objects_of_any_kind_keep_their_bytes() -> None:
    line = b'{"type":"DELETED","object":{"kind":"Pump", "metadata":{"name":"p"},"spec":{"x":1}}}'

    events = EventDecoder(AnyObject).decode_lines(line + b"\n" + BOOKMARK)

    assert [type(event) for event in events] == [WatchEvent, WatchEvent]
    first = events[0]
    assert isinstance(first, WatchEvent)
    assert first.object.to_json() == b'{"kind":"Pump", "metadata":{"name":"p"},"spec":{"x":1}}'


def test_an_object_of_any_kind_without_a_name_is_a_broken_line() -> None:
    events = EventDecoder(AnyObject).decode_lines(ADDED + b'\n{"type":"ADDED","object":{}}')

    assert [type(event) for event in events] == [WatchEvent, BrokenLine]
