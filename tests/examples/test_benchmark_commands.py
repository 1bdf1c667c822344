"""How commands are measured on a large cluster, and what is said about it."""

from __future__ import annotations

import os
import sys

import pytest

from benchmarks.commands import KUBECTL, REFLET, growth, missed_goals, process_cost
from benchmarks.commands_cluster import deployment, pod
from benchmarks.measuring import RunFailed, Spread


def figures(cpu: float, peak: float) -> dict[str, Spread]:
    return {
        name: Spread(value, value, value, 1)
        for name, value in (("cpu_s", cpu), ("peak_mb", peak), ("wall_s", 1.0))
    }


def found(**standings: dict[str, Spread]) -> dict[str, dict[str, object]]:
    names = {"reflet": REFLET, "kubectl": KUBECTL}
    by_name = {names[name]: each for name, each in standings.items()}
    left_out = {name: "is not installed" for name in names.values() if name not in by_name}
    return {"100": {"figures": by_name, "left_out": left_out}}


def test_a_goal_is_missed_by_who_needs_more_than_kubectl() -> None:
    results = {
        "get": found(reflet=figures(2, 50), kubectl=figures(1, 60)),
        "watch": found(reflet=figures(1, 50), kubectl=figures(1, 60)),
        "used-by": found(reflet=figures(1, 70)),
        "env deploy/web-0": found(reflet=figures(2, 70), kubectl=figures(1, 60)),
    }

    assert missed_goals(results, "100") == [
        "reflet get with 100 pods: 2.00 s of CPU, kubectl 1.00",
    ]


def test_who_is_not_there_has_a_row_that_says_so() -> None:
    rows = growth({"get": found(reflet=figures(1, 70))})

    assert [row["note"] for row in rows if row["who"] == KUBECTL] == [
        "left out with 100: is not installed"
    ] * 2


def test_a_process_is_charged_for_its_own_memory() -> None:
    ballast = bytearray(os.urandom(1)) * 200_000_000

    cost = process_cost([sys.executable, "-I", "-S", "-c", "pass"], os.environ, None)

    assert cost["peak_mb"] < 100 < len(ballast) / 1e6


def test_a_process_may_be_ended_when_it_has_said_enough() -> None:
    endless = "print('first'); print('last', flush=True)\nwhile True: pass"
    lines: list[bytes] = []

    def has_enough(_: int, line: bytes) -> bool:
        lines.append(line)
        return line == b"last\n"

    process_cost([sys.executable, "-I", "-S", "-c", endless], os.environ, has_enough)

    assert lines == [b"first\n", b"last\n"]


def test_a_process_that_fails_is_no_figure() -> None:
    with pytest.raises(RunFailed, match="exit code 3"):
        process_cost([sys.executable, "-c", "raise SystemExit(3)"], os.environ, None)


def test_a_pod_refers_to_objects_of_its_own_namespace() -> None:
    for document, spec in (
        (pod(1999), pod(1999)["spec"]),
        (deployment(99), deployment(99)["spec"]["template"]["spec"]),
    ):
        (container,) = spec["containers"]
        name = container["envFrom"][0]["configMapRef"]["name"]
        number = int(name.removeprefix("settings-"))
        assert document["metadata"]["namespace"] == f"shop-{number % 50}"
