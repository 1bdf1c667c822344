"""Label selectors mean what they mean to Kubernetes: every recorded case, by its text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from reflet.api.selectors.labels import LabelSelector
from reflet.errors import ParseError


class Text(msgspec.Struct, frozen=True):
    text: str
    valid: bool
    canonical: str = ""
    matches: str = ""


class Expression(msgspec.Struct, frozen=True):
    key: str
    operator: str
    values: tuple[str, ...] | None


class ExpressionWithValues(msgspec.Struct, frozen=True):
    key: str
    operator: str
    values: tuple[str, ...]


class StructForm(msgspec.Struct, frozen=True):
    match_labels: Mapping[str, str] | None
    match_expressions: tuple[Expression, ...] | None
    valid: bool
    canonical: str = ""
    matches: str = ""


class Recording(msgspec.Struct, frozen=True):
    label_sets: tuple[Mapping[str, str], ...]
    texts: tuple[Text, ...]
    struct_forms: tuple[StructForm, ...]


RECORDING = msgspec.json.decode(
    (Path(__file__).parent / "data" / "label_selectors.json").read_bytes(), type=Recording
)


def matches(selector: LabelSelector) -> str:
    return "".join("y" if selector.matches(labels) else "n" for labels in RECORDING.label_sets)


@pytest.mark.parametrize("case", RECORDING.texts, ids=lambda case: repr(case.text))
def test_a_text_is_refused_or_means_the_same(case: Text) -> None:
    if not case.valid:
        with pytest.raises(ParseError):
            LabelSelector.parse(case.text)
        return

    selector = LabelSelector.parse(case.text)

    assert (str(selector), matches(selector)) == (case.canonical, case.matches)


@pytest.mark.parametrize("case", RECORDING.struct_forms, ids=repr)
def test_a_struct_form_is_refused_or_means_the_same(case: StructForm) -> None:
    expressions = [
        ExpressionWithValues(item.key, item.operator, item.values or ())
        for item in case.match_expressions or ()
    ]
    if not case.valid:
        with pytest.raises(ParseError):
            LabelSelector.from_label_selector(case.match_labels, expressions)
        return

    selector = LabelSelector.from_label_selector(case.match_labels, expressions)

    assert (str(selector), matches(selector)) == (case.canonical, case.matches)
