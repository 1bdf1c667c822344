"""Field selectors mean what they mean to Kubernetes: every recorded case, by its text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from reflet.api.selectors.fields import FieldSelector
from reflet.errors import ParseError


class Text(msgspec.Struct, frozen=True):
    text: str
    valid: bool
    canonical: str = ""
    matches: str = ""
    exact: Mapping[str, str] = {}


class OneObject(msgspec.Struct, frozen=True):
    name: str
    selector: str


class Recording(msgspec.Struct, frozen=True):
    field_sets: tuple[Mapping[str, str], ...]
    texts: tuple[Text, ...]
    one_object: tuple[OneObject, ...]


RECORDING = msgspec.json.decode(
    (Path(__file__).parent / "data" / "field_selectors.json").read_bytes(), type=Recording
)


@pytest.mark.parametrize("case", RECORDING.texts, ids=lambda case: repr(case.text))
def test_a_text_is_refused_or_means_the_same(case: Text) -> None:
    if not case.valid:
        with pytest.raises(ParseError):
            FieldSelector.parse(case.text)
        return

    selector = FieldSelector.parse(case.text)

    matches = "".join("y" if selector.matches(fields) else "n" for fields in RECORDING.field_sets)
    exact = {field: selector.requires_exact_match(field) for field in ("a", "metadata.name")}
    demanded = {field: value for field, value in exact.items() if value is not None}
    assert (str(selector), matches, demanded) == (case.canonical, case.matches, case.exact)


@pytest.mark.parametrize("case", RECORDING.one_object, ids=lambda case: repr(case.name))
def test_the_selector_of_one_object_is_escaped_the_same(case: OneObject) -> None:
    assert str(FieldSelector.one_object(case.name)) == case.selector
