"""Values and the keys that have them."""

from __future__ import annotations

import pytest

from reflet.api.config import ConfigMap
from reflet.store.indexes import FunctionIndex, Move, NamespaceIndex
from tests.unit.store.config_maps import config_map, users_of


def index_of(**users: str) -> FunctionIndex[ConfigMap]:
    items = {key: config_map(key, users=text) for key, text in users.items()}
    return FunctionIndex("users", users_of, items)


def changed(
    index: FunctionIndex[ConfigMap], key: str, old: ConfigMap | None, new: ConfigMap | None
) -> None:
    move = index.plan(key, old, new)
    if move is not None:
        index.carry_out(key, move)


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


def test_an_index_function_that_fails_is_named_with_the_key() -> None:
    def fails(item: ConfigMap) -> list[str]:
        raise ValueError("no")

    index: FunctionIndex[ConfigMap] = FunctionIndex("mine", fails, {})

    with pytest.raises(
        RuntimeError,
        match=r'^unable to calculate an index entry for key "a" on index "mine": no$',
    ):
        index.plan("a", None, config_map("a"))


def test_an_index_function_that_gives_a_text_is_not_taken_for_letters() -> None:
    index: FunctionIndex[ConfigMap] = FunctionIndex("mine", lambda item: item.metadata.name, {})

    with pytest.raises(RuntimeError, match="gave the text 'name'"):
        index.plan("name", None, config_map("name"))


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
