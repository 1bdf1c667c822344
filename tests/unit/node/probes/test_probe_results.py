from __future__ import annotations

import pytest

from reflet.node.probes.probe_results import (
    ContainerHealth,
    PodHealth,
    ProbeResult,
    ProbeState,
    container_health,
    first_state,
    next_state,
)
from reflet.node.probes.probe_spec import NoAction, Probe, ProbeKind

LIVENESS, READINESS, STARTUP = ProbeKind.LIVENESS, ProbeKind.READINESS, ProbeKind.STARTUP
SUCCESS, FAILURE, UNKNOWN = ProbeResult.SUCCESS, ProbeResult.FAILURE, ProbeResult.UNKNOWN
LETTERS = {SUCCESS: "S", FAILURE: "F", UNKNOWN: "?"}


def told(kind: ProbeKind, outcomes: str, *, successes: int = 1, failures: int = 3) -> str:
    """The results after each outcome, ``+`` or ``-``; a dot once it is not run any more."""
    probe = Probe(handler=NoAction(), successes=successes, failures=failures)
    state = first_state(kind)
    said = LETTERS[state.result]
    for each in outcomes:
        if state.is_done:
            return f"{said}."
        state = next_state(kind, probe, state, each == "+")
        said += LETTERS[state.result]
    return said


@pytest.mark.parametrize(
    ("kind", "outcomes", "numbers", "results"),
    [
        # Before the first outcome: not ready, alive, and nobody knows whether started.
        (READINESS, "", {}, "F"),
        (LIVENESS, "", {}, "S"),
        (STARTUP, "", {}, "?"),
        # One success is enough, and three failures, unless the probe says otherwise.
        (READINESS, "+", {}, "FS"),
        (READINESS, "++--+---", {}, "FSSSSSSSF"),
        (READINESS, "+-+--", {"failures": 1, "successes": 2}, "FFFFFF"),
        (READINESS, "+++-", {"failures": 1, "successes": 2}, "FFSSF"),
        (READINESS, "-----+", {}, "FFFFFFS"),
        (LIVENESS, "+--+---", {}, "SSSSSSSF"),
        # A liveness probe that failed is not run again, nor a startup probe that has a result.
        (LIVENESS, "---+", {}, "SSSF."),
        (STARTUP, "--++", {}, "???S."),
        (STARTUP, "---+", {}, "???F."),
        (STARTUP, "-+", {"failures": 1}, "?F."),
    ],
)
def test_outcomes_in_a_row_change_a_result(
    kind: ProbeKind, outcomes: str, numbers: dict[str, int], results: str
) -> None:
    assert told(kind, outcomes, **numbers) == results


def test_what_an_earlier_agent_saw_holds_until_there_are_other_outcomes() -> None:
    assert first_state(READINESS, has_passed=True) == ProbeState(SUCCESS)
    assert first_state(STARTUP, has_passed=True) == ProbeState(SUCCESS, is_done=True)


@pytest.mark.parametrize(
    ("results", "health"),
    [
        ({}, ContainerHealth(is_started=True, is_ready=True)),
        ({READINESS: FAILURE}, ContainerHealth(is_started=True, is_ready=False)),
        ({READINESS: SUCCESS, LIVENESS: SUCCESS}, ContainerHealth()),
        # Before it is started, what else is said does not count.
        ({STARTUP: UNKNOWN, READINESS: SUCCESS}, ContainerHealth(False, False)),
        ({STARTUP: SUCCESS, READINESS: FAILURE}, ContainerHealth(True, False)),
        ({STARTUP: FAILURE}, ContainerHealth(False, False, STARTUP)),
        ({LIVENESS: FAILURE}, ContainerHealth(True, True, LIVENESS)),
        ({LIVENESS: FAILURE, STARTUP: SUCCESS}, ContainerHealth(True, True, LIVENESS)),
    ],
)
def test_results_add_up(results: dict[ProbeKind, ProbeResult], health: ContainerHealth) -> None:
    assert container_health(results) == health


def test_who_has_no_probes_is_well() -> None:
    assert PodHealth().of("main-0") == ContainerHealth(True, True, None)
