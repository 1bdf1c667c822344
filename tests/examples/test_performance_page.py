"""The page on performance is made from results: tables, pictures, and the short table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from benchmarks import front_page, pictures, report
from benchmarks.__main__ import BENCHMARKS
from benchmarks.bar_chart import LABELS, Bar, bar_chart
from benchmarks.page_sections import SECTIONS
from benchmarks.performance_page import with_section
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
    assert float(number.get("x", 0)) > LABELS


def test_nothing_to_draw_is_drawn_without_bars() -> None:
    assert widths(bar_chart("Title", "unit", [])) == []


def test_a_picture_without_any_cost_has_bars_that_can_be_seen() -> None:
    assert widths(bar_chart("Title", "unit", [Bar(label="free", value=0.0)])) == [1.0]
    assert LABELS > 0


def test_requests_under_a_fault_are_lists_and_watches_with_the_verdict() -> None:
    shown = texts(pictures.fault_requests(FAULTS))

    assert "10,000 (right)" in shown
    assert "10 (right)" in shown


def test_pictures_are_drawn_for_full_results_only(tmp_path: Path) -> None:
    (tmp_path / "faults.json").write_text(json.dumps(a_result(**FAULTS)))
    (tmp_path / "mirror-quick.json").write_text(json.dumps(a_result()))

    drawn = pictures.draw(["faults", "mirror"], results=tmp_path, into=tmp_path / "images")

    assert [path.name for path in drawn] == ["fault-requests.svg"]


def test_a_section_has_words_facts_pictures_and_tables() -> None:
    text = report.composed("faults", SECTIONS["faults"], a_result(**FAULTS))

    assert text.startswith("## Faults\n\nWhat each client asks")
    assert "on 2026-01-02: 2 cores of some" in text
    assert "](images/fault-requests.svg)" in text
    assert text.endswith("### Some table\n\n| a |\n|---|\n| 1 |\n")


def test_a_section_takes_the_place_of_the_one_before_and_of_nothing_else() -> None:
    page = "# P\n\n## A\n\nold\n\n## B\n\nstays\n"

    assert with_section(page, "## A", "## A\n\nnew\n") == "# P\n\n## A\n\nnew\n\n## B\n\nstays\n"


def test_every_benchmark_has_a_section_that_is_written_from_its_results() -> None:
    assert SECTIONS.keys() == set(BENCHMARKS)


def test_the_short_table_leaves_out_what_was_not_run() -> None:
    text = front_page.short_table({"faults": FAULTS})

    assert last_cells(text) == ["10", "10,000", "1,501"]


def test_the_short_table_says_how_long_the_fault_was() -> None:
    row = {"who": "reflet", "points": {"6": 7, "24": 13, "12": 10}}

    text = front_page.short_table({"faults": {**FAULTS, "growth": [row]}})

    assert "answers watches with 500 for 12 s" in text


def test_the_short_table_says_who_was_not_measured() -> None:
    without_go = {
        fault: {name: each for name, each in found.items() if name != "client-go informer"}
        for fault, found in FAULTS.items()
    }

    text = front_page.short_table({"faults": without_go})

    assert last_cells(text) == ["10", "10,000", "not measured"]


def test_the_readme_has_a_place_for_the_short_table() -> None:
    page = front_page.README.read_text()

    filled = front_page.with_table(page, front_page.short_table({"faults": FAULTS}))

    assert filled.count("| 10,000 ") == 1


def test_the_short_table_of_one_benchmark_leaves_the_lines_of_the_others() -> None:
    once = f"{front_page.BEGIN}\n\n{a_table('a', 'b')}\n\n{front_page.END}\n"

    page = front_page.with_table(once, f"T\n\n{a_table('b', 'c', figure='2')}")

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
    pages = [DOCS / "performance.md", DOCS.parent / "README.md"]
    shown = {
        name for page in pages for name in re.findall(r"images/([\w-]+)\.svg\)", page.read_text())
    }
    there = {path.stem for path in (DOCS / "images").glob("*.svg")}

    assert shown == there
    assert there <= pictures.PICTURES.keys()


@pytest.mark.parametrize(
    "path", sorted((DOCS / "images").glob("*.svg")), ids=lambda path: path.stem
)
def test_a_picture_is_well_formed_and_shows_us(path: Path) -> None:
    root = ElementTree.fromstring(path.read_text())

    assert [bar for bar in root.iter(f"{SVG}rect") if "ours" in bar.get("class", "")]
