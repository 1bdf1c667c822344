from __future__ import annotations

from dataclasses import dataclass

import pytest

from reflet.api.selectors.labels import (
    LabelSelector,
    Operator,
    Requirement,
    check_label_key,
    check_label_value,
)
from reflet.errors import ParseError

WEB = {"app": "web", "tier": "front", "replicas": "3"}


@dataclass(frozen=True)
class Expression:
    key: str
    operator: str
    values: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app=api", False),
        ("app!=api", True),
        ("app!=web", False),
        ("zone!=north", True),
        ("zone=", False),
        ("tier in (front,back)", True),
        ("tier in (back)", False),
        ("tier notin (back)", True),
        ("zone notin (north)", True),
        ("tier", True),
        ("zone", False),
        ("!zone", True),
        ("!tier", False),
        ("replicas>2", True),
        ("replicas>3", False),
        ("replicas<4", True),
        ("app>1", False),
        ("zone<4", False),
        ("app=web,tier=front", True),
        ("app=web,tier=back", False),
    ],
)
def test_a_selector_matches_the_labels_it_describes(text: str, selected: bool) -> None:
    assert LabelSelector.parse(text).matches(WEB) is selected


def test_an_empty_value_is_not_an_absent_label() -> None:
    selector = LabelSelector.parse("tier=")

    assert (selector.matches({"tier": ""}), selector.matches({})) == (True, False)


@pytest.mark.parametrize("number", ["-1", "+4", "0004"])
def test_labels_are_compared_as_signed_integers(number: str) -> None:
    assert LabelSelector.parse("replicas<5").matches({"replicas": number})


@pytest.mark.parametrize("number", ["", "1.5", "1e3", "9223372036854775808", "٣", "0" * 70])
def test_a_label_that_is_not_a_64_bit_integer_is_neither_greater_nor_less(number: str) -> None:
    greater, less = LabelSelector.parse("a>0"), LabelSelector.parse("a<9")

    assert (greater.matches({"a": number}), less.matches({"a": number})) == (False, False)


def test_the_canonical_text_is_ordered_by_key_and_value() -> None:
    selector = LabelSelector.parse(" tier in (front, back,front) ,!legacy,app = web")

    assert str(selector) == "app=web,!legacy,tier in (back,front)"


def test_selectors_that_are_written_differently_are_equal() -> None:
    selectors = {LabelSelector.parse("b,a in (y, x)"), LabelSelector.parse("a in (x,y),b")}

    assert len(selectors) == 1


def test_keywords_can_be_keys_and_values() -> None:
    selector = LabelSelector.parse("in in (notin),notin=in")

    assert selector.matches({"in": "notin", "notin": "in"})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a in (x", "position 7: found the end, expected ',' or ')'"),
        ("a in", "position 4: found the end, expected '('"),
        ("a,", "position 2: found the end, expected a label key or '!'"),
        ("a=b c", "position 4: found 'c', expected ',' or the end"),
        ("a ~ b", "position 2: found '~', expected one of in notin = == != > < ',' or the end"),
        ("b,a>x", "position 2: label 'a', operator '>': expected one 64-bit integer, found 'x'"),
    ],
)
def test_an_error_names_the_place_and_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(ParseError) as caught:
        LabelSelector.parse(text)

    assert str(caught.value) == f"label selector {text!r}, {problem}"


def test_an_error_about_a_huge_selector_stays_short() -> None:
    with pytest.raises(ParseError) as caught:
        LabelSelector.parse("x" * 1_000_000)

    assert len(str(caught.value)) < 600


def test_a_selector_of_many_requirements_is_read_whole() -> None:
    selector = LabelSelector.parse(",".join(f"key{number}" for number in range(10_000)))

    assert len(selector.requirements) == 10_000


@pytest.mark.parametrize("key", ["a", "A-b_c.d", "9", "example.com/a", "a" * 63])
def test_a_qualified_name_is_a_label_key(key: str) -> None:
    check_label_key(key)


@pytest.mark.parametrize(
    "key", ["", "-a", "a/", "/a", "a/b/c", "Example.com/a", "a" * 64, "a\n", "a" * 254 + "/a", "é"]
)
def test_anything_else_is_not_a_label_key(key: str) -> None:
    with pytest.raises(ParseError, match="label key"):
        check_label_key(key)


@pytest.mark.parametrize("value", [" ", "a b", "-", "x" * 64, "x\n", "a/b"])
def test_a_value_outside_the_rules_is_refused(value: str) -> None:
    with pytest.raises(ParseError, match="label value"):
        check_label_value(value)


@pytest.mark.parametrize(
    ("operator", "values"),
    [
        (Operator.EXISTS, ("x",)),
        (Operator.DOES_NOT_EXIST, ("x",)),
        (Operator.IN, ()),
        (Operator.NOT_IN, ()),
        (Operator.EQUALS, ()),
        (Operator.EQUALS, ("x", "y")),
        (Operator.NOT_EQUALS, ("x", "y")),
        (Operator.GREATER_THAN, ("1", "2")),
        (Operator.LESS_THAN, ("many",)),
        (Operator.IN, ("no good",)),
    ],
)
def test_a_requirement_that_has_no_text_cannot_be_made(
    operator: Operator, values: tuple[str, ...]
) -> None:
    with pytest.raises(ParseError):
        Requirement("a", operator, values)


def test_a_requirement_cannot_be_changed() -> None:
    requirement = Requirement("a", Operator.EXISTS)

    with pytest.raises(AttributeError):
        requirement.key = "b"  # type: ignore[misc]  # the claim is that it is refused


def test_the_struct_form_means_the_same_as_its_text() -> None:
    selector = LabelSelector.from_label_selector(
        {"app": "web"},
        [
            Expression("tier", "In", ("front", "back")),
            Expression("zone", "NotIn", ("north",)),
            Expression("replicas", "Exists"),
            Expression("legacy", "DoesNotExist"),
        ],
    )

    assert selector == LabelSelector.parse(
        "app=web,tier in (front,back),zone notin (north),replicas,!legacy"
    )


def test_an_empty_struct_form_selects_everything() -> None:
    assert LabelSelector.from_label_selector({}, ()).selects_everything


def test_an_unknown_operator_of_the_struct_form_is_named() -> None:
    with pytest.raises(ParseError, match="'Gt' is not one of In, NotIn, Exists, DoesNotExist"):
        LabelSelector.from_label_selector(None, [Expression("a", "Gt", ("1",))])


def test_nothing_matches_nothing_and_stays_nothing() -> None:
    nothing = LabelSelector.nothing().adding(Requirement("app", Operator.EXISTS))

    assert (nothing.matches(WEB), nothing) == (False, LabelSelector.nothing())


def test_nothing_is_not_everything_although_both_have_an_empty_text() -> None:
    assert LabelSelector.nothing() != LabelSelector.everything()


def test_an_added_requirement_takes_its_place_in_the_order() -> None:
    selector = LabelSelector.parse("b").adding(Requirement("a", Operator.NOT_EQUALS, ("x",)))

    assert str(selector) == "a!=x,b"


def test_combined_selectors_demand_what_both_demand() -> None:
    combined = LabelSelector.parse("tier") & LabelSelector.parse("app=web")

    assert str(combined) == "app=web,tier"
