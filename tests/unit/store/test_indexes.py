"""Values and the keys that have them."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.store.indexes import FunctionIndex, IndexFunction, Move, NamespaceIndex
from reflet.store.transforms import LeftOut
from tests.unit.store.config_maps import config_map, users_of


def index_of(**users: str) -> FunctionIndex[ConfigMap]:
    return index_by(users_of, **users)


def index_by(function: IndexFunction[ConfigMap], **users: str) -> FunctionIndex[ConfigMap]:
    items = {key: config_map(key, users=text) for key, text in users.items()}
    return FunctionIndex(function, items, LeftOut("index", "of the index"))


def content(index: FunctionIndex[ConfigMap]) -> dict[str, list[str]]:
    return {value: list(index.keys(value)) for value in index.values()}


def changed(
    index: FunctionIndex[ConfigMap], key: str, old: ConfigMap | None, new: ConfigMap | None
) -> None:
    move = index.plan(key, old, new)
    if move is not None:
        index.carry_out(key, new, move)


def test_an_object_is_found_by_each_of_its_values() -> None:
    index = index_of(one="ernie,bert", two="bert")

    assert {value: sorted(index.keys(value)) for value in index.values()} == {
        "ernie": ["one"],
        "bert": ["one", "two"],
    }


def test_a_change_moves_the_key_from_what_it_lost_to_what_it_gained() -> None:
    index = index_of(one="ernie,bert")

    changed(
        index, "one", config_map("one", users="ernie,bert"), config_map("one", users="bert,elmo")
    )

    assert sorted(index.values()) == ["bert", "elmo"]


def test_a_value_that_nobody_has_is_forgotten() -> None:
    index = index_of(one="ernie")

    changed(index, "one", config_map("one", users="ernie"), None)

    assert list(index.values()) == []


def test_a_change_that_keeps_the_values_means_nothing() -> None:
    index = index_of(one="ernie")

    assert (
        index.plan("one", config_map("one", users="ernie"), config_map("one", users="ernie"))
        is None
    )


def test_a_plan_changes_nothing_yet() -> None:
    index = index_of(one="ernie")

    assert index.plan("one", config_map("one", users="ernie"), None) == Move(("ernie",), ())
    assert list(index.values()) == ["ernie"]


def test_a_value_twice_is_a_value_once() -> None:
    index = index_of(one="ernie,ernie")

    changed(index, "one", config_map("one", users="ernie,ernie"), config_map("one"))

    assert list(index.values()) == []


def fussy(item: ConfigMap) -> list[str]:
    if "bad" in users_of(item):
        raise ValueError("bad users")
    return users_of(item)


def test_a_function_that_fails_is_planned_as_the_loss_of_every_value() -> None:
    index = index_by(fussy, one="ernie,bert")

    move = index.plan(
        "one", config_map("one", users="ernie,bert"), config_map("one", users="ernie,bad")
    )

    assert move is not None
    assert (move.lost, move.gained, str(move.failure)) == (("ernie", "bert"), (), "bad users")


def test_a_function_that_has_changed_its_mind_leaves_no_value_behind() -> None:
    hated: set[str] = set()

    def moody(item: ConfigMap) -> list[str]:
        if hated & set(users_of(item)):
            raise ValueError("hated")
        return users_of(item)

    index = index_by(moody, one="ernie,bert", two="bert")
    hated.add("ernie")

    changed(index, "one", config_map("one", users="ernie,bert"), config_map("one", users="elmo"))

    assert content(index) == {"bert": ["two"], "elmo": ["one"]}


@pytest.mark.parametrize(
    "function",
    [
        lambda item: item.metadata.name,
        lambda item: None,
        lambda item: [5],
        lambda item: ["x", ["unhashable"]],
    ],
    ids=["a text", "nothing", "numbers", "lists"],
)
def test_a_function_that_does_not_give_texts_has_failed(function: Any) -> None:
    index = index_by(function, one="ernie")

    assert (content(index), index.values_of("one", config_map("one"))) == ({}, ())


@pytest.mark.parametrize("asked_before", [True, False])
def test_namespaces_come_and_go_with_their_keys(asked_before: bool) -> None:
    keys = dict.fromkeys(["shop/a", "shop/b", "node"])
    index = NamespaceIndex(keys)
    if asked_before:
        assert list(index.values()) == ["shop", ""]

    for gone in ("shop/a", "node"):
        del keys[gone]
        index.departed(gone)
    keys["bank/a"] = None
    index.arrived("bank/a")

    assert {value: list(index.keys(value)) for value in index.values()} == {
        "shop": ["shop/b"],
        "bank": ["bank/a"],
    }


def test_the_departure_of_nobody_is_harmless() -> None:
    index = NamespaceIndex(["shop/a"])

    index.departed("bank/a")
    index.departed("shop/b")

    assert list(index.values()) == ["shop"]
