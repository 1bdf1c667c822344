from __future__ import annotations

import pytest

from reflet.apirules.validation.custom.field_paths import NoSuchField, read_path

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"b.c": {"type": "string"}}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("", ""),
        (".a", "a"),
        (".a['b.c']", "a.b.c"),
        ("['map'].x", "map[x]"),
        (r".map['\'']", "map[']"),
    ],
)
def test_a_path_leads_to_a_field(path: str, written: str) -> None:
    assert read_path(path, SCHEMA) == written


@pytest.mark.parametrize("path", ["a", ".x", ".a.b", ".a[0]", ".a['b", ".map.x.y", r".map['\q']"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(NoSuchField):
        read_path(path, SCHEMA)
