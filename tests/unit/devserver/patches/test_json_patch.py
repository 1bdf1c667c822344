from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.schema.yaml_reading import DEEPEST
from reflet.devserver.patches.json_patch import MOST_COPIED, Operation, OperationFailed, json_patch
from reflet.errors import Invalid


def add(path: str, value: Any) -> Operation:
    return Operation("add", path, value=value)


def test_operations_are_carried_out_one_after_the_other() -> None:
    result = json_patch(
        {"a": {"b": 1}, "list": [1, 2]},
        [
            Operation("test", "/a/b", value=1),
            Operation("move", "/c", source="/a/b"),
            add("/list/1", "new"),
            Operation("copy", "/list/-", source="/c"),
            Operation("remove", "/a"),
            Operation("replace", "/list/0", value=[]),
        ],
    )

    assert result == {"c": 1, "list": [[], "new", 2, 1]}


def test_the_document_and_the_values_stay_as_they_were() -> None:
    document: dict[str, Any] = {"a": {}}
    value: dict[str, Any] = {"deep": []}

    json_patch(document, [add("/a/b", value), add("/a/b/deep/-", 1), add("/a/c", 2)])

    assert (document, value) == ({"a": {}}, {"deep": []})


def test_a_copy_and_its_source_go_separate_ways() -> None:
    result = json_patch({"a": {"x": 1}}, [Operation("copy", "/b", source="/a"), add("/b/x", 2)])

    assert result == {"a": {"x": 1}, "b": {"x": 2}}


def test_what_is_missing_is_copied_as_null() -> None:
    assert json_patch({}, [Operation("copy", "/b", source="/a")]) == {"b": None}


def test_an_added_value_may_be_missing() -> None:
    assert json_patch({}, [Operation("add", "/a")]) == {"a": None}


def test_the_whole_can_be_replaced_by_another_object() -> None:
    assert json_patch({"a": 1}, [Operation("replace", "", value={"b": 2})]) == {"b": 2}


@pytest.mark.parametrize("expected", [True, 1.0, "1", None])
def test_a_test_tells_a_number_from_what_python_takes_for_it(expected: Any) -> None:
    with pytest.raises(Invalid):
        json_patch({"a": 1}, [Operation("test", "/a", value=expected)])


def test_a_refusal_says_to_us_what_it_does_not_say_to_the_client() -> None:
    with pytest.raises(Invalid) as refused:
        json_patch({}, [Operation("remove", "/a/b")])

    assert (refused.value.code, isinstance(refused.value.__cause__, OperationFailed)) == (422, True)


def test_copies_that_add_up_are_stopped() -> None:
    doubling = [Operation("copy", f"/a/{n}", source="/a") for n in range(100)]

    with pytest.raises(Invalid) as refused:
        json_patch({"a": {"x": "x" * 1000}}, doubling)

    assert str(MOST_COPIED) in str(refused.value.__cause__)


def test_copies_below_the_limit_are_not_stopped() -> None:
    many = [Operation("copy", f"/b{n}", source="/a") for n in range(3000)]

    assert len(json_patch({"a": "x" * 1000}, many)) == 3001


def test_a_document_cannot_be_made_too_deep_by_small_steps() -> None:
    steps = [add("/a" * depth, {}) for depth in range(1, DEEPEST + 2)]

    with pytest.raises(Invalid) as refused:
        json_patch({}, steps)

    assert str(refused.value.__cause__) == "exceeded max depth"


def test_a_document_cannot_be_made_too_deep_by_moving() -> None:
    chain: dict[str, Any] = {f"n{number}": {} for number in range(2000)}
    moves = [Operation("move", f"/n{number + 1}/x", source=f"/n{number}") for number in range(1999)]

    with pytest.raises(Invalid) as refused:
        json_patch(chain, moves)

    assert str(refused.value.__cause__) == "exceeded max depth"


def test_a_text_is_no_container() -> None:
    with pytest.raises(Invalid):
        json_patch({"a": "text"}, [add("/a/0", "x")])
