"""Quoting as Go quotes, and as our own messages do."""

from __future__ import annotations

import pytest

from reflet.gotext.quoting import excerpt, quoted, quoted_character, quoted_map


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", '"plain text"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\x00\x7f", r'"\x00\x7f"'),
        ("é\u200b", r'"é\u200b"'),
        ("\x85", r'"\u0085"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("\ud800", r'"\ufffd"'),
    ],
)
def test_unprintable_characters_are_escaped(text: str, expected: str) -> None:
    assert quoted(text) == expected


def test_a_map_is_sorted_by_its_keys() -> None:
    assert quoted_map({"b": "2", "B": "1", "é": "3"}) == 'B="1"\nb="2"\né="3"'


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("a", "'a'"),
        ("'", r"'\''"),
        ('"', "'\"'"),
        ("\\", r"'\\'"),
        ("\n", r"'\n'"),
        ("\v", r"'\v'"),
        ("\x00", r"'\x00'"),
        ("é", "'é'"),
        ("\x85", r"'\u0085'"),
    ],
)
def test_a_character_is_quoted_as_the_json_decoder_does(character: str, expected: str) -> None:
    assert quoted_character(character) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("it's", '"it\'s"'), ("abcd", "'abcd'"), ("abcde", "'abc…'")]
)
def test_an_excerpt_is_short_and_in_pythons_quotes(text: str, expected: str) -> None:
    assert excerpt(text, 4) == expected
