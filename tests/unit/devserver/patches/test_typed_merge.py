from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.patches.field_sets import FieldSet
from reflet.devserver.patches.typed_merge import merged, without_fields
from tests.unit.devserver.small_schemas import SPEC


@pytest.mark.parametrize(
    ("live", "applied", "result"),
    [
        ({"size": 1, "name": "a"}, {"size": 2}, {"size": 2, "name": "a"}),
        ({"texts": {"a": "1"}}, {"texts": {"b": "2"}}, {"texts": {"a": "1", "b": "2"}}),
        ({"texts": {"a": "1"}}, {"texts": None}, {"texts": {"a": "1"}}),
        ({"texts": {}}, {"texts": None}, {"texts": None}),
        ({"whole": {"a": "1"}}, {"whole": {"b": "2"}}, {"whole": {"b": "2"}}),
        ({"steps": ["a"]}, {"steps": ["b"]}, {"steps": ["b"]}),
        ({"tags": ["a"]}, {"tags": []}, {"tags": ["a"]}),
        (
            {"loose": {"a": {"b": 1}}},
            {"loose": {"a": {"c": 2}}},
            {"loose": {"a": {"b": 1, "c": 2}}},
        ),
        ({"loose": [1]}, {"loose": {"a": 1}}, {"loose": {"a": 1}}),
        (
            {"parts": [{"name": "a", "size": 1}]},
            {"parts": [{"name": "a", "labels": {"x": "1"}}, {"name": "b"}]},
            {"parts": [{"name": "a", "size": 1, "labels": {"x": "1"}}, {"name": "b"}]},
        ),
        (
            {"parts": [{"name": "a", "size": 1}, {"name": "a", "size": 2}]},
            {"parts": [{"name": "a", "labels": {}}]},
            {"parts": [{"name": "a", "labels": {}}]},
        ),
    ],
)
def test_everything_applied_is_in_the_result_and_the_rest_stays(
    live: Any, applied: Any, result: Any
) -> None:
    assert merged(live, applied, SPEC) == result


@pytest.mark.parametrize(
    ("live", "applied", "result"),
    [
        ("ab", "ba", "ba"),
        ("abc", "ca", "bca"),
        ("abc", "xb", "axbc"),
        ("abcd", "db", "acdb"),
        ("", "ab", "ab"),
        ("ab", "cd", "abcd"),
        ("abc", "bxa", "bcxa"),
        ("aabb", "b", "aab"),
    ],
)
def test_a_list_takes_the_order_of_the_applied_one_as_far_as_it_goes(
    live: str, applied: str, result: str
) -> None:
    found = merged({"tags": list(live)}, {"tags": list(applied)}, SPEC)

    assert "".join(found["tags"]) == result


def fields(*paths: str) -> FieldSet:
    return FieldSet.of([tuple(path.split("/")) for path in paths])


@pytest.mark.parametrize(
    ("value", "gone", "result"),
    [
        ({"size": 1, "name": "a"}, fields("f:size"), {"name": "a"}),
        ({"texts": {"a": "1", "b": "2"}}, fields("f:texts/f:a"), {"texts": {"b": "2"}}),
        ({"texts": {"a": "1"}}, fields("f:texts/f:a"), {"texts": None}),
        ({"tags": ["a", "b"]}, fields('f:tags/v:"a"'), {"tags": ["b"]}),
        ({"tags": ["a"]}, fields('f:tags/v:"a"'), {"tags": None}),
        ({"whole": {"a": "1"}}, fields("f:whole/f:a"), {"whole": None}),
        ({"size": 1}, fields("f:size"), None),
        ({"size": 1}, fields("f:size/f:deep"), {"size": 1}),
        (
            {"parts": [{"name": "a", "size": 1}, {"name": "b"}]},
            fields('f:parts/k:{"name":"a"}/f:size', 'f:parts/k:{"name":"b"}'),
            {"parts": [{"name": "a"}]},
        ),
        (
            {"parts": None, "texts": {}},
            fields("f:parts/f:a", "f:texts/f:a"),
            {"parts": None, "texts": None},
        ),
    ],
)
def test_fields_are_taken_out(value: Any, gone: FieldSet, result: Any) -> None:
    assert without_fields(value, gone, SPEC) == result


def test_live_items_that_cannot_be_told_apart_stay() -> None:
    assert merged({"parts": [{"size": 1}, None]}, {"parts": [{"name": "a"}]}, SPEC) == {
        "parts": [{"size": 1}, None, {"name": "a"}]
    }
