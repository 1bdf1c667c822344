"""The moving picture of the README is what the commands show, and can be shown anywhere."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

import pytest

from docs.generators.recording import IMAGE, film, paced, recorded, texts_of
from docs.generators.terminal_svg import NAMESPACE, ROWS, Screen, moving, session, still

LARGEST = 300_000  # bytes


def shown(text: str) -> list[tuple[tuple[str, str], ...]]:
    screen = Screen()
    screen.feed(text)
    return [screen.runs(row) for row in range(len(screen.lines))]


# The recording


@pytest.mark.time_limit(120)
def test_the_picture_shows_what_the_demonstration_shows_today() -> None:
    now = texts_of(film(recorded(sys.executable, "-m", "reflet", "demo"), ""))

    kept = texts_of(IMAGE.read_text())
    fixed = [line for line in now if re.match(r"── |\$ |[A-Z]+ {2,}|Documentation", line)]
    assert fixed
    assert [line for line in fixed if line not in kept] == [], "out of date: run make pictures"


def test_the_picture_is_small_and_has_no_value_of_a_secret() -> None:
    picture = IMAGE.read_text()

    assert len(picture) < LARGEST
    assert "correct horse" not in picture
    ElementTree.fromstring(picture)


def test_nothing_outside_the_picture_is_asked_for() -> None:
    addresses = re.findall(r'(?:href|src)="([^"]{0,40})|url\(', IMAGE.read_text())

    assert {address.partition(",")[0] for address in addresses} == {"data:image/jpeg;base64"}


def test_a_scene_stays_until_it_can_be_read() -> None:
    moments = [moment for moment, _ in paced("x", [(1, "── a"), (1.5, "b"), (2, "── c")])]

    assert moments == [0, 1, 1.5, 5]


def test_a_command_that_fails_is_no_picture() -> None:
    with pytest.raises(RuntimeError, match="ended with 2"):
        recorded(sys.executable, "-m", "reflet", "nope")


# The terminal


def test_styles_become_classes() -> None:
    assert shown("a \x1b[31m\x1b[1mb\x1b[0m c") == [(("a ", ""), ("b", "r b"), (" c", ""))]


def test_what_is_written_over_is_gone() -> None:
    assert shown("one\rtw") == [(("twe", ""),)]


def test_a_table_that_is_drawn_again_takes_the_place_of_the_old_one() -> None:
    assert shown("a\nb\n\x1b[2A\x1b[Jc\n") == [(("c", ""),), ()]


def test_an_escape_that_is_not_known_is_no_picture() -> None:
    with pytest.raises(ValueError, match="not known"):
        shown("\x1b[5X")


def test_what_is_markup_elsewhere_is_text_in_a_picture() -> None:
    assert "a &lt;b&gt; &amp; c" in still("x", "a <b> & c\n")


def test_a_line_is_there_from_when_it_was_written_until_it_changed() -> None:
    made = session("x", [(0, "a\n"), (2, "b\n"), (4, "\x1b[1Ac\n")], hold=6)

    assert made.versions[1] == [(2, (("b", ""),)), (4, (("c", ""),))]
    drawn = moving("x", [made])
    assert "0%{opacity:0}20%{opacity:1}40%{opacity:0}" in drawn
    assert "animation: 10s step-end 0s infinite" in drawn


def test_the_first_thing_to_see_is_the_answer_of_why() -> None:
    drawn = film([(0.5, "a\n"), (2, "b\n")], "because\n")

    # The demonstration takes 2 s and 5 s to read it, and the answer comes a second later.
    assert "step-end -8s infinite" in drawn


def test_a_terminal_that_is_full_scrolls() -> None:
    made = session("x", [(0, "a\n" * ROWS), (5, "b\n")], hold=5)

    assert "50%{transform:translateY(-20px)}" in moving("x", [made])


def test_where_nothing_moves_the_end_of_the_last_session_is_seen() -> None:
    one = session("x", [(0, "first\n")], hold=1)
    two = session("y", [(0, "second\n")], hold=1)

    root = ElementTree.fromstring(moving("x", [one, two]))

    seen = [
        "".join(group.itertext())
        for group in root.iter(f"{{{NAMESPACE}}}g")
        if "last" in group.attrib["class"].split()
    ]
    assert seen == ["second"]
    assert ".m { opacity: 0 } .last { opacity: 1 }" in moving("x", [one, two])
