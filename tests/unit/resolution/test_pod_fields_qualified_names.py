"""Which label and annotation keys are valid."""

from __future__ import annotations

import pytest

from reflet.resolution.pod_fields import complaints_about


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "example.com/name", "a" * 63])
def test_a_qualified_name_is_accepted(name: str) -> None:
    assert complaints_about(name) == []


@pytest.mark.parametrize(
    ("name", "beginnings"),
    [
        ("", ["name part must be non-empty", "name part must consist of"]),
        ("a" * 64, ["name part must be no more than 63 bytes"]),
        ("/a", ["prefix part must be non-empty"]),
        ("Www/a", ["prefix part a lowercase RFC 1123 subdomain must consist of"]),
        ("a" * 254 + "/a", ["prefix part must be no more than 253 bytes"]),
        ("a/b/c", ["a valid label key must consist of"]),
        ("-a", ["name part must consist of"]),
    ],
)
def test_every_complaint_is_made(name: str, beginnings: list[str]) -> None:
    complaints = complaints_about(name)

    assert len(complaints) == len(beginnings)
    assert all(map(str.startswith, complaints, beginnings))
