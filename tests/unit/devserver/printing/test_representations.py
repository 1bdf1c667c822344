"""What clients accept, and the form they get."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.printing.answers import ListAnswer, ObjectAnswer
from reflet.devserver.printing.representations import EventForms, Form, negotiate, render
from reflet.devserver.request.request_info import ApiRequest
from reflet.devserver.storage.stored import Key, stored_at
from reflet.devserver.watches.event_lines import CHUNKED_JSON_LINES, addition
from reflet.errors import NotAcceptable

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REQUEST = ApiRequest("GET", "/")
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def config_maps() -> ServedKind:
    kind = Kinds().by_resource("", "v1", "configmaps")
    assert kind is not None
    return kind


def document(name: str) -> dict[str, Any]:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}}


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form()),
        ("*/*", Form()),
        ("application/json", Form()),
        ("application/yaml", Form("yaml")),
        ("text/html,*/*;q=0.1", Form()),
        ("application/json;q=0.5, application/yaml", Form("yaml")),
        (TABLE, Form(as_="Table")),
        (f"{TABLE},application/json", Form(as_="Table")),
        ("application/vnd.kubernetes.protobuf,application/json", Form()),
        ("application/json;as=Foo;v=v1;g=meta.k8s.io,application/json", Form()),
    ],
)
def test_the_best_form_that_is_served_is_chosen(accept: str, form: Form) -> None:
    assert negotiate(accept, REQUEST) == form


@pytest.mark.parametrize(
    ("accept", "watch", "said"),
    [
        ("application/foo", False, "406: Not Acceptable"),
        ("application/vnd.kubernetes.protobuf", False, "only the following media types"),
        ("application/yaml", True, "application/json;stream=watch"),
    ],
)
def test_others_are_refused(accept: str, watch: bool, said: str) -> None:
    with pytest.raises(NotAcceptable) as refused:
        negotiate(accept, REQUEST, watch=watch)

    assert said in refused.value.message


def test_a_list_is_written_from_what_is_stored() -> None:
    kind = config_maps()
    items = [stored_at(Key("configmaps", "n", name), document(name), 5, 5) for name in ("a", "b")]

    content = render(ListAnswer(kind, items, {"resourceVersion": "9"}), Form(), NOW).content

    assert msgspec.json.decode(content) == {
        "kind": "ConfigMapList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "9"},
        "items": [
            {"metadata": {"name": "a", "resourceVersion": "5"}},
            {"metadata": {"name": "b", "resourceVersion": "5"}},
        ],
    }


def test_the_slow_way_says_the_same_as_the_fast_one() -> None:
    kind = config_maps()
    items = [stored_at(Key("configmaps", "n", "a"), document("a"), 5, 5)]
    answer = ListAnswer(kind, items, {"resourceVersion": "9"})

    fast = render(answer, Form(), NOW).content
    slow = render(answer, Form(pretty=True), NOW).content

    assert msgspec.json.decode(fast) == msgspec.json.decode(slow)


def test_one_object_can_be_a_table() -> None:
    table = render(ObjectAnswer(config_maps(), document("a")), Form(as_="Table"), NOW).content

    assert msgspec.json.decode(table)["rows"][0]["cells"] == ["a", 0, "<unknown>"]


def test_watchers_share_their_representation() -> None:
    forms, kind = EventForms(lambda: NOW), config_maps()

    assert forms.form(kind, Form(pretty=True)) is CHUNKED_JSON_LINES
    assert forms.form(kind, Form(as_="Table")) is forms.form(kind, Form(as_="Table"))


def test_an_event_of_metadata_has_nothing_else() -> None:
    forms, kind = EventForms(lambda: NOW), config_maps()
    stored = stored_at(Key("configmaps", "n", "a"), {**document("a"), "data": {"x": "y"}}, 5, 5)

    line = forms.form(kind, Form(as_="PartialObjectMetadata")).render(addition(stored))

    event = msgspec.json.decode(line.split(b"\r\n")[1])
    assert event["object"]["kind"] == "PartialObjectMetadata"
    assert "data" not in event["object"]
