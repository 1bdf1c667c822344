from __future__ import annotations

from reflet.api import field_selectors, label_selectors, selectors


def test_both_kinds_of_selector_are_found_under_one_roof() -> None:
    assert (selectors.LabelSelector, selectors.FieldSelector) == (
        label_selectors.LabelSelector,
        field_selectors.FieldSelector,
    )
