"""Quoting as the kubelet quotes."""

from __future__ import annotations

import pytest

from reflet.gotext.quoting import quoted, quoted_map


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", '"plain text"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("\x85", r'"\u0085"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("\ud800", r'"\ufffd"'),
    ],
)
def test_unprintable_characters_are_escaped(text: str, expected: str) -> None:
    assert quoted(text) == expected


def test_a_map_is_sorted_by_its_keys() -> None:
    assert quoted_map({"b": "2", "B": "1", "é": "3"}) == 'B="1"\nb="2"\né="3"'
