"""Which name was meant."""

from __future__ import annotations

import pytest

from reflet.insight.fixes import near_miss


@pytest.mark.parametrize(
    ("name", "candidates", "meant"),
    [
        ("db.password", ["DB_PASSWORD", "db-passwort"], "DB_PASSWORD"),
        ("HSOT", ["PORT", "HOST"], "HOST"),
        ("settings", ["setings", "secrets"], "setings"),
        ("special.how", ["SPECIAL_TYPE"], None),
        ("color", ["color"], None),
        ("color", [], None),
    ],
)
def test_a_name_is_suggested_only_when_it_is_nearly_the_same(
    name: str, candidates: list[str], meant: str | None
) -> None:
    assert near_miss(name, candidates) == meant


def test_of_equally_near_names_the_first_is_suggested() -> None:
    assert near_miss("a-b", ["a_b", "a.b"]) == "a_b"
