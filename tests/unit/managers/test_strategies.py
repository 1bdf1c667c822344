"""From the name of a strategy to the store that follows it."""

from __future__ import annotations

import dataclasses

import pytest

from reflet.api.core.config import Secret
from reflet.errors import ConfigurationError
from reflet.managers.strategies import STRATEGIES, ManagerOptions, StoreMaker, StrategyOptions
from tests.served_objects import ServedObjects

MAKER = StoreMaker(
    server=ServedObjects(Secret), kind=Secret, word="secret", options=StrategyOptions()
)


@pytest.mark.parametrize(
    ("name", "store"),
    [
        ("watch", "WatchedObjects"),
        ("Watch", "WatchedObjects"),
        ("auto", "WatchedObjects"),
        ("Cache", "ExpiringObjects"),
        ("get", "DirectObjects"),
    ],
)
def test_a_strategy_is_found_by_its_name_and_the_kubelets(name: str, store: str) -> None:
    assert type(MAKER.store(name)).__name__ == store


def test_an_unknown_strategy_is_refused_in_the_kubelets_words() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^unknown configmap and secret manager mode: Poll$"
    ):
        MAKER.store("Poll")


def test_every_strategy_can_be_made() -> None:
    assert len({type(MAKER.store(name)) for name in STRATEGIES}) == 3


def test_the_options_as_keywords_are_those_of_the_strategies_with_their_types() -> None:
    fields = {each.name: each.type for each in dataclasses.fields(StrategyOptions)}
    keywords = {name: kind.__forward_arg__ for name, kind in ManagerOptions.__annotations__.items()}

    assert keywords == fields
