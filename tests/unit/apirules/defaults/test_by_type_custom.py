from __future__ import annotations

from typing import Any

from reflet.apirules.defaults.by_type import fill_custom_defaults
from reflet.apirules.schema.kinds import Kinds
from tests.unit.devserver.object_scene import DEFINITION, kind_of

KINDS = Kinds()
KINDS.add_custom(DEFINITION)
GEAR = kind_of("gears", "example.org", kinds=KINDS).schema


def filled(document: dict[str, Any]) -> dict[str, Any]:
    fill_custom_defaults(GEAR, document)
    return document


def test_defaults_are_filled_where_their_parent_is_there() -> None:
    assert filled({"spec": {}}) == {"spec": {"size": 3}}
    assert filled({}) == {}


def test_null_counts_as_absent() -> None:
    made = filled({"spec": {"size": None, "replicas": None, "labels": {"a": None, "b": "c"}}})

    assert made == {"spec": {"size": 3, "labels": {"b": "c"}}}
