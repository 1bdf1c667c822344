"""Origins say what a value came from, in a form that anybody may see."""

from __future__ import annotations

import msgspec

from reflet.resolution.origins import ConfigMapOrigin, Origin, ServiceOrigin


def test_the_plain_form_of_an_origin_names_its_kind_and_uses_kubernetes_names() -> None:
    origin = ConfigMapOrigin(namespace="shop", name="settings", key="A", resource_version="11")

    assert msgspec.to_builtins(origin) == {
        "kind": "ConfigMap",
        "namespace": "shop",
        "name": "settings",
        "key": "A",
        "resourceVersion": "11",
    }


def test_an_origin_comes_back_from_its_plain_form() -> None:
    origin = ServiceOrigin(namespace="shop", name="db", resource_version="3")

    back: Origin = msgspec.convert(msgspec.to_builtins(origin), Origin)

    assert back == origin
