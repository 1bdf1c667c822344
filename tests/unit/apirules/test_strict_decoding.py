from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.schema.kinds import Kinds, custom_schema
from reflet.apirules.schema.schemas import Schemas
from reflet.apirules.strict_decoding import check_body, prune, read_json
from reflet.errors import BadRequest, Invalid
from tests.unit.devserver.object_scene import DEFINITION, KINDS, kind_of

CONFIG_MAP = kind_of("configmaps")


def checked(document: Any, validation: str = "") -> tuple[dict[str, Any], list[str]]:
    return check_body(CONFIG_MAP, document, kinds=KINDS, field_validation=validation)


def test_a_body_without_kind_is_of_the_kind_of_its_url() -> None:
    made, warnings = checked({"metadata": {"name": "x"}})

    assert made == {"metadata": {"name": "x"}, "kind": "ConfigMap", "apiVersion": "v1"}
    assert warnings == []


@pytest.mark.parametrize("validation", ["", "Warn"])
def test_unknown_fields_are_warned_of(validation: str) -> None:
    assert checked({"foo": 1}, validation)[1] == ['unknown field "foo"']


def test_unknown_fields_are_nothing_when_ignored() -> None:
    assert checked({"foo": 1}, "Ignore")[1] == []


def test_unknown_fields_are_refused_when_strict() -> None:
    document = read_json(CONFIG_MAP, b'{"foo": 1, "data": {"a": "1", "a": "2"}}')

    with pytest.raises(BadRequest) as caught:
        checked(document, "Strict")

    assert caught.value.message == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        'unknown field "foo", duplicate field "data.a"'
    )


def test_complaints_of_who_read_the_body_are_joined() -> None:
    _, warnings = check_body(CONFIG_MAP, {}, kinds=KINDS, more_complaints=("said before",))

    assert warnings == ["said before"]


NOT_REGISTERED = 'is registered for version "{}" in scheme "pkg/runtime/scheme.go:111"'


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"kind": "Secret", "apiVersion": "v1"},
            (
                'Secret in version "v1" cannot be handled as a ConfigMap: '
                "converting (v1.Secret) to (core.ConfigMap): unknown conversion"
            ),
        ),
        (
            {"kind": "Nope", "apiVersion": "v1"},
            'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" '
            + NOT_REGISTERED.format("v1"),
        ),
        (
            {"kind": "ConfigMap", "apiVersion": "apps/v1"},
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" '
            + NOT_REGISTERED.format("apps/v1"),
        ),
        (
            {"data": {"a": 1}},
            (
                'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot '
                "unmarshal number into Go struct field ConfigMap.data of type string"
            ),
        ),
    ],
)
def test_another_kind_or_type_is_refused(document: Any, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        checked(document)

    assert caught.value.message == message


def test_an_event_of_the_other_group_is_refused_by_its_version() -> None:
    body = {"apiVersion": "events.k8s.io/v1", "kind": "Event"}

    with pytest.raises(
        BadRequest, match=r"version in the data \(events.k8s.io/v1\) does not match"
    ):
        check_body(kind_of("events"), body, kinds=KINDS)


@pytest.mark.parametrize(
    ("raw", "ending"),
    [
        (b"", "unexpected end of JSON input (<empty>)"),
        (b"{", "unexpected end of JSON input ({)"),
        (b"nope", "invalid character 'o' in literal null (expecting 'u') (6e6f7065)"),
        (b'{"apiVersion": "v1", "kind": "ConfigMap",', '({"apiVersion": "v1", "kind": " ...)'),
    ],
)
def test_what_is_not_json_is_refused_with_its_beginning(raw: bytes, ending: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read_json(CONFIG_MAP, raw)

    assert caught.value.message.startswith(
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get "
        "version/kind; json parse error: "
    )
    assert caught.value.message.endswith(ending)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert read_json(CONFIG_MAP, b'{"data": {"a": "\xff"}}') == {"data": {"a": "�"}}


def gears() -> Kinds:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)
    return kinds


def test_a_custom_object_keeps_what_its_definition_knows() -> None:
    kinds = gears()
    body = {
        "apiVersion": "example.org/v1",
        "kind": "Gear",
        "metadata": {"name": "x", "labels": {}},
        "spec": {"size": 1, "zz": 1, "aa": 2, "free": {"any": [1]}},
    }

    made, warnings = check_body(kind_of("gears", "example.org", kinds=kinds), body, kinds=kinds)

    assert made["metadata"] == {"name": "x"}
    assert made["spec"] == {"size": 1, "free": {"any": [1]}}
    assert warnings == ['unknown field "spec.aa"', 'unknown field "spec.zz"']


def test_a_list_that_preserves_what_is_not_known_does_so_in_its_items() -> None:
    known = {"type": "object", "properties": {"size": {"type": "integer"}}}
    item = {"type": "object", "properties": {"known": known}}
    free = {"type": "array", "items": item, "x-kubernetes-preserve-unknown-fields": True}
    schema = custom_schema({"type": "object", "properties": {"free": free}}, Schemas.recorded())
    complaints: list[str] = []

    made = prune(schema, {"free": [{"a.b": 1, "known": {"size": 1, "other": 2}}]}, "", complaints)

    assert made == {"free": [{"a.b": 1, "known": {"size": 1}}]}
    assert complaints == ['unknown field "free[0].known.other"']


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": None}, "Object 'Kind' is missing in"),
        ({"apiVersion": "example.org/v1beta1"}, "does not match the expected API version"),
        ({"metadata": "x"}, "cannot unmarshal string into Go value of type v1.ObjectMeta"),
    ],
)
def test_a_custom_object_must_say_what_it_is(change: dict[str, Any], message: str) -> None:
    kinds = gears()
    body = {"apiVersion": "example.org/v1", "kind": "Gear", "metadata": {}} | change

    with pytest.raises(BadRequest) as caught:
        check_body(kind_of("gears", "example.org", kinds=kinds), body, kinds=kinds)

    assert message in caught.value.message


def test_a_custom_object_of_another_kind_is_invalid() -> None:
    kinds = gears()
    body = {"apiVersion": "example.org/v1", "kind": "Wheel", "metadata": {"name": "x"}}

    with pytest.raises(Invalid) as caught:
        check_body(kind_of("gears", "example.org", kinds=kinds), body, kinds=kinds)

    assert caught.value.message == (
        'Wheel.example.org "x" is invalid: kind: Invalid value: "Wheel": must be Gear'
    )
