from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.tokens import SyntaxProblem, tokens_of
from reflet.apirules.cel.values import Uint


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("0x1F", 31),
        ("7u", Uint(7)),
        ("1.5", 1.5),
        (".5e1", 5.0),
        ("2e3", 2000.0),
        ("'a\\n\\x41\\u00e9\\101'", "a\nAéA"),
        ('"it\'s"', "it's"),
        ("'''two\nlines'''", "two\nlines"),
        ("r'\\n'", "\\n"),
        ("b'\\xff\\n'", b"\xff\n"),
        ("rb'\\n'", b"\\n"),
    ],
)
def test_a_literal_is_read(text: str, value: Any) -> None:
    first, end = tokens_of(text)

    assert (first.value, type(first.value)) == (value, type(value))
    assert end.kind == "end"


def test_comments_and_spaces_are_nothing() -> None:
    assert [token.text for token in tokens_of("a // why\n&& b")] == ["a", "&&", "b", "<EOF>"]


@pytest.mark.parametrize(
    "text", ["#", "'open", "'\\q'", "'\\ud800'", "b'\\u0041'", "9" * 50, "99999999999999999999u"]
)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(SyntaxProblem):
        list(tokens_of(text))
