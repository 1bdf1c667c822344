"""Malformed selectors, described as the real server describes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflet.devserver.request.selection import complaint_about_fields, complaint_about_labels

RECORDED = Path(__file__).parents[3] / "conformance/data/label_selectors.json"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a===b", "unable to parse requirement: found '=', expected: identifier"),
        ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a,", "found '', expected: identifier after ','"),
        ("=a", "found '=', expected: !, identifier, or 'end of string'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
    ],
)
def test_a_label_selector_is_refused_where_the_real_parser_stops(text: str, said: str) -> None:
    assert complaint_about_labels(text) == said


def test_a_bad_key_is_refused_by_its_rule() -> None:
    assert complaint_about_labels("-a=b").startswith(
        'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of'
    )


def test_it_complains_about_exactly_what_the_real_parser_refuses() -> None:
    texts = json.loads(RECORDED.read_text())["texts"]

    wrong = [
        each["text"]
        for each in texts
        if bool(complaint_about_labels(each["text"])) is each["valid"]
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("spec.foo", "invalid selector: 'spec.foo'; can't understand 'spec.foo'"),
        ("a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"),
        ("a=b", ""),
    ],
)
def test_a_field_selector_needs_its_operators(text: str, said: str) -> None:
    assert complaint_about_fields(text) == said
