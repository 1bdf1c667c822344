"""Malformed JSON, described as Go describes it."""

from __future__ import annotations

import pytest

from reflet.apirules.schema.decoding import RepeatedKeys
from reflet.apirules.schema.json_reading import DEEPEST, complaint_about, read_json
from reflet.errors import DecodeError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{bad", "invalid character 'b' looking for beginning of object key string"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b"nuls", "invalid character 's' in literal null (expecting 'l')"),
        (b'"a\nb"', r"invalid character '\n' in string literal"),
        (b'"\\q"', "invalid character 'q' in string escape code"),
        (b'"\\u12g4"', r"invalid character 'g' in \u hexadecimal character escape"),
        (b"-x", "invalid character 'x' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b"01", "invalid character '1' after top-level value"),
        (b"\x81", r"invalid character '\u0081' looking for beginning of value"),
        (b"'", r"invalid character '\'' looking for beginning of value"),
        (b"[" * (DEEPEST + 1), "invalid character '[' exceeded max depth"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
    ],
)
def test_the_first_byte_that_does_not_fit_is_named(text: bytes, said: str) -> None:
    with pytest.raises(DecodeError) as refused:
        read_json(text)

    assert str(refused.value) == said


@pytest.mark.parametrize(
    "text", [b"{}", b"[]", b' {"a": [1, {"b": null}], "c": -1.5e+3} ', b'"\\u0041"']
)
def test_about_good_text_there_is_nothing_to_say(text: bytes) -> None:
    assert complaint_about(text) == ""
    read_json(text)


def test_repeated_keys_are_remembered() -> None:
    document = read_json(b'{"a": 1, "a": 2}')

    assert isinstance(document, RepeatedKeys)
    assert (dict(document), document.pairs) == ({"a": 2}, [("a", 1), ("a", 2)])
