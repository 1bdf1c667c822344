"""Stores of config maps, and what is noted of their changes."""

from __future__ import annotations

from reflet.api.core.config import ConfigMap
from reflet.api.watch_events import WatchEvent
from reflet.store.deltas import (
    ChangeType,
)
from reflet.store.store import Store
from tests.unit.store.config_maps import users_of

Noted = tuple[ChangeType, ConfigMap, ConfigMap | None, bool]


def noted(
    what: ChangeType, item: ConfigMap, old: ConfigMap | None = None, /, *, stale: bool = False
) -> Noted:
    return what, item, old, stale


def change(store: Store[ConfigMap], *events: WatchEvent[ConfigMap]) -> list[Noted]:
    """Apply a batch; the answer is what is noted of it."""
    return store.change(events, noted)[0]


def store_of(*items: ConfigMap) -> Store[ConfigMap]:
    store = Store(indexers={"users": users_of})
    store.replace(items, "1")
    return store


def fussy(item: ConfigMap) -> list[str]:
    if "bad" in users_of(item):
        raise ValueError("bad users")
    return users_of(item)


def content(store: Store[ConfigMap]) -> dict[str, str]:
    items, _ = store.snapshot()
    return {key: item.metadata.resource_version for key, item in items.items()}


def index(store: Store[ConfigMap], name: str = "users") -> dict[str, list[str]]:
    return {value: store.index_keys(name, value) for value in store.index_values(name)}
