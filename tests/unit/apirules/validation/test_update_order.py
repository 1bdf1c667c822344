from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.by_kind import validate_create, validate_update
from reflet.apirules.validation.update_order import UPDATE_ORDERS
from reflet.errors import ApiError
from tests.unit.devserver.object_scene import created, kind_of

OBJECTS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    (
        "endpointslices",
        "discovery.k8s.io",
        {"addressType": "IPv4", "endpoints": []},
        {"addressType": "IPv6"},
    ),
    ("csinodes", "storage.k8s.io", {"spec": {"drivers": []}}, {}),
    (
        "volumeattributesclasses",
        "storage.k8s.io",
        {"driverName": "d", "parameters": {"a": "b"}},
        {"driverName": "e"},
    ),
    ("runtimeclasses", "node.k8s.io", {"handler": "a"}, {"handler": "b"}),
]


def causes(kind: Any, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    try:
        validate_update(kind, old, new)
    except ApiError as refusal:
        return [cause.field for cause in refusal.causes]
    return []


@pytest.mark.parametrize(("plural", "group", "body", "change"), OBJECTS)
def test_what_may_not_change_is_refused_and_the_rest_is_not(
    plural: str, group: str, body: dict[str, Any], change: dict[str, Any]
) -> None:
    kind = kind_of(plural, group)
    old = created(kind, {"metadata": {"name": "x"}} | body)
    validate_create(kind, old)

    assert causes(kind, old, old) == []
    assert causes(kind, old, old | change) == list(change)


def test_labels_are_complained_about_as_often_as_the_real_server_does() -> None:
    kind = kind_of("runtimeclasses", "node.k8s.io")
    old = created(kind, {"metadata": {"name": "x"}, "handler": "a"})
    bad = old | {"metadata": old["metadata"] | {"labels": {"a b": ""}}}

    # Of every object, as a new one, and as what became of it.
    assert causes(kind, old, bad).count("metadata.labels") == 4


def test_each_order_is_of_a_kind_that_is_served() -> None:
    for place in UPDATE_ORDERS:
        plural, _, group = place.partition("/")[0].partition(".")
        assert kind_of(plural, group).storage_key == place.partition("/")[0]
