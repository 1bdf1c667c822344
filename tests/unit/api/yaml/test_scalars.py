import math

import pytest

from reflet.api.yaml.scalars import FIRST_LETTERS, Scalar, key_text, needs_quotes, resolved


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("Yes", True),
        ("on", True),
        ("y", True),
        ("FALSE", False),
        ("no", False),
        ("Off", False),
        ("n", False),
        ("", None),
        ("~", None),
        ("null", None),
        ("0", 0),
        ("-1", -1),
        ("+7", 7),
        ("0644", 420),
        ("0o644", 420),
        ("0x1F", 31),
        ("-0x1f", -31),
        ("0b101", 5),
        ("1_000", 1000),
        ("08", 8),
        ("1e3", 1000),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1),
        ("18446744073709551615", 18446744073709551615),
        ("18446744073709551616", 18446744073709551616),
        ("1e30", 1e30),
    ],
)
def test_bare_words_mean_what_they_mean_to_kubernetes(text: str, expected: Scalar) -> None:
    found = resolved(text)

    assert found == expected
    assert isinstance(found, bool) == isinstance(expected, bool)


@pytest.mark.parametrize(
    "text",
    ["yEs", "TRue", "2026-01-02", "12:30", "1.2.3", "0x", "0xg", "-", "+", ".", "1Gi", "500m", "=",
     "<<", "\uff11\uff12", "1e", "--1", "e3", "9" * 5000 + "x", "9" * 5000, "1e999"],
)  # fmt: skip
def test_everything_else_is_text(text: str) -> None:
    assert resolved(text) == text


@pytest.mark.parametrize("word", ["", "~", "yes", "Off", "null", "0x1F", "+7", "-1", ".5", ".inf"])
def test_what_is_no_text_begins_with_one_of_a_few_letters(word: str) -> None:
    assert not isinstance(resolved(word), str)
    assert word[:1] in FIRST_LETTERS


def test_a_number_beyond_64_bits_loses_its_last_digits_as_in_go() -> None:
    assert resolved("123456789012345678901234") == 1.2345678901234568e23


def test_infinity_is_not_text() -> None:
    assert resolved(".inf") == math.inf
    assert resolved("-.INF") == -math.inf


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (True, "true"),
        (False, "false"),
        (5, "5"),
        (1.5, "1.5"),
        ("a", "a"),
        (None, None),
        (math.inf, ".inf"),
        (-math.inf, "-.inf"),
        (math.nan, ".nan"),
    ],
)
def test_keys_become_text(key: Scalar, expected: str | None) -> None:
    assert key_text(key) == expected


@pytest.mark.parametrize(
    "text", ["", "yes", "0644", "1e3", "12:30", "2026-01-02", "null", "=", "1_0"]
)
def test_text_that_looks_like_something_else_needs_quotes(text: str) -> None:
    assert needs_quotes(text)


@pytest.mark.parametrize("text", ["hello", "1Gi", "v1", "a b", "12:99x", "web-0"])
def test_ordinary_text_needs_none(text: str) -> None:
    assert not needs_quotes(text)
