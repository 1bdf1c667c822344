"""How costs grow: the fit, the turns at several sizes, the table of all, and its section."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import growth, pictures, report
from benchmarks.measuring import RunFailed, Sample, Spread, fitted_exponent
from benchmarks.mirror_objects import namespace_for
from benchmarks.mirror_server import answer_to
from benchmarks.page_sections import GROWTH

SVG: Final = "{http://www.w3.org/2000/svg}"
SIZES: Final = (10, 100, 1000)


def figure(value: float) -> dict[str, Spread]:
    return {"cost": Spread(value, value, value, 1)}


def standings(left_out: dict[str, str] | None = None, **costs: float) -> dict[str, Any]:
    figures = {name: figure(cost) for name, cost in costs.items()}
    return {"figures": figures, "left_out": left_out or {}}


def rows(by_size: dict[str, Any], **titles: str) -> list[growth.Row]:
    return growth.rows_of(
        "an event",
        by_size,
        lambda _size, figures: figures["cost"].median,
        titles=titles,
        by="objects",
        unit="µs",
        ours=lambda name: name == "ours",
    )


def row(points: dict[int, float], **more: Any) -> growth.Row:
    return growth.row("an event", who="Reflet", by="objects", unit="µs", points=points, **more)


def cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.splitlines()[-1].strip("|").split("|")]


# The fit


@given(
    power=st.floats(-3, 3),
    factor=st.floats(1e-3, 1e6),
    sizes=st.sets(st.integers(1, 10**6), min_size=3, max_size=6),
)
def test_the_fit_finds_the_power_that_costs_were_made_with(
    power: float, factor: float, sizes: set[int]
) -> None:
    found = fitted_exponent({size: factor * size**power for size in sizes})

    assert found == pytest.approx(power, abs=1e-4)


def test_the_fit_goes_between_points_that_no_power_explains() -> None:
    found = fitted_exponent({1: 1.0, 10: 100.0, 100: 100.0})

    assert found == pytest.approx(1.0)


@pytest.mark.parametrize(
    "points",
    [{}, {10: 1.0, 100: 2.0}, {10: 1.0, 100: 0.0, 1000: 2.0}, {0: 1.0, 10: 1.0, 100: 1.0}],
    ids=["nothing", "two sizes", "a cost of zero", "a size of zero"],
)
def test_there_is_no_exponent_without_three_sizes_and_costs_above_zero(
    points: dict[int, float],
) -> None:
    assert fitted_exponent(points) is None


# Rows


def test_a_row_has_the_cost_of_one_contestant_at_each_size_and_the_exponent() -> None:
    by_size = {str(size): standings(ours=2.0, theirs=size / 10) for size in SIZES}

    ours, theirs = rows(by_size, ours="**Reflet**", theirs="client")

    assert ours == {
        "job": "an event",
        "who": "Reflet",
        "ours": True,
        "by": "objects",
        "unit": "µs",
        "points": {"10": 2.0, "100": 2.0, "1000": 2.0},
        "exponent": pytest.approx(0.0),
        "note": "",
    }
    assert theirs["exponent"] == pytest.approx(1.0)
    assert not theirs["ours"]


def test_who_fails_at_a_size_has_a_row_that_says_so_and_no_exponent() -> None:
    by_size = {
        **{str(size): standings(theirs=1.0) for size in SIZES[:2]},
        "1000": standings(left_out={"theirs": "objects held: 500"}),
    }

    [theirs] = rows(by_size, theirs="client")

    assert theirs["exponent"] is None
    assert theirs["note"] == "left out with 1,000: objects held: 500"
    assert cells(growth.growth_table([theirs]))[2:] == [
        "10 / 100 objects",
        "1 / 1",
        "",
        "left out with 1,000: objects held: 500",
    ]


def test_sizes_come_in_turns_and_a_failure_at_one_size_is_none_at_another() -> None:
    order: list[tuple[str, int]] = []

    def measure(name: str, size: int) -> Sample:
        order.append((name, size))
        if (name, size) == ("b", 100):
            raise RunFailed("RuntimeError: too many")
        return {"cost": float(size)}

    found = growth.at_sizes(("a", "b"), (10, 100), 2, measure, announce=lambda *_: None)

    assert order == [
        *(("a", 10), ("b", 10), ("a", 100), ("b", 100)),
        *(("a", 100), ("b", 10), ("a", 10)),  # backwards, without the one that is out
    ]
    assert found["10"].figures["b"]["cost"].median == 10.0
    assert found["100"].left_out == {"b": "too many"}


def test_updates_of_a_settled_collection_come_after_a_silence_and_all_the_objects() -> None:
    namespace = namespace_for(100, 50, settled=True)
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=true&sendInitialEvents=true"
    reply = answer_to(path)
    records = list(reply.records())

    silent = records.index(())
    before = [piece for record in records[:silent] for piece in record]
    after = [piece for record in records[silent:] for piece in record]

    assert reply.silence > 0
    assert (len(before), len(after)) == (101, 50)  # the objects and their bookmark
    assert records.count(()) == 1


def test_updates_of_other_collections_come_at_once() -> None:
    reply = answer_to(f"/api/v1/namespaces/{namespace_for(100, 50)}/configmaps?watch=true")

    assert () not in list(reply.records())


# The table


@pytest.mark.parametrize(
    ("exponent", "meaning"),
    [
        (-0.4, "less, the larger the size"),
        (0.0, "about the same at every size"),
        (0.154, "about the same at every size"),
        (0.5, "grows less than the size"),
        (1.0, "grows about as the size does"),
        (1.3, "**grows more than the size**"),
        (None, ""),
    ],
)
def test_an_exponent_is_told_in_words(exponent: float | None, meaning: str) -> None:
    assert growth.meaning(exponent) == meaning


def test_the_table_shows_sizes_costs_exponent_and_meaning() -> None:
    text = growth.growth_table([row({1000: 4.1234, 10_000: 41.2, 100_000: 412.3})])

    assert cells(text) == [
        "an event, µs",
        "Reflet",
        "1,000 / 10,000 / 100,000 objects",
        "4.12 / 41.2 / 412",
        "1.00",
        "grows about as the size does",
    ]


def test_an_exponent_just_below_zero_is_zero() -> None:
    text = growth.growth_table([row({1000: 1.0, 10_000: 1.0, 100_000: 0.99})])

    assert cells(text)[4] == "0.00"


def test_what_is_counted_is_shown_whole_and_without_a_unit() -> None:
    counted = growth.row("streams", who="Reflet", by="objects", points={1: 1, 2: 2, 4: 4})

    assert cells(growth.growth_table([counted]))[:4] == [
        "streams",
        "Reflet",
        "1 / 2 / 4 objects",
        "1 / 2 / 4",
    ]


def test_rows_are_collected_from_the_benchmarks_that_were_run(tmp_path: Path) -> None:
    for name, figures in (
        ("mirror", {"growth": [row({1: 1.0})]}),
        ("node-quick", {"growth": [row({2: 1.0})]}),
        ("wire", {}),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps({"figures": figures}))
    names = ("mirror", "node", "wire", "faults")

    full = growth.collected(names, results=tmp_path)
    quick = growth.collected(names, quick=True, results=tmp_path)

    assert [list(each["points"]) for each in full] == [["1"]]
    assert [list(each["points"]) for each in quick] == [["2"]]


# The section and its picture


def test_the_section_has_words_the_picture_and_one_table() -> None:
    text = report.composed_growth([row({1: 1.0, 2: 2.0, 4: 4.0})])

    assert text.startswith(f"# How cost grows\n\n{GROWTH.introduction}")
    assert "](../images/growth.svg)" in text
    assert text.count("\n## ") == 1
    assert text.endswith(" |\n")


def test_the_picture_shows_the_first_of_ours_for_each_cost(tmp_path: Path) -> None:
    steep, flat = {1: 1.0, 2: 2.0, 4: 4.0}, {1: 1.0, 2: 1.0, 4: 1.0}
    rows = [row(flat, ours=False), row(steep), row(flat), row({})]

    [path] = pictures.draw_growth(rows, into=tmp_path)

    root = ElementTree.fromstring(path.read_text())
    assert [each.text for each in root.iter(f"{SVG}text")][2:] == [
        *("in proportion to the size", "1.00"),
        *("an event, by objects", "1.00"),
    ]


def test_there_is_no_picture_of_nothing(tmp_path: Path) -> None:
    assert pictures.draw_growth([], into=tmp_path) == []
