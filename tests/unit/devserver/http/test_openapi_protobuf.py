"""Field numbers are those of gnostic's openapiv2/OpenAPIv2.proto."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from reflet.apirules.schema.kinds import Kinds
from reflet.devserver.http.openapi import OpenApi
from reflet.devserver.http.openapi_protobuf import encode_openapi

PATHS, DEFINITIONS = 8, 9


def fields(content: bytes) -> Iterator[tuple[int, Any]]:
    """Read a message: numbers, and what is there as bytes or as a number."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = content[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(content):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 in {1, 2}
            length = varint() if tag & 7 == 2 else 8
            assert at + length <= len(content)
            yield tag >> 3, content[at : at + length]
            at += length


def inside(content: bytes, *numbers: int) -> bytes:
    """Follow the only field of each number."""
    for number in numbers:
        (content,) = (value for each, value in fields(content) if each == number)
    return content


def schema(**words: Any) -> list[tuple[int, Any]]:
    encoded = encode_openapi({"definitions": {"Gear": words}})
    assert inside(encoded, DEFINITIONS, 1, 1) == b"Gear"
    return list(fields(inside(encoded, DEFINITIONS, 1, 2)))


def operation(**words: Any) -> bytes:
    encoded = encode_openapi({"paths": {"/gears": {"get": words}}})
    assert inside(encoded, PATHS, 2, 1) == b"/gears"
    return inside(encoded, PATHS, 2, 2, 2)


def test_the_head_of_a_document() -> None:
    encoded = encode_openapi({"swagger": "2.0", "info": {"title": "K", "version": "1"}})

    assert encoded == b"\x0a\x032.0\x12\x06\x0a\x01K\x12\x011"


@pytest.mark.parametrize(
    ("word", "value", "number", "written"),
    [
        ("$ref", "#/definitions/A", 1, b"#/definitions/A"),
        ("format", "int32", 2, b"int32"),
        ("title", "T", 3, b"T"),
        ("description", "für", 4, "für".encode()),
        ("default", False, 5, b"\x12\x06false\n"),
        ("multipleOf", 2, 6, struct.pack("<d", 2)),
        ("maximum", 1.5, 7, struct.pack("<d", 1.5)),
        ("exclusiveMaximum", True, 8, 1),
        ("minimum", -1, 9, struct.pack("<d", -1)),
        ("exclusiveMinimum", True, 10, 1),
        ("maxLength", 300, 11, 300),
        ("minLength", 3, 12, 3),
        ("pattern", "^a$", 13, b"^a$"),
        ("maxItems", 4, 14, 4),
        ("minItems", 5, 15, 5),
        ("uniqueItems", True, 16, 1),
        ("maxProperties", 6, 17, 6),
        ("minProperties", 7, 18, 7),
        ("additionalProperties", False, 21, b"\x10\x00"),
        ("additionalProperties", {"format": "x"}, 21, b"\x0a\x03\x12\x01x"),
        ("type", "object", 22, b"\x0a\x06object"),
        ("items", {}, 23, b"\x0a\x00"),
        ("properties", {"a": {}}, 25, b"\x0a\x05\x0a\x01a\x12\x00"),
        ("properties", {"x-a": {}}, 25, b"\x0a\x07\x0a\x03x-a\x12\x00"),
        ("externalDocs", {"url": "u"}, 29, b"\x12\x01u"),
        ("example", [1], 30, b"\x12\x04- 1\n"),
        (
            "x-kubernetes-list-type",
            "map",
            31,
            b"\x0a\x16x-kubernetes-list-type\x12\x06\x12\x04map\n",
        ),
    ],
)
def test_every_word_of_a_schema_has_its_number(
    word: str, value: Any, number: int, written: Any
) -> None:
    assert schema(**{word: value}) == [(number, written)]


def test_words_that_may_be_said_again() -> None:
    made = schema(enum=["y", 1], required=["a", "b"], allOf=[{}, {}])

    assert (
        made
        == [(19, b"a"), (19, b"b"), (20, b'\x12\x04"y"\n'), (20, b"\x12\x021\n")] + [(24, b"")] * 2
    )


@pytest.mark.parametrize("word", ["description", "minLength", "maximum", "uniqueItems"])
def test_nothing_is_written_of_what_a_reader_takes_for_granted(word: str) -> None:
    assert schema(**{word: "" if word == "description" else 0}) == []


def test_what_openapi_2_has_no_word_for_is_left_out() -> None:
    assert schema(nullable=True, oneOf=[{}], type="string") == [(22, b"\x0a\x06string")]


def test_a_group_version_kind_can_be_read_as_yaml() -> None:
    named = [{"group": "", "kind": "Gear", "version": "v1"}]

    (made,) = schema(**{"x-kubernetes-group-version-kind": named})

    assert yaml.safe_load(inside(made[1], 2, 2)) == named


def test_parameters_are_told_apart_by_their_place() -> None:
    made = operation(
        parameters=[
            {"name": "body", "in": "body", "required": True, "schema": {"title": "T"}},
            {"name": "dryRun", "in": "query", "type": "string", "uniqueItems": True},
            {"name": "name", "in": "path", "required": True, "type": "string"},
            {"$ref": "#/parameters/pretty"},
        ]
    )

    body, query, path, shared = (value for number, value in fields(made) if number == 8)
    assert list(fields(inside(body, 1, 1))) == [
        (2, b"body"),
        (3, b"body"),
        (4, 1),
        (5, b"\x1a\x01T"),
    ]
    assert list(fields(inside(query, 1, 2, 3))) == [
        (2, b"query"),
        (4, b"dryRun"),
        (6, b"string"),
        (20, 1),
    ]
    assert list(fields(inside(path, 1, 2, 4))) == [
        (1, 1),
        (2, b"path"),
        (4, b"name"),
        (5, b"string"),
    ]
    assert inside(shared, 2, 1) == b"#/parameters/pretty"


def test_an_operation_says_what_it_takes_and_gives() -> None:
    made = operation(
        operationId="read",
        consumes=["a/b", "*/*"],
        responses={"200": {"description": "OK", "schema": {"$ref": "#/definitions/A"}}},
        **{"x-kubernetes-action": "get"},
    )

    assert [number for number, _ in fields(made)] == [5, 7, 7, 9, 13]
    assert inside(made, 5) == b"read"
    assert inside(made, 9, 1, 1) == b"200"
    assert inside(made, 9, 1, 2, 1, 1) == b"OK"
    assert inside(made, 9, 1, 2, 1, 2, 1, 1) == b"#/definitions/A"
    assert inside(made, 13, 1) == b"x-kubernetes-action"


def test_the_methods_of_a_path() -> None:
    names = ("get", "put", "post", "delete", "options", "head", "patch")
    encoded = encode_openapi({"paths": {"/": {name: {} for name in names} | {"parameters": []}}})

    assert [number for number, _ in fields(inside(encoded, PATHS, 2, 2))] == [2, 3, 4, 5, 6, 7, 8]


def test_deep_schemas_can_be_written() -> None:
    deep: dict[str, Any] = {"title": "bottom"}
    for _ in range(200):
        deep = {"properties": {"a": deep}}

    content = encode_openapi({"definitions": {"Deep": deep}})

    for number in (DEFINITIONS, 1, 2, *(25, 1, 2) * 200):
        content = inside(content, number)
    assert content == b"\x1a\x06bottom"


def test_nothing_of_our_own_document_is_lost() -> None:
    document = OpenApi(Kinds()).document_2()

    encoded = encode_openapi(document)

    paths = dict(_entries(inside(encoded, PATHS), 2))
    assert paths.keys() == document["paths"].keys()
    for path, item in document["paths"].items():
        assert _count(paths[path]) == len(item) - 1 + len(item["parameters"])
    definitions = dict(_entries(inside(encoded, DEFINITIONS), 1))
    assert definitions.keys() == document["definitions"].keys()
    for name, made in document["definitions"].items():
        once = {word: value for word, value in made.items() if word != "required"}
        assert _count(definitions[name]) == len(once) + len(made.get("required", []))
        if "properties" in made:
            properties = dict(_entries(inside(definitions[name], 25), 1))
            assert {each: _count(properties[each]) for each in properties} == {
                each: len(rules) - ("enum" in rules) + len(rules.get("enum", []))
                for each, rules in made["properties"].items()
            }


def _entries(content: bytes, number: int) -> Iterator[tuple[str, bytes]]:
    for each, entry in fields(content):
        assert each == number
        yield inside(entry, 1).decode(), inside(entry, 2)


def _count(content: bytes) -> int:
    return len(list(fields(content)))
