from __future__ import annotations

from dataclasses import replace

import pytest

from reflet.node.probes.probe_results import ContainerHealth
from reflet.node.status.container_statuses import Waiting, container_status
from reflet.pleg.runtime_status import RuntimeContainerStatus
from tests.unit.node.pod_scenes import CREATED, EXITED, container, life, only, pod

WAITING = Waiting("ContainerCreating")


def test_a_container_without_a_life_waits() -> None:
    status = container_status(only(pod()), (), waiting=Waiting("Why", "so"), starts_again=False)

    assert status.state.waiting is not None
    assert (status.state.waiting.reason, status.state.waiting.message) == ("Why", "so")
    assert (status.ready, status.restart_count, status.container_id) == (False, 0, "")


def test_a_container_that_runs_is_ready_and_shows_how_it_ended_before() -> None:
    lives = (life(attempt=1), life(state=EXITED, code=3))

    status = container_status(only(pod()), lives, waiting=WAITING, starts_again=False)

    assert (status.ready, status.started, status.restart_count) == (True, True, 1)
    assert status.last_state.terminated is not None
    assert status.last_state.terminated.exit_code == 3
    assert status.container_id == "reflet://main-1"


def test_times_are_told_in_whole_seconds() -> None:
    status = container_status(only(pod()), (life(),), waiting=WAITING, starts_again=False)

    assert status.state.running is not None
    assert status.state.running.started_at is not None
    assert status.state.running.started_at.microsecond == 0


def test_an_end_that_is_not_the_last_is_shown_behind_the_waiting() -> None:
    waiting = Waiting("CrashLoopBackOff", "back-off 10s")

    status = container_status(
        only(pod()), (life(state=EXITED, code=1),), waiting=waiting, starts_again=True
    )

    assert status.state.waiting is not None
    assert status.state.waiting.reason == "CrashLoopBackOff"
    assert status.last_state.terminated is not None


def test_the_last_end_is_the_state() -> None:
    good = container_status(
        only(pod()), (life(state=EXITED, code=0),), waiting=WAITING, starts_again=False
    )
    bad = container_status(
        only(pod()), (life(state=EXITED, code=2, message="x"),), waiting=WAITING, starts_again=False
    )

    assert good.state.terminated is not None
    assert bad.state.terminated is not None
    assert (good.state.terminated.reason, bad.state.terminated.reason) == ("Completed", "Error")
    assert (bad.state.terminated.message, bad.ready) == ("x", False)


def test_an_init_container_is_ready_when_it_is_done() -> None:
    done = container_status(
        only(pod()),
        (life(state=EXITED, code=0),),
        waiting=WAITING,
        starts_again=False,
        is_init=True,
    )
    running = container_status(
        only(pod()), (life(),), waiting=WAITING, starts_again=False, is_init=True
    )

    assert (done.ready, running.ready) == (True, False)


def test_an_end_that_nobody_saw_is_told_as_the_kubelet_does() -> None:
    status = container_status(
        only(pod()), (life(state=CREATED),), waiting=WAITING, starts_again=False
    )

    assert status.state.terminated is not None
    assert (status.state.terminated.exit_code, status.state.terminated.reason) == (
        137,
        "ContainerStatusUnknown",
    )


@pytest.mark.parametrize(
    ("restart_policy", "is_init", "seen", "ready"),
    [
        ("", False, life(), True),
        ("", False, life(state=EXITED, code=0), False),
        ("", True, life(), False),
        ("", True, life(state=EXITED, code=0), True),
        ("", True, life(state=EXITED, code=1), False),
        ("Always", True, life(), True),
        ("Always", True, life(state=EXITED, code=0), False),
    ],
)
def test_who_is_ready_runs_and_an_init_container_is_ready_when_it_is_done_well(
    restart_policy: str, is_init: bool, seen: RuntimeContainerStatus, ready: bool
) -> None:
    of = only(pod(container(restartPolicy=restart_policy)))

    status = container_status(of, (seen,), waiting=WAITING, starts_again=False, is_init=is_init)

    assert status.ready is ready


@pytest.mark.parametrize("starts_again", [True, False])
def test_what_has_ended_is_not_started(starts_again: bool) -> None:
    status = container_status(
        only(pod()), (life(state=EXITED, code=1),), waiting=WAITING, starts_again=starts_again
    )

    assert status.started is False


def test_a_runtime_that_knows_why_is_believed() -> None:
    failed = replace(life(state=EXITED, code=128), reason="StartError", signal=9)

    ended = container_status(
        only(pod()), (failed,), waiting=WAITING, starts_again=False
    ).state.terminated

    assert ended is not None
    assert (ended.reason, ended.signal, ended.container_id) == ("StartError", 9, "reflet://main-0")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("", "The container could not be located when the pod was terminated"),
        ("last words", "last words"),
    ],
)
def test_an_end_that_nobody_saw_has_its_own_words_or_the_kubelets(message: str, told: str) -> None:
    lost = life(state=EXITED, message=message)

    ended = container_status(
        only(pod()), (lost,), waiting=WAITING, starts_again=False
    ).state.terminated

    assert ended is not None
    assert ended.message == told


@pytest.mark.parametrize(
    ("health", "started", "ready"),
    [
        (ContainerHealth(), True, True),
        (ContainerHealth(is_started=True, is_ready=False), True, False),
        (ContainerHealth(is_started=False, is_ready=False), False, False),
    ],
)
def test_what_probes_say_is_told_of_a_container_that_runs(
    health: ContainerHealth, started: bool, ready: bool
) -> None:
    status = container_status(
        only(pod()), (life(),), waiting=WAITING, starts_again=False, health=health
    )

    assert (status.started, status.ready) == (started, ready)
