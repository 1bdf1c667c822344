from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.patches.field_sets import (
    EMPTY,
    FieldSet,
    decoded,
    index_element,
    key_element,
    path_text,
    value_element,
)
from reflet.errors import DecodeError

WEB = key_element({"name": "web"})
SOME = FieldSet.of([("f:a",), ("f:a", "f:b"), ("f:c", WEB, "f:d"), ("f:c", WEB)])


def test_a_set_is_written_as_managed_fields_have_it() -> None:
    assert SOME.encoded() == {
        "f:a": {".": {}, "f:b": {}},
        "f:c": {'k:{"name":"web"}': {".": {}, "f:d": {}}},
    }


def test_what_is_written_is_read_again() -> None:
    assert decoded(SOME.encoded()) == SOME


def test_nothing_is_an_empty_set() -> None:
    assert decoded(None) == decoded({}) == FieldSet.of([()]) == EMPTY


def test_a_path_and_what_it_leads_to_are_separate_members() -> None:
    assert (("f:a",) in SOME, ("f:c",) in SOME, ("f:c", WEB) in SOME, () in SOME) == (
        True,
        False,
        True,
        False,
    )


def test_a_union_has_the_paths_of_both() -> None:
    assert set(SOME.union(FieldSet.of([("f:c",), ("f:e",)])).paths()) == {
        *SOME.paths(),
        ("f:c",),
        ("f:e",),
    }


def test_an_intersection_has_no_empty_branches() -> None:
    assert SOME.intersection(FieldSet.of([("f:a",), ("f:c", WEB, "f:x")])).encoded() == {"f:a": {}}


def test_a_difference_leaves_what_a_path_leads_to() -> None:
    assert SOME.difference(FieldSet.of([("f:a",), ("f:c", WEB, "f:d")])).encoded() == {
        "f:a": {"f:b": {}},
        "f:c": {'k:{"name":"web"}': {}},
    }


def test_going_without_a_path_is_going_without_all_that_it_leads_to() -> None:
    assert SOME.without(FieldSet.of([("f:a",), ("f:c", WEB)])) == EMPTY


def test_elements_are_written_in_one_way_however_they_came() -> None:
    written: dict[str, Any] = {'k:{"b": 1.0, "a": "<"}': {}, "v: true": {}}

    assert decoded(written).encoded() == {'k:{"a":"\\u003c","b":1}': {}, "v:true": {}}


def test_elements_of_an_unknown_kind_are_left_out() -> None:
    assert decoded({"z:1": {"f:a": {}}, "f:b": {}}).encoded() == {"f:b": {}}


@pytest.mark.parametrize(
    "written",
    [
        "text",
        [],
        {"f": {}},
        {"fa": {}},
        {"k:{": {}},
        {"k:1": {}},
        {"v:": {}},
        {"i:x": {}},
        {"f:a": None},
    ],
)
def test_what_is_no_set_is_refused(written: Any) -> None:
    with pytest.raises(DecodeError):
        decoded(written)


def test_a_set_of_any_depth_is_read_or_refused() -> None:
    written: dict[str, Any] = {}
    for _ in range(100_000):
        written = {"f:a": written}

    with pytest.raises(DecodeError, match="exceeded max depth"):
        decoded(written)


def test_paths_come_names_first_then_keys_then_values_then_places() -> None:
    elements = [
        "f:a",
        "f:b",
        key_element({"n": 2}),
        key_element({"n": 10}),
        key_element({"n": "1"}),
        value_element(1.5),
        value_element("a"),
        value_element(True),
        index_element(2),
        index_element(10),
    ]

    assert list(FieldSet.of([(element,) for element in reversed(elements)]).paths()) == [
        (element,) for element in elements
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("f:data", "f:a.b"), ".data.a.b"),
        (
            ("f:c", key_element({"port": 80, "protocol": "TCP"}), "f:d"),
            '.c[port=80,protocol="TCP"].d',
        ),
        (("f:s", value_element('a"b')), '.s[="a\\"b"]'),
        (("f:s", value_element(1.0)), ".s[=1]"),
        (("f:s", value_element(None)), ".s[=null]"),
        (("f:l", index_element(3)), ".l[3]"),
    ],
)
def test_a_path_is_written_for_people(path: tuple[str, ...], text: str) -> None:
    assert path_text(path) == text
