from __future__ import annotations

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.informer.reflector.reflector import Consistency, compare


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="shop"), data=data)


def test_equal_collections_are_consistent() -> None:
    found = compare({"shop/a": config_map("a")}, [config_map("a")], "7")

    assert found
    assert found == Consistency("7")


def test_what_differs_is_named() -> None:
    held = {f"shop/{name}": config_map(name) for name in ("same", "old", "ghost")}
    listed = [config_map("same"), config_map("old", key="new"), config_map("lost")]

    found = compare(held, listed, "7")

    assert not found
    assert found == Consistency(
        "7", missing=("shop/lost",), surplus=("shop/ghost",), different=("shop/old",)
    )


def test_what_the_transform_cannot_digest_is_rightly_not_held() -> None:
    def picky(item: ConfigMap) -> ConfigMap:
        if not item.data:
            raise ValueError("no")
        return item

    held = {"shop/a": config_map("a", key="value"), "shop/ghost": config_map("ghost")}
    listed = [config_map("a", key="value"), config_map("poison"), config_map("ghost")]

    assert compare(held, listed, "7", picky) == Consistency("7", surplus=("shop/ghost",))
