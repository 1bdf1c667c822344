from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.node.pods.sync import (
    DEADLINE_MESSAGE,
    FailPod,
    KillPod,
    KillRemaining,
    ReleasePod,
    RemovePod,
    SyncPod,
    Verdict,
    WorkerPhase,
    at_rest,
    is_leaving,
    verdict_on,
)
from reflet.pleg.runtime_status import RuntimeStatus
from tests.unit.node.paper_node import NOBODY
from tests.unit.node.pod_scenes import EXITED, NOW, life, pod, seen

NEW, SYNCING, TERMINATING, TERMINATED, ORPHANED, FINISHED = WorkerPhase

REFUSED = FailPod(
    "ProcessRuntimeRefused",
    "Pod was rejected: spec.hostNetwork: namespaces of the host are not given to pods",
    "Warning",
)
EXPIRED = FailPod("DeadlineExceeded", DEADLINE_MESSAGE, "Normal")

RUNNING = seen(life("main"))
ENDED = seen(life("main", EXITED, 0))
SANDBOX = seen()
NOTHING = seen(sandbox=False)

DELETED = {"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}}
SUCCEEDED = {"status": {"phase": "Succeeded"}}
FAILED = {"status": {"phase": "Failed"}}
GREEDY = {"hostNetwork": True}


def active(seconds: int, *, since: float = 0.0, **status: Any) -> dict[str, Any]:
    began = (NOW - timedelta(seconds=since)).isoformat()
    return {"activeDeadlineSeconds": seconds, "status": {"startTime": began, **status}}


def verdict(of: Pod, status: RuntimeStatus, phase: WorkerPhase) -> Verdict:
    return verdict_on(of, status, phase, allowance=NOBODY, now=NOW)


@pytest.mark.parametrize(
    ("fields", "phase", "status", "expected"),
    [
        # A pod that is to run is synced in both phases, whatever is seen of it.
        ({}, NEW, NOTHING, SyncPod()),
        ({}, NEW, RUNNING, SyncPod()),  # of an earlier life of the agent
        ({}, SYNCING, SANDBOX, SyncPod()),
        ({}, SYNCING, RUNNING, SyncPod()),
        ({}, SYNCING, ENDED, SyncPod()),
        # Its deadline is remembered until it has come, and counts from its first start.
        (active(30, since=10), SYNCING, RUNNING, SyncPod(20.0)),
        ({"activeDeadlineSeconds": 30}, NEW, NOTHING, SyncPod(30.0)),
        (active(30, since=30), SYNCING, RUNNING, EXPIRED),
        (active(30, since=99), NEW, NOTHING, EXPIRED),
        # Admission comes before the deadline, and is asked at every sync.
        (GREEDY, NEW, NOTHING, REFUSED),
        (GREEDY, SYNCING, RUNNING, REFUSED),
        (GREEDY | active(30, since=99), NEW, NOTHING, REFUSED),
        # A pod that is over ends what runs, and then keeps its logs and nothing else.
        ({}, TERMINATING, RUNNING, KillRemaining()),
        ({}, TERMINATING, ENDED, ReleasePod(clears=True, reports=True)),
        ({}, TERMINATING, NOTHING, ReleasePod(clears=True, reports=False)),
        ({}, TERMINATED, RUNNING, KillRemaining()),
        ({}, TERMINATED, ENDED, ReleasePod(clears=True, reports=True)),
        ({}, TERMINATED, SANDBOX, ReleasePod(clears=True, reports=False)),
        ({}, TERMINATED, NOTHING, ReleasePod(clears=False, reports=False)),
        # So does one that is over by its status alone; it is neither refused nor too late.
        (SUCCEEDED, NEW, NOTHING, ReleasePod(clears=False, reports=False)),
        (SUCCEEDED, NEW, ENDED, ReleasePod(clears=True, reports=True)),
        (FAILED, SYNCING, RUNNING, KillRemaining()),
        (FAILED, SYNCING, NOTHING, ReleasePod(clears=True, reports=False)),
        (FAILED | GREEDY, NEW, NOTHING, ReleasePod(clears=False, reports=False)),
        (active(1, since=99, phase="Failed"), SYNCING, RUNNING, KillRemaining()),
        # A pod that is deleted goes, and its last status is told first.
        (DELETED, NEW, NOTHING, RemovePod(reports=False)),
        (DELETED, SYNCING, RUNNING, KillPod()),
        (DELETED, SYNCING, ENDED, RemovePod(reports=True)),
        (DELETED, TERMINATED, SANDBOX, RemovePod(reports=False)),
        (DELETED | SUCCEEDED, TERMINATED, ENDED, RemovePod(reports=True)),
        (DELETED | GREEDY, NEW, RUNNING, KillPod()),
        # One that nobody knows any more goes without a word.
        ({}, ORPHANED, RUNNING, KillPod()),
        ({}, ORPHANED, ENDED, RemovePod(reports=False)),
        ({}, ORPHANED, NOTHING, RemovePod(reports=False)),
        (DELETED, ORPHANED, ENDED, RemovePod(reports=False)),
        (GREEDY, ORPHANED, SANDBOX, RemovePod(reports=False)),
    ],
)
def test_the_verdict_on_a_pod(
    fields: dict[str, Any], phase: WorkerPhase, status: RuntimeStatus, expected: Verdict
) -> None:
    assert verdict(pod(**fields), status, phase) == expected


EVERYTHING = [
    (pod(**(deleted | over | greedy | late)), phase, status)
    for deleted, over, greedy, late, phase, status in itertools.product(
        ({}, DELETED),
        ({}, SUCCEEDED, FAILED),
        ({}, GREEDY),
        ({}, {"activeDeadlineSeconds": 0}, {"activeDeadlineSeconds": 30}),
        (NEW, SYNCING, TERMINATING, TERMINATED, ORPHANED),
        (RUNNING, ENDED, SANDBOX, NOTHING),
    )
]
"""Every pod in every phase with every status: 720 circumstances."""


def test_what_runs_is_killed_before_anything_of_a_pod_is_removed() -> None:
    for of, phase, status in EVERYTHING:
        if status is RUNNING:
            assert not isinstance(verdict(of, status, phase), RemovePod | ReleasePod)
        else:
            assert not isinstance(verdict(of, status, phase), KillPod | KillRemaining)


def test_a_pod_that_has_to_go_is_killed_and_removed_and_nothing_else() -> None:
    for of, phase, status in EVERYTHING:
        goes = isinstance(verdict(of, status, phase), KillPod | RemovePod)

        assert goes == is_leaving(of, phase)


def test_nothing_is_started_of_a_pod_that_is_over() -> None:
    for of, phase, status in EVERYTHING:
        is_over = phase.is_ending or of.status.phase in {"Succeeded", "Failed"}
        if is_over:
            assert not isinstance(verdict(of, status, phase), SyncPod | FailPod)


def test_a_pod_fails_once() -> None:
    """After it, the phase alone says what to do, and neither the rules nor the clock are asked."""
    for of, phase, status in EVERYTHING:
        if isinstance(verdict(of, status, phase), FailPod):
            assert verdict(of, status, phase.over()) == at_rest(status, phase.over())


# Phases


@pytest.mark.parametrize(
    ("phase", "set_up", "over", "released", "orphaned"),
    [
        (NEW, SYNCING, TERMINATED, NEW, ORPHANED),
        (SYNCING, SYNCING, TERMINATING, NEW, ORPHANED),
        (TERMINATING, TERMINATING, TERMINATING, TERMINATED, ORPHANED),
        (TERMINATED, TERMINATED, TERMINATED, TERMINATED, ORPHANED),
        (ORPHANED, ORPHANED, ORPHANED, ORPHANED, ORPHANED),
        (FINISHED, FINISHED, FINISHED, FINISHED, FINISHED),
    ],
)
def test_a_phase_moves_on_by_what_happens(
    phase: WorkerPhase,
    set_up: WorkerPhase,
    over: WorkerPhase,
    released: WorkerPhase,
    orphaned: WorkerPhase,
) -> None:
    after = (phase.set_up(), phase.over(), phase.released(), phase.orphaned())

    assert after == (set_up, over, released, orphaned)


def test_the_phases_in_which_nothing_starts_again_and_in_which_files_are_kept() -> None:
    assert [each for each in WorkerPhase if not each.is_ending] == [NEW, SYNCING]
    assert [each for each in WorkerPhase if each.has_configuration] == [SYNCING, TERMINATING]
