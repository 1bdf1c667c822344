"""Values found by the paths of custom columns."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.printing.json_paths import first_at, values_at

DOCUMENT: dict[str, Any] = {
    "spec": {"size": 3, "items": [{"n": "a"}, {"n": "b"}], "dotted.name": "d"},
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "Old", "status": "False"},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".spec.size", [3]),
        ("{.spec.size}", [3]),
        ("spec.size", [3]),
        (".spec.items[*].n", ["a", "b"]),
        (".spec.items[0].n", ["a"]),
        (".spec.items[-1].n", ["b"]),
        (".spec.items[9].n", []),
        (r".spec.dotted\.name", ["d"]),
        (".spec['dotted.name']", ["d"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        ('.status.conditions[?(@.type!="Ready")].status', ["False"]),
        (".spec.nothing.more", []),
        (".spec.size.more", []),
        (".spec[", []),
    ],
)
def test_a_path_leads_to_values_or_nowhere(path: str, expected: list[Any]) -> None:
    assert values_at(DOCUMENT, path) == expected


def test_the_first_of_none_is_nothing() -> None:
    assert first_at(DOCUMENT, ".nothing") is None
