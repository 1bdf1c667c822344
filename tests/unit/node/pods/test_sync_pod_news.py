from __future__ import annotations

from typing import Any

import pytest

from reflet.node.pods.sync import needs_sync
from tests.unit.node.pod_scenes import pod

GATES = [{"conditionType": "lb/attached"}]


def told(condition: str, status: str) -> dict[str, Any]:
    return {"phase": "Running", "conditions": [{"type": condition, "status": status}]}


@pytest.mark.parametrize(
    ("change", "concerns"),
    [
        ({}, False),
        ({"status": told("Ready", "True")}, False),
        ({"status": told("lb/attached", "True")}, True),
        ({"status": {"phase": "Failed"}}, True),
        ({"metadata": {"labels": {"a": "b"}}}, True),
        ({"metadata": {"annotations": {"a": "b"}}}, True),
        ({"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}}, True),
        ({"metadata": {"deletionGracePeriodSeconds": 5}}, True),
        ({"activeDeadlineSeconds": 5}, True),
    ],
)
def test_an_echo_of_our_own_words_is_no_news(change: dict[str, Any], concerns: bool) -> None:
    before = pod(readinessGates=GATES, status={"phase": "Running"})

    assert needs_sync(before, pod(**{"readinessGates": GATES} | change)) is concerns


def test_a_condition_that_no_gate_asks_for_is_no_news() -> None:
    assert not needs_sync(pod(), pod(status=told("lb/attached", "True")))
