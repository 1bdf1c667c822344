from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.time_functions import read_duration
from reflet.apirules.cel.values import EvaluationError
from tests.unit.apirules.cel.expression_scene import value_of

MOMENT = "timestamp('2024-02-29T12:34:56.789Z')"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"{MOMENT}.getFullYear() + {MOMENT}.getMonth()", 2025),
        (f"{MOMENT}.getDate() * 100 + {MOMENT}.getDayOfMonth()", 2928),
        (f"{MOMENT}.getDayOfWeek() * 100 + {MOMENT}.getDayOfYear()", 459),
        (f"{MOMENT}.getHours('-02:30') * 100 + {MOMENT}.getMinutes('-02:30')", 1004),
        (f"{MOMENT}.getHours('Europe/Paris')", 13),
        (f"{MOMENT}.getSeconds() * 1000 + {MOMENT}.getMilliseconds()", 56789),
        (f"string({MOMENT})", "2024-02-29T12:34:56.789Z"),
        (f"{MOMENT} - timestamp('2024-02-29T00:00:00Z') > duration('12h')", True),
        (f"{MOMENT} + duration('1h') - duration('1h') == {MOMENT}", True),
        (f"duration('1s') + {MOMENT} > {MOMENT}", True),
        ("int(timestamp('1970-01-01T00:01:00Z')) + int(duration('1us'))", 1060),
        ("timestamp(60) == timestamp('1970-01-01T01:01:00+01:00')", True),
        ("duration('1h30m').getMinutes() + duration('-90s').getSeconds()", 0),
        ("duration('1.5s').getMilliseconds() + duration('90m').getHours()", 1501),
        ("string(duration('-1.5s')) + string(duration(0))", "-1.5s0s"),
    ],
)
def test_moments_and_durations_have_parts(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("timestamp(text)", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
        ("duration(text)", "type conversion error from 'string' to 'google.protobuf.Duration'"),
        ("timestamp(0).getHours(text)", "unknown time zone nonsense"),
        ("timestamp(9000000000000).getHours()", "timestamp overflow"),
    ],
)
def test_what_is_no_time_is_an_error(text: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        value_of(text, text="nonsense")


@pytest.mark.parametrize("text", ["", "1", "s", "1x", "1h2", ".s", "9999999h", "1h" * 200])
def test_what_go_does_not_read_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="invalid duration"):
        read_duration(text)
