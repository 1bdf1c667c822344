from collections.abc import Mapping
from typing import Any

import pytest

from reflet.api.frozen import EMPTY, Frozen, QuantityText
from reflet.api.json_reader import element_of, fields_of, present, tolerated


class Inner(Frozen, frozen=True, kw_only=True):
    name: str = ""
    data: Mapping[str, bytes] = EMPTY


class Outer(Frozen, frozen=True, kw_only=True):
    inner: Inner | None = None
    several: tuple[Inner, ...] = ()
    words: tuple[str, ...] = ()
    labels: Mapping[str, str] = EMPTY
    amount: QuantityText = ""
    amounts: Mapping[str, QuantityText] = EMPTY
    anything: Mapping[str, Any] = EMPTY


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"inner": None, "several": None, "labels": None}, {}),
        ({"inner": {"name": None}}, {"inner": {}}),
        ({"several": [None, {"name": None}]}, {"several": [{}, {}]}),
        ({"words": ["a", None]}, {"words": ["a", ""]}),
        ({"labels": {"a": None}}, {"labels": {"a": ""}}),
        (
            {"amount": 1, "amounts": {"cpu": 0.5, "x": None}},
            {"amount": "1", "amounts": {"cpu": "0.5", "x": ""}},
        ),
        ({"inner": {"data": {"k": "aG\r\nk="}}}, {"inner": {"data": {"k": "aGk="}}}),
    ],
)
def test_what_the_api_server_accepts_is_adapted(value: object, expected: object) -> None:
    assert tolerated(value, Outer) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"amount": True},
        {"labels": {"a": 1}},
        {"words": "no array"},
        {"anything": {"a": None, "b": [None]}},
        {"unknown": {"a": None}},
        [],
        "text",
    ],
)
def test_everything_else_is_handed_on(value: object) -> None:
    assert tolerated(value, Outer) == value


def test_types_say_what_they_are_made_of() -> None:
    assert fields_of(Inner)["data"] == Mapping[str, bytes]
    assert element_of(tuple[int, ...]) is int
    assert element_of(Mapping[str, bytes]) is bytes
    assert element_of(str) is Any
    assert present(int | None) is int
    assert present(int | str) == int | str
