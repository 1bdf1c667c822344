"""The picture of the reflector's states is drawn from the tables that it obeys."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from docs.generators.state_diagram import IMAGE, LETTER, WIDTH, diagram, ways
from reflet.informer.reflector.endings import (
    AFTER_LIST,
    AFTER_WATCH,
    AFTER_WATCH_LIST,
    AFTER_WATCH_REQUEST,
)
from tests.examples.pages import DOCS

SVG = "{http://www.w3.org/2000/svg}"


def test_the_documentation_shows_the_present_states() -> None:
    assert IMAGE.read_text() == diagram(), "out of date: run make reference"
    assert f"images/{IMAGE.name})" in (DOCS / "explanation/reflector.md").read_text()


@pytest.mark.parametrize(
    ("state", "prefix", "table"),
    [
        ("WatchList", "", AFTER_WATCH_LIST),
        ("List", "", AFTER_LIST),
        ("Watch", "", AFTER_WATCH),
        ("Watch", "request ", AFTER_WATCH_REQUEST),
    ],
)
def test_every_row_of_the_tables_is_in_the_picture(
    state: str, prefix: str, table: dict[str, object]
) -> None:
    shown = {ending for way in ways() if way.source == state for ending in way.endings}

    assert shown >= {prefix + ending.replace("_", " ") for ending in table}


def test_every_way_has_its_words_inside_the_picture() -> None:
    texts = {
        str(each.text): float(each.get("x", 0))
        for each in ElementTree.fromstring(diagram()).iter(f"{SVG}text")
    }

    assert [way.label for way in ways() if way.label not in texts] == []
    assert [text for text, x in texts.items() if x and x + LETTER * len(text) > WIDTH + 40] == []
