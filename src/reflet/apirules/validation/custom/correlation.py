"""Which value of the new object was which in the old one, and whether it is still the same.

What was stored before a rule came, and is not touched by an update, is not held against it.

Upstream: apiserver/pkg/cel/common/equality.go, CorrelatedObject
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, final

Rules = Mapping[str, Any]


@final
class Correlated:
    """A value of the new object beside the one of the old object that it corresponds to."""

    __slots__ = ("_is_unchanged", "_old_items", "new", "old", "rules")

    def __init__(self, rules: Rules, new: Any, old: Any) -> None:
        self.rules = rules
        self.new = new
        self.old = old
        self._is_unchanged: bool | None = None
        self._old_items: Mapping[str, Any] | None = None

    @property
    def is_unchanged(self) -> bool:
        """Whether everything in it can be found again, and is equal."""
        if self._is_unchanged is None:
            self._is_unchanged = self._compared()
        return self._is_unchanged

    def key(self, name: str) -> Correlated | None:
        """Give the field or value of that name, if both objects have it."""
        new, old = self.new, self.old
        both = isinstance(new, dict) and isinstance(old, dict) and name in new and name in old
        rules = (self.rules.get("properties") or {}).get(name)
        if rules is None:
            rules = self.rules.get("additionalProperties")
        if not both or not isinstance(rules, Mapping):
            return None
        return Correlated(rules, new[name], old[name])

    def index(self, place: int) -> Correlated | None:
        """Give an item, if the list has keys by which the old one is found."""
        rules, keys = self.rules.get("items"), list_keys(self.rules)
        if not keys or not isinstance(rules, Mapping) or not isinstance(self.old, list):
            return None
        if self._old_items is None:
            self._old_items = items_by_key(self.old, keys)
        mark = item_key(self.new[place], keys)
        if mark not in self._old_items:
            return None
        return Correlated(rules, self.new[place], self._old_items[mark])

    def _compared(self) -> bool:
        new, old = self.new, self.old
        if isinstance(new, dict) and isinstance(old, dict):
            if len(new) != len(old):
                return False
            inner = (self.key(name) for name in new)
            return all(each is not None and each.is_unchanged for each in inner)
        if isinstance(new, list) and isinstance(old, list) and list_keys(self.rules):
            if len(new) != len(old):
                return False
            items = (self.index(place) for place in range(len(new)))
            return all(each is not None and each.is_unchanged for each in items)
        return type(new) is type(old) and bool(new == old)


def list_keys(rules: Rules) -> tuple[str, ...]:
    """Give the names of the keys of a list that is a map."""
    if rules.get("x-kubernetes-list-type") != "map":
        return ()
    return tuple(rules.get("x-kubernetes-list-map-keys") or ())


def item_key(item: Any, keys: tuple[str, ...]) -> str:
    """Give what an item of such a list is known by."""
    found = [item.get(key) for key in keys] if isinstance(item, Mapping) else item
    return json.dumps(found, sort_keys=True)


def items_by_key(items: list[Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    """Give the items of such a list by what they are known by."""
    return {item_key(item, keys): item for item in items}
