from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.schema.yaml_reading import DEEPEST, read_yaml
from reflet.errors import DecodeError


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("yes", True),
        ("Off", False),
        ("y", True),
        ("~", None),
        ("", None),
        ("null", None),
        ("nope", "nope"),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("0x1F", 31),
        ("0b101", 5),
        ("010", 8),
        ("0o10", 8),
        ("1_000", 1000),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000),
        ("089", 89),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"),
        ("1.2.3", "1.2.3"),
        ("'yes'", "yes"),
        ('"7"', "7"),
        ("!!str 7", "7"),
        ("!!float 7", 7),
        ("!other 7", "7"),
        ("!!binary aGk=", "hi"),
        ("!!binary /w==", "\ufffd"),
        ("99999999999999999999999", 1e23),
    ],
)
def test_words_mean_what_they_mean_to_the_real_server(word: str, value: Any) -> None:
    assert repr(read_yaml(f"a: {word}\n".encode())) == repr({"a": value})


def test_json_is_yaml() -> None:
    assert read_yaml(b' {"a": [1, {"b": "\\u00e9"}]} ') == {"a": [1, {"b": "é"}]}


def test_a_flow_map_that_is_not_json_is_yaml_too() -> None:
    assert read_yaml(b"{a: 1, b: [x, z]}") == {"a": 1, "b": ["x", "z"]}


def test_keys_become_texts() -> None:
    assert read_yaml(b"1: a\ntrue: b\n1.5: c\n") == {"1": "a", "true": "b", "1.5": "c"}


def test_of_a_key_that_is_there_twice_the_last_one_counts() -> None:
    assert read_yaml(b"a: 1\nb: 2\na: 3\n") == {"a": 3, "b": 2}


def test_only_the_first_document_is_read() -> None:
    assert read_yaml(b"--- {a: 1}\n---\nb: 2\n") == {"a": 1}


@pytest.mark.parametrize("text", [b"", b"# nothing\n", b"---\n", b"--- ~\n"])
def test_nothing_is_null(text: bytes) -> None:
    assert read_yaml(text) is None


def test_aliases_repeat_and_merge() -> None:
    text = b"base: &base {a: 1, b: 2}\ncopy: *base\nmore:\n  <<: *base\n  b: 3\n"

    assert read_yaml(text) == {
        "base": {"a": 1, "b": 2},
        "copy": {"a": 1, "b": 2},
        "more": {"a": 1, "b": 3},
    }


def test_of_several_merged_maps_the_first_wins() -> None:
    text = b"- &x {a: 1}\n- &y {a: 2, b: 2}\n- <<: [*x, *y]\n"

    assert read_yaml(text)[2] == {"a": 1, "b": 2}


def test_what_is_merged_counts_more_than_what_came_before_it() -> None:
    assert read_yaml(b"a: 1\n<<: {a: 2}\nb: 3\n") == {"a": 2, "b": 3}


def test_an_escaped_quote_in_double_quotes_is_a_quote() -> None:
    assert read_yaml(b'a: "it\\\'s"\n') == {"a": "it's"}


def test_a_quoted_merge_sign_is_a_key() -> None:
    assert read_yaml(b"'<<': {a: 1}\n") == {"<<": {"a": 1}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: *nobody\n", "yaml: unknown anchor 'nobody' referenced"),
        ("a: &a [*a]\n", "yaml: anchor 'a' value contains itself"),
        ("a: .inf\n", "json: unsupported value: .inf"),
        ("[1]: a\n", "Unsupported map key of type: []interface {}"),
        ("<<: 1\n", "yaml: map merge requires map or sequence of maps as the value"),
        ("a: !!binary '*'\n", "yaml: !!binary value contains invalid base64 data"),
        ("a: !!int b\n", "yaml: cannot decode !!str `b` as a !!int"),
        ("a: 1\n  b: 2\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("- a\nb: c\n", "yaml: line 1: did not find expected '-' indicator"),
        ("%YAML 1.2\n---\na: 1\n", "yaml: found incompatible YAML document"),
        ("a: \x01\n", "yaml: control characters are not allowed"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(DecodeError) as refused:
        read_yaml(text.encode())

    assert str(refused.value) == f"error converting YAML to JSON: {problem}"


def test_aliases_of_aliases_are_not_multiplied_out() -> None:
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10)]

    with pytest.raises(DecodeError, match="document contains excessive aliasing"):
        read_yaml("\n".join(lines).encode())


@pytest.mark.parametrize("text", ["[" * (DEEPEST + 1), "[" * 1_000_000, "{a: " * 100_000])
def test_a_hostile_depth_is_noticed(text: str) -> None:
    with pytest.raises(DecodeError, match="exceeded max depth"):
        read_yaml(text.encode())
