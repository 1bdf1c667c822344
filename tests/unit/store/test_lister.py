"""Reading a store by namespace, name and selector."""

from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.selectors.labels import LabelSelector
from reflet.errors import NotFound
from reflet.store.lister import Lister
from reflet.store.store import Store
from tests.unit.store.config_maps import config_map, names


@pytest.fixture
def lister() -> Lister[ConfigMap]:
    store = Store[ConfigMap]()
    store.replace(
        [
            config_map("a"),
            config_map("b"),
            config_map("a", namespace="bank"),
            config_map("node", namespace=""),
        ],
        "1",
    )
    return Lister(store, "configmaps")


def test_everything_is_listed_without_a_selector(lister: Lister[ConfigMap]) -> None:
    assert names(lister.list()) == ["a", "a", "b", "node"]


def test_a_selector_is_matched_with_the_labels(lister: Lister[ConfigMap]) -> None:
    assert names(lister.list("app in (a)")) == ["a", "a"]


def test_a_namespace_is_listed_alone(lister: Lister[ConfigMap]) -> None:
    assert names(lister.list(namespace="shop")) == ["a", "b"]


def test_a_selector_may_be_given_as_a_value(lister: Lister[ConfigMap]) -> None:
    assert names(lister.list(LabelSelector.parse("app=b"), namespace="shop")) == ["b"]


def test_nothing_is_listed_where_nothing_is_selected(lister: Lister[ConfigMap]) -> None:
    assert lister.list(LabelSelector.nothing()) == []


def test_an_empty_namespace_means_all(lister: Lister[ConfigMap]) -> None:
    assert len(lister.list(namespace="")) == 4


def test_an_object_is_found_by_namespace_and_name(lister: Lister[ConfigMap]) -> None:
    assert lister.get("a", namespace="bank").metadata.namespace == "bank"


def test_what_has_no_namespace_is_found_by_its_name(lister: Lister[ConfigMap]) -> None:
    assert lister.get("node").metadata.name == "node"


def test_a_missing_object_is_not_found_in_the_words_of_the_server(
    lister: Lister[ConfigMap],
) -> None:
    with pytest.raises(NotFound, match=r'^configmaps "c" not found$'):
        lister.get("c", namespace="shop")


def test_a_namespace_has_a_view_of_its_own(lister: Lister[ConfigMap]) -> None:
    shop = lister.in_namespace("shop")

    assert names(shop.list("app=a")) == ["a"]
    assert shop.get("b").metadata.name == "b"
