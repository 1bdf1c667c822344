from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.custom.correlation import Correlated

NUMBER = {"type": "integer"}
ITEMS = {"type": "object", "properties": {"name": {"type": "string"}, "size": NUMBER}}
KEYED = {
    "items": ITEMS,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
}
RULES: dict[str, Any] = {
    "properties": {
        "a": NUMBER,
        "list": {"items": NUMBER},
        "keyed": KEYED,
        "map": {"additionalProperties": NUMBER},
    }
}


@pytest.mark.parametrize(
    ("new", "old", "is_unchanged"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {}, False),
        ({"list": [1, 2]}, {"list": [1, 2]}, True),
        ({"list": [2, 1]}, {"list": [1, 2]}, False),
        ({"map": {"x": 1}}, {"map": {"x": 1}}, True),
        (
            {"keyed": [{"name": "b"}, {"name": "a"}]},
            {"keyed": [{"name": "a"}, {"name": "b"}]},
            True,
        ),
        ({"keyed": [{"name": "a"}]}, {"keyed": [{"name": "b"}]}, False),
        ({"keyed": []}, {"keyed": [{"name": "b"}]}, False),
        ({"unknown": 1}, {"unknown": 1}, False),
    ],
)
def test_what_is_the_same_is_unchanged(new: Any, old: Any, is_unchanged: bool) -> None:
    assert Correlated(RULES, new, old).is_unchanged is is_unchanged


def test_only_items_with_keys_are_found_again() -> None:
    new = {"list": [1], "keyed": [{"name": "x", "size": 2}]}
    old = {"list": [1], "keyed": [{"name": "y"}, {"name": "x", "size": 1}]}
    whole = Correlated(RULES, new, old)
    plain, keyed = whole.key("list"), whole.key("keyed")

    assert plain is not None
    assert plain.index(0) is None
    assert keyed is not None
    item = keyed.index(0)
    assert item is not None
    assert item.old == {"name": "x", "size": 1}
