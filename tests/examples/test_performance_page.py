"""The pages on performance are made from results: tables, pictures, and the first page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from benchmarks import pictures, report, summary_page
from benchmarks.__main__ import BENCHMARKS
from benchmarks.bar_chart import LETTERS, LINE, NUMBERS, WIDTH, Bar, bar_chart
from benchmarks.page_sections import SECTIONS
from benchmarks.performance_page import MOST_WORDS, missed_goals, path_of, with_heading
from tests.examples.pages import DOCS

SVG: Final = "{http://www.w3.org/2000/svg}"


def spread(value: float) -> dict[str, float]:
    return {"median": value, "low": value * 0.9, "high": value * 1.1, "runs": 3}


def a_result(**figures: Any) -> dict[str, Any]:
    machine = {"cores": 2, "processor": "some", "memory_bytes": 2**34, "kernel": "6.1-x"}
    return {
        "command": "python -m benchmarks faults",
        "finished": "2026-01-02T03:04:05+00:00",
        "machine": {**machine, "load_average": 0.5},
        "versions": {"python": "3.11"},
        "tables": ["Some table\n\n| a |\n|---|\n| 1 |"],
        "figures": figures,
    }


FAULTS: Final = {
    "watch answers 500": {
        "reflet": {"lists": 3, "watches": 7, "verdict": "right"},
        "kubernetes informer": {"lists": 0, "watches": 10_000, "verdict": "right"},
        "client-go informer": {"lists": 1, "watches": 1_500, "verdict": "right"},
    }
}


def a_table(*jobs: str, figure: str = "1") -> str:
    """The short table with a line for each job."""
    lines = [f"| {job} | {figure} | {figure} | {figure} |" for job in jobs]
    return "\n".join(["| job | Reflet | official | Go |", "|---|---|---|---|", *lines])


def last_cells(table: str) -> list[str]:
    """The last row, without what it is about."""
    return [cell.strip() for cell in table.splitlines()[-1].split("|")[2:-1]]


def widths(picture: str) -> list[float]:
    root = ElementTree.fromstring(picture)
    return [float(bar.get("width", 0)) for bar in root.iter(f"{SVG}rect")]


def height(root: ElementTree.Element) -> float:
    return float(str(root.get("viewBox")).split()[3])


def texts(picture: str) -> list[str]:
    return [str(each.text) for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_bar_is_as_long_as_its_value() -> None:
    bars = [Bar(label="ours", value=1.0, kind="ours"), Bar(label="theirs", value=4.0)]

    first, second = widths(bar_chart("Title", "unit", bars))

    assert second == pytest.approx(4 * first, abs=0.5)


def test_numbers_and_names_are_written_out_and_made_safe() -> None:
    picture = bar_chart("a < b", "µs", [Bar(label="x & y", value=1234.5, note="(right)")])

    assert texts(picture) == ["a < b", "µs", "x & y", "1,234.5 (right)"]


def test_a_value_below_zero_is_written_out_beside_a_bar_without_length() -> None:
    bars = [Bar(label="falls", value=-0.5), Bar(label="grows", value=1.0)]
    picture = bar_chart("Title", "unit", bars)

    [number] = [
        each for each in ElementTree.fromstring(picture).iter(f"{SVG}text") if each.text == "-0.5"
    ]
    assert widths(picture)[0] == 1.0
    assert float(number.get("x", 0)) > 1.0


def test_the_longest_bar_leaves_room_for_its_number() -> None:
    bars = [Bar(label="with a range", value=1.0, low=0.5, high=4.0)]

    [number] = [
        each
        for each in ElementTree.fromstring(bar_chart("Title", "unit", bars)).iter(f"{SVG}text")
        if each.text == "1.0"
    ]

    assert float(number.get("x", 0)) <= WIDTH - NUMBERS + 6


def test_a_long_name_takes_more_lines_instead_of_leaving_the_picture() -> None:
    name = "word " * 30

    short, long = (
        ElementTree.fromstring(bar_chart("Title", "unit", [Bar(label=label, value=1.0)]))
        for label in ("word", name)
    )

    shown = [str(each.text) for each in long.iter(f"{SVG}text")]
    assert max(map(len, shown)) <= LETTERS
    assert height(long) - height(short) == 2 * LINE


def test_nothing_to_draw_is_drawn_without_bars() -> None:
    assert widths(bar_chart("Title", "unit", [])) == []


def test_a_picture_without_any_cost_has_bars_that_can_be_seen() -> None:
    assert widths(bar_chart("Title", "unit", [Bar(label="free", value=0.0)])) == [1.0]


def test_requests_under_a_fault_are_lists_and_watches_with_the_verdict() -> None:
    shown = texts(pictures.fault_requests(FAULTS))

    assert "10,000 (right)" in shown
    assert "10 (right)" in shown


def test_pictures_are_drawn_for_full_results_only(tmp_path: Path) -> None:
    (tmp_path / "faults.json").write_text(json.dumps(a_result(**FAULTS)))
    (tmp_path / "mirror-quick.json").write_text(json.dumps(a_result()))

    drawn = pictures.draw(["faults", "mirror"], results=tmp_path, into=tmp_path / "images")

    assert [path.name for path in drawn] == ["fault-requests.svg"]


def test_a_page_has_words_facts_pictures_and_tables() -> None:
    text = report.composed("faults", SECTIONS["faults"], a_result(**FAULTS))

    assert text.startswith("# Faults\n\nWhat each client asks")
    assert "on 2026-01-02: 2 cores of some" in text
    assert "](../images/fault-requests.svg)" in text
    assert text.endswith("## Some table\n\n| a |\n|---|\n| 1 |\n")


@pytest.mark.parametrize(
    ("title", "heading", "sentence"),
    [
        ("Goals", "Goals", ""),
        ("Latency: milliseconds (p50)", "Latency", "Milliseconds (p50)."),
        ("Imports (limit: 60)", "Imports", "Limit: 60."),
        (
            "One stream of the updates of 2,000 ConfigMaps of 1 KiB, from the socket: by CPU",
            "One stream of the updates of 2,000 ConfigMaps of 1 KiB",
            "From the socket: by CPU.",
        ),
    ],
)
def test_the_heading_of_a_table_is_short_and_the_rest_a_sentence(
    title: str, heading: str, sentence: str
) -> None:
    shown = with_heading(f"{title}\n\n| a |")

    assert shown == f"## {heading}\n\n{sentence}{sentence and chr(10) * 2}| a |\n"


def test_no_heading_of_a_page_is_a_paragraph() -> None:
    headings = [
        line
        for page in (DOCS / "performance").glob("*.md")
        for line in page.read_text().splitlines()
        if line.startswith("#")
    ]

    assert [line for line in headings if len(line.split()) > MOST_WORDS + 8] == []


def test_a_goal_that_was_missed_is_found_with_what_was_measured() -> None:
    page = "| goal | measured | reached |\n|--|--|--|\n| fast | 3  | **no** |\n| small | 1 | yes |"

    assert list(missed_goals(page)) == [("fast", "3")]


def test_the_first_page_has_every_goal_that_another_page_says_was_missed() -> None:
    page = summary_page.PAGE.read_text()

    assert summary_page.with_missed(page, summary_page.missed_table()) == page, (
        "out of date: run python -m benchmarks.report"
    )
    assert "| [The mirror](mirror.md)" in page


def test_the_first_page_shows_five_charts_and_leads_to_every_other() -> None:
    page = summary_page.PAGE.read_text()
    others = {path.name for path in (DOCS / "performance").glob("*.md")} - {"index.md"}

    assert len(re.findall(r"^!\[", page, re.MULTILINE)) == 5
    assert {name for name in others if f"]({name})" not in page} == set()
    assert others == {path_of(name).name for name in (*SECTIONS, pictures.GROWTH)}


def test_every_benchmark_has_a_page_that_is_written_from_its_results() -> None:
    assert SECTIONS.keys() == set(BENCHMARKS)


def test_the_short_table_leaves_out_what_was_not_run() -> None:
    text = summary_page.short_table({"faults": FAULTS})

    assert last_cells(text) == ["10", "10,000", "1,501"]


def test_the_short_table_says_how_long_the_fault_was() -> None:
    row = {"who": "reflet", "points": {"6": 7, "24": 13, "12": 10}}

    text = summary_page.short_table({"faults": {**FAULTS, "growth": [row]}})

    assert "answers watches with 500 for 12 s" in text


def test_the_short_table_says_who_was_not_measured() -> None:
    without_go = {
        fault: {name: each for name, each in found.items() if name != "client-go informer"}
        for fault, found in FAULTS.items()
    }

    text = summary_page.short_table({"faults": without_go})

    assert last_cells(text) == ["10", "10,000", "not measured"]


def test_the_first_page_has_a_place_for_the_short_table() -> None:
    page = summary_page.PAGE.read_text()

    filled = summary_page.with_table(page, summary_page.short_table({"faults": FAULTS}))

    assert filled.count("| 10,000 ") == 1


def test_the_short_table_of_one_benchmark_leaves_the_lines_of_the_others() -> None:
    once = f"{summary_page.BEGIN}\n\n{a_table('a', 'b')}\n\n{summary_page.END}\n"

    page = summary_page.with_table(once, f"T\n\n{a_table('b', 'c', figure='2')}")

    assert re.findall(r"^\| (\w) +\| (\d)", page, re.MULTILINE) == [
        ("a", "1"),
        ("b", "2"),
        ("c", "2"),
    ]


def test_growth_is_written_from_all_benchmarks_or_not_at_all(tmp_path: Path) -> None:
    row = {"job": "an event"}
    for name in SECTIONS:
        assert report.growth_of_all(tmp_path) == []
        (tmp_path / f"{name}.json").write_text(json.dumps({"figures": {"growth": [row]}}))

    assert report.growth_of_all(tmp_path) == [row] * len(SECTIONS)


def test_every_picture_is_shown_and_every_picture_that_is_shown_is_there() -> None:
    shown = {
        name
        for page in (DOCS / "performance").glob("*.md")
        for name in re.findall(r"images/([\w-]+)\.svg\)", page.read_text())
    }

    assert shown == pictures.PICTURES.keys()
    assert {name for name in shown if not (DOCS / f"images/{name}.svg").is_file()} == set()


@pytest.mark.parametrize("name", sorted(pictures.PICTURES))
def test_a_picture_is_well_formed_and_shows_us(name: str) -> None:
    root = ElementTree.fromstring((DOCS / f"images/{name}.svg").read_text())

    assert [bar for bar in root.iter(f"{SVG}rect") if "ours" in bar.get("class", "")]
