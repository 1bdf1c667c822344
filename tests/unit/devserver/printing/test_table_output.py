"""Tables of objects, built-in and custom."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.devserver.printing.table_output import cells_of, columns_of, include_object, table
from reflet.errors import BadRequest

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
METADATA = {"name": "x", "creationTimestamp": "2026-01-01T00:00:00Z"}


def definition(columns: list[dict[str, Any]]) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "additionalPrinterColumns": columns}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version],
        },
    }


@pytest.mark.parametrize(
    ("kind", "path", "cell"),
    [
        ("integer", ".spec.size", 3),
        ("integer", ".spec.word", None),
        ("number", ".spec.ratio", 1.5),
        ("boolean", ".spec.on", True),
        ("string", ".spec.word", "text"),
        ("string", ".spec.size", "3"),
        ("string", ".spec.list", '["a","b"]'),
        ("date", ".metadata.creationTimestamp", "60m"),
        ("date", ".spec.word", "<invalid>"),
        ("string", ".spec.nothing", None),
    ],
)
def test_a_custom_column_shows_what_its_path_leads_to(kind: str, path: str, cell: Any) -> None:
    column = {"name": "C", "type": kind, "jsonPath": path}
    (served,) = Kinds().add_custom(definition([column]))
    spec = {"size": 3, "ratio": 1.5, "on": True, "word": "text", "list": ["a", "b"]}

    assert cells_of(served, {"metadata": METADATA, "spec": spec}, NOW) == ["x", cell]


def test_kinds_about_which_nothing_is_known_have_a_name_and_an_age() -> None:
    (served,) = Kinds().add_custom(definition([]))

    assert [column["name"] for column in columns_of(served)] == ["Name", "Age"]
    assert cells_of(served, {"metadata": METADATA}, NOW) == ["x", "60m"]


def test_rows_carry_what_was_asked_for() -> None:
    (served,) = Kinds().add_custom(definition([]))
    obj = {"kind": "Widget", "metadata": METADATA}

    rows = [
        table(served, [obj], {}, now=NOW, include=include)["rows"][0]["object"]
        for include in ("Metadata", "Object", "None")
    ]

    assert rows[0]["kind"] == "PartialObjectMetadata"
    assert rows[1:] == [obj, None]


def test_other_wishes_are_refused() -> None:
    with pytest.raises(BadRequest, match="must be 'Metadata', 'Object', 'None', or empty"):
        include_object("Foo")
