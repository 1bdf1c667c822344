from __future__ import annotations

import pytest

from reflet.gotext.durations import go_duration, parse_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.000000001, "1ns"),
        (0.0000011, "1.1µs"),
        (0.0022, "2.2ms"),
        (0.015, "15ms"),
        (0.999999999, "999.999999ms"),
        (1, "1s"),
        (3.3, "3.3s"),
        (180, "3m0s"),
        (245, "4m5s"),
        (245.001, "4m5.001s"),
        (3600, "1h0m0s"),
        (18367.000000001, "5h6m7.000000001s"),
        (360000, "100h0m0s"),
        (-1.5, "-1.5s"),
        (-0.000000002, "-2ns"),
        (0.0000000001, "0s"),
    ],
)
def test_a_duration_reads_as_in_go(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text


def test_the_noise_of_a_float_is_not_shown() -> None:
    assert go_duration(0.1 + 0.2) == "300ms"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("1h30m", 5400), ("1.5s", 1.5), (".5m", 30), ("2ms", 0.002), ("3µs", 3e-6)],
)
def test_a_duration_is_read_as_in_go(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "10", "s", "10 s", "-1s", "1d", "\u0661s", "1s" * 51])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)
