from __future__ import annotations

import math

import pytest

from reflet.runtime.metrics import MetricText


def test_numbers_are_written_as_prometheus_reads_them() -> None:
    metrics = MetricText()
    metrics.count("a_total", 2, result="done")
    metrics.count("a_total", result="done")
    metrics.gauge("b", 1.5)

    assert metrics.text() == (
        '# TYPE a_total counter\na_total{result="done"} 3\n# TYPE b gauge\nb 1.5\n'
    )


def test_a_histogram_has_buckets_a_sum_and_a_count() -> None:
    metrics = MetricText()
    metrics.observe("c_seconds", 0.02)
    metrics.observe("c_seconds", 400)

    lines = metrics.text().splitlines()

    assert 'c_seconds_bucket{le="0.01"} 0' in lines
    assert 'c_seconds_bucket{le="0.05"} 1' in lines
    assert 'c_seconds_bucket{le="+Inf"} 2' in lines
    assert "c_seconds_sum 400.02" in lines
    assert "c_seconds_count 2" in lines


def test_labels_are_escaped() -> None:
    metrics = MetricText()
    metrics.gauge("d", 1, name='a"b\\c\nd')

    assert 'd{name="a\\"b\\\\c\\nd"} 1' in metrics.text()


def test_a_duration_on_the_edge_of_a_bucket_is_in_it() -> None:
    metrics = MetricText()
    metrics.observe("c_seconds", 0.05)

    assert 'c_seconds_bucket{le="0.05"} 1' in metrics.text().splitlines()


def test_labels_in_another_order_are_the_same_series() -> None:
    metrics = MetricText()
    metrics.count("a_total", a="1", b="2")
    metrics.count("a_total", b="2", a="1")

    assert metrics.text().splitlines()[1:] == ['a_total{a="1",b="2"} 2']


@pytest.mark.parametrize(
    ("value", "text"), [(math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "-Inf")]
)
def test_what_is_no_finite_number_is_written_as_prometheus_reads_it(
    value: float, text: str
) -> None:
    metrics = MetricText()
    metrics.gauge("b", value)
    metrics.observe("c_seconds", value)

    lines = metrics.text().splitlines()

    assert f"b {text}" in lines
    assert f"c_seconds_sum {text}" in lines


def test_a_gauge_says_the_last_value_only() -> None:
    metrics = MetricText()
    metrics.gauge("b", 5)
    metrics.gauge("b", 3)

    assert metrics.text() == "# TYPE b gauge\nb 3\n"


def test_who_has_reported_nothing_has_nothing_to_show() -> None:
    assert MetricText().text() == ""
