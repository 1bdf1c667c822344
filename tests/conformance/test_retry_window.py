"""The recorded cases of client-go's retry with a deadline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.informer.reflector.retries import RetryWithDeadline

SCENARIOS = json.loads((Path(__file__).parent / "data" / "scenarios.json").read_text())
RECORDED = SCENARIOS["retry_with_deadline"]


def name(case: dict[str, Any]) -> str:
    seen = "-".join(f"{advance}s:{error}" for advance, error, _ in case["steps"])
    return f"{case['duration']}s-window-{seen}"


@pytest.mark.parametrize("case", RECORDED["cases"], ids=name)
def test_recorded(case: dict[str, Any]) -> None:
    window = RetryWithDeadline(case["duration"], reset_after=case["reset"])
    now = 1000.0

    answers = []
    for advance, error, _ in case["steps"]:
        now += advance
        if error == case["retryable"]:
            window.failed(now)
        answers.append(window.should_retry(now))

    assert answers == [should_retry for _, _, should_retry in case["steps"]]
