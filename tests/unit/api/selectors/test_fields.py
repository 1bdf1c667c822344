from __future__ import annotations

import pytest

from reflet.api.selectors.fields import FieldRequirement, FieldSelector, escape
from reflet.errors import ParseError

RUNNING = {"metadata.name": "web", "status.phase": "Running"}


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("", True),
        ("metadata.name=web", True),
        ("metadata.name==web", True),
        ("metadata.name!=web", False),
        ("status.phase!=Failed", True),
        ("spec.nodeName=", True),
        ("spec.nodeName!=", False),
        ("metadata.name=web,status.phase=Running", True),
        ("metadata.name=web,status.phase=Failed", False),
    ],
)
def test_a_selector_matches_the_fields_it_describes(text: str, selected: bool) -> None:
    assert FieldSelector.parse(text).matches(RUNNING) is selected


def test_the_canonical_text_is_ordered_and_has_one_equals_sign() -> None:
    assert str(FieldSelector.parse("b==2,,a!=1")) == "a!=1,b=2"


def test_an_escaped_value_is_read_as_it_was_meant() -> None:
    selector = FieldSelector.parse(r"a=x\,y\=z\\")

    assert selector.requires_exact_match("a") == "x,y=z\\"


def test_a_value_is_escaped_where_the_parser_would_stumble() -> None:
    assert escape("a,b=c\\d") == r"a\,b\=c\\d"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a", "position 0: 'a' lacks one of '=' '==' '!='"),
        ("a=b,c", "position 4: 'c' lacks one of '=' '==' '!='"),
        (r"a=x\y", r"position 3: found '\\y', expected one of the escapes \\ \, \="),
        ("a=\\", r"position 2: found '\\', expected one of the escapes \\ \, \="),
        ("a=b=c", r"position 3: found '=' inside a value, expected it escaped as \="),
    ],
)
def test_an_error_names_the_place_and_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(ParseError) as caught:
        FieldSelector.parse(text)

    assert str(caught.value) == f"field selector {text!r}, {problem}"


def test_one_object_is_selected_by_its_name() -> None:
    assert str(FieldSelector.one_object("web,1")) == r"metadata.name=web\,1"


@pytest.mark.parametrize(
    ("text", "value"),
    [("a=x", "x"), ("a=x,b=y", "x"), ("a!=x", None), ("b=y", None), ("", None), ("a=", "")],
)
def test_only_an_equality_requires_an_exact_value(text: str, value: str | None) -> None:
    assert FieldSelector.parse(text).requires_exact_match("a") == value


@pytest.mark.parametrize("field", ["a=b", "a,b", "a!", "a\\\\,b"])
def test_a_field_that_the_parser_would_not_find_again_is_refused(field: str) -> None:
    with pytest.raises(ParseError, match="cannot be selected by"):
        FieldRequirement(field, "x")


def test_a_requirement_without_field_and_value_is_dropped() -> None:
    assert FieldSelector.parse("=,!=").selects_everything


def test_nothing_matches_nothing_and_stays_nothing() -> None:
    nothing = FieldSelector.nothing() & FieldSelector.one_object("web")

    assert (nothing.matches(RUNNING), nothing) == (False, FieldSelector.nothing())


def test_an_added_requirement_takes_its_place_in_the_order() -> None:
    selector = FieldSelector.parse("b=2").adding(FieldRequirement("a", "1", negated=True))

    assert str(selector) == "a!=1,b=2"


def test_equal_selectors_have_equal_hashes() -> None:
    assert len({FieldSelector.parse("b=2,a=1"), FieldSelector.parse("a==1,b==2")}) == 1
