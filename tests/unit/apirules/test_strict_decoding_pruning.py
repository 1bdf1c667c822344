from __future__ import annotations

import json

from reflet.apirules.schema.decoding import keep_repeated
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.strict_decoding import prune
from tests.unit.devserver.object_scene import DEFINITION, kind_of

KINDS = Kinds()
KINDS.add_custom(DEFINITION)
GEAR = kind_of("gears", "example.org", kinds=KINDS).schema


def test_unknown_fields_are_pruned_except_where_they_are_welcome() -> None:
    complaints: list[str] = []

    made = prune(
        GEAR,
        {"spec": {"x": 1, "free": {"y": {"z": 1}}, "parts": [{"id": "a", "w": 1}]}, "v": 1},
        "",
        complaints,
    )

    assert made == {"spec": {"free": {"y": {"z": 1}}, "parts": [{"id": "a"}]}}
    assert complaints == [
        'unknown field "spec.x"',
        'unknown field "spec.parts[0].w"',
        'unknown field "v"',
    ]


def test_repeated_keys_are_complained_about() -> None:
    complaints: list[str] = []
    document = json.loads('{"spec": {"size": 1, "size": 2}}', object_pairs_hook=keep_repeated)

    assert prune(GEAR, document, "", complaints) == {"spec": {"size": 2}}
    assert complaints == ['duplicate field "spec.size"']


def test_what_is_kept_is_a_copy() -> None:
    document = {"spec": {"free": {"list": [1]}}}

    made = prune(GEAR, document, "", [])
    made["spec"]["free"]["list"].append(2)

    assert document == {"spec": {"free": {"list": [1]}}}
