"""ConfigMaps for the tests of what keeps them."""

from __future__ import annotations

from collections.abc import Iterable

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta


def config_map(
    name: str, version: str = "", *, namespace: str = "shop", users: str = ""
) -> ConfigMap:
    """*users*, separated by commas, are what the index ``users`` finds it by."""
    return ConfigMap(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            resource_version=version,
            labels={"app": name},
            annotations={"users": users},
        )
    )


def users_of(item: ConfigMap) -> list[str]:
    users = item.metadata.annotations["users"]
    return users.split(",") if users else []


def names(items: Iterable[ConfigMap]) -> list[str]:
    return sorted(item.metadata.name for item in items)


class Keyless:
    """What has no metadata, and so no key."""

    api_version = ""
    kind = ""

    def __repr__(self) -> str:
        return "Keyless"
