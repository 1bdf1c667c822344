from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.storage.node_selectors import check_node_selector
from tests.unit.devserver.object_scene import complaints


def wrong_with(*terms: dict[str, Any], any_value: bool = False) -> list[str]:
    errors = FieldErrors()
    check_node_selector({"nodeSelectorTerms": list(terms)}, "s", errors, any_value=any_value)
    return complaints(errors)


def label(operator: str, *values: str, key: str = "a") -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def field(operator: str, *values: str, key: str = "metadata.name") -> dict[str, Any]:
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    "term",
    [{}, label("In", "b"), label("Exists"), label("Gt", "4"), field("NotIn", "node-1")],
)
def test_good_terms_are_fine(term: dict[str, Any]) -> None:
    assert wrong_with(term) == []


def test_there_is_a_term() -> None:
    assert wrong_with() == [
        "s.nodeSelectorTerms: Required value: must have at least one node selector term"
    ]


@pytest.mark.parametrize(
    ("term", "wrong"),
    [
        (
            label("In"),
            (
                "matchExpressions[0].values: Required value: must be specified when "
                "`operator` is 'In' "
                "or 'NotIn'"
            ),
        ),
        (
            label("DoesNotExist", "b"),
            (
                "matchExpressions[0].values: Forbidden: may not be specified when `operator` is "
                "'Exists' or 'DoesNotExist'"
            ),
        ),
        (
            label("Lt", "1", "2"),
            (
                "matchExpressions[0].values: Required value: must be specified single value when "
                "`operator` is 'Lt' or 'Gt'"
            ),
        ),
        (
            label("Near"),
            'matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
        ),
        (
            field("In", "a", "b"),
            (
                "matchFields[0].values: Required value: must be only one value when "
                "`operator` is 'In' "
                "or 'NotIn' for node field selector"
            ),
        ),
        (
            field("Exists"),
            'matchFields[0].operator: Invalid value: "Exists": not a valid selector operator',
        ),
        (
            field("In", "a", key="metadata.uid"),
            'matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key',
        ),
    ],
)
def test_what_is_wrong_is_said(term: dict[str, Any], wrong: str) -> None:
    assert wrong_with(term) == [f"s.nodeSelectorTerms[0].{wrong}"]


def test_values_are_those_of_labels_unless_they_were_not_before() -> None:
    assert len(wrong_with(label("In", "b c"))) == 1
    assert wrong_with(label("In", "b c"), any_value=True) == []
