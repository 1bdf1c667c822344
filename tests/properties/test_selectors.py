"""What holds for every selector, whatever its text."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from reflet.api.selectors.fields import FieldRequirement, FieldSelector
from reflet.api.selectors.labels import LabelSelector, Operator, Requirement
from reflet.errors import ParseError

KEYS = st.sampled_from(["a", "b", "in", "notin", "example.com/tier", "A-b_c.d"])
VALUES = st.sampled_from(["", "x", "y", "in", "7", "10", "x-y_z.1"])
NUMBERS = st.integers(min_value=0, max_value=2**63 - 1).map(str)
LABELS = st.dictionaries(KEYS, VALUES | NUMBERS)

REQUIREMENTS = st.one_of(
    st.builds(Requirement, KEYS, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
    st.builds(
        Requirement,
        KEYS,
        st.sampled_from([Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS]),
        st.tuples(VALUES),
    ),
    st.builds(
        Requirement,
        KEYS,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.lists(VALUES, min_size=1, max_size=4).map(tuple),
    ),
    st.builds(
        Requirement,
        KEYS,
        st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN]),
        st.tuples(NUMBERS),
    ),
)
LABEL_SELECTORS = st.builds(LabelSelector, st.lists(REQUIREMENTS, max_size=4).map(tuple))

FIELDS = st.sampled_from(["metadata.name", "status.phase", "a"])
FIELD_SELECTORS = st.builds(
    FieldSelector,
    st.lists(st.builds(FieldRequirement, FIELDS, st.text(), st.booleans()), max_size=4).map(tuple),
)
FIELD_SETS = st.dictionaries(FIELDS, st.text())
NEARLY_LABEL_TEXT = st.text(st.sampled_from("ab in(),=!<>1\t-./\x00é"), max_size=30)
NEARLY_FIELD_TEXT = st.text(st.sampled_from("ab=!\\, .\x00é"), max_size=30)


def read(parse: Callable[[str], object], text: str) -> tuple[str, str]:
    """The canonical text, or the problem."""
    try:
        return str(parse(text)), ""
    except ParseError as error:
        return "", str(error)


@given(LABEL_SELECTORS)
def test_a_label_selector_survives_its_text(selector: LabelSelector) -> None:
    assert LabelSelector.parse(str(selector)) == selector


@given(FIELD_SELECTORS)
def test_a_field_selector_survives_its_text(selector: FieldSelector) -> None:
    assert FieldSelector.parse(str(selector)) == selector


@given(st.text() | NEARLY_LABEL_TEXT)
def test_any_text_is_a_label_selector_or_a_one_line_error(text: str) -> None:
    canonical, problem = read(LabelSelector.parse, text)

    assert read(LabelSelector.parse, canonical) == (canonical, "")
    assert len(problem.splitlines()) == (0 if problem == "" else 1)


@given(st.text() | NEARLY_FIELD_TEXT)
def test_any_text_is_a_field_selector_or_a_one_line_error(text: str) -> None:
    canonical, problem = read(FieldSelector.parse, text)

    assert read(FieldSelector.parse, canonical) == (canonical, "")
    assert len(problem.splitlines()) == (0 if problem == "" else 1)


@given(LABEL_SELECTORS, LABEL_SELECTORS, LABELS)
def test_a_combination_of_label_selectors_matches_what_both_match(
    one: LabelSelector, other: LabelSelector, labels: dict[str, str]
) -> None:
    assert (one & other).matches(labels) is (one.matches(labels) and other.matches(labels))


@given(FIELD_SELECTORS, FIELD_SELECTORS, FIELD_SETS)
def test_a_combination_of_field_selectors_matches_what_both_match(
    one: FieldSelector, other: FieldSelector, fields: dict[str, str]
) -> None:
    assert (one & other).matches(fields) is (one.matches(fields) and other.matches(fields))


@given(LABEL_SELECTORS)
def test_everything_adds_no_label_requirement_and_nothing_swallows_all(
    selector: LabelSelector,
) -> None:
    assert selector & LabelSelector.everything() == selector
    assert selector & LabelSelector.nothing() == LabelSelector.nothing()


@given(LABEL_SELECTORS, LABEL_SELECTORS, LABEL_SELECTORS)
def test_combining_label_selectors_does_not_depend_on_grouping(
    one: LabelSelector, two: LabelSelector, three: LabelSelector
) -> None:
    assert (one & two) & three == one & (two & three)


@given(FIELD_SELECTORS, FIELD_SELECTORS)
def test_combining_field_selectors_does_not_depend_on_order(
    one: FieldSelector, other: FieldSelector
) -> None:
    assert one & other == other & one


@given(KEYS, VALUES, LABELS)
def test_an_operator_and_its_opposite_never_agree(
    key: str, value: str, labels: dict[str, str]
) -> None:
    equal = Requirement(key, Operator.EQUALS, (value,))
    different = Requirement(key, Operator.NOT_EQUALS, (value,))

    assert equal.matches(labels) is not different.matches(labels)


@given(st.text())
def test_the_selector_of_one_object_demands_exactly_its_name(name: str) -> None:
    selector = FieldSelector.parse(str(FieldSelector.one_object(name)))

    assert selector.requires_exact_match("metadata.name") == name
