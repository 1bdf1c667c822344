from __future__ import annotations

import pytest

from reflet.node.run_decisions import Decision, HeldContainer, decide, is_initialized
from reflet.podstatus.runtime_status import RuntimeContainerStatus
from tests.unit.node.pods import CREATED, EXITED, container, life, pod, seen

SIDECAR = container("proxy", restartPolicy="Always")


def not_held(_: RuntimeContainerStatus) -> float:
    return 0.0


def held(_: RuntimeContainerStatus) -> float:
    return 10.0


def test_a_new_pod_without_init_containers_starts_all_its_containers() -> None:
    decision = decide(pod(container("a"), container("b")), seen(), held_back=not_held)

    assert decision == Decision(start=("a", "b"))


def test_init_containers_start_one_after_the_other() -> None:
    steps = pod(initContainers=[container("one"), container("two")])

    first = decide(steps, seen(), held_back=not_held)
    waiting = decide(steps, seen(life("one")), held_back=not_held)
    second = decide(steps, seen(life("one", EXITED, 0)), held_back=not_held)
    last = decide(steps, seen(life("one", EXITED, 0), life("two", EXITED, 0)), held_back=not_held)

    assert [each.start for each in (first, waiting, second, last)] == [
        ("one",),
        (),
        ("two",),
        ("main",),
    ]


def test_an_init_container_that_fails_starts_again_unless_the_pod_never_restarts() -> None:
    failed = seen(life("one", EXITED, 1))

    again = decide(pod(initContainers=[container("one")]), failed, held_back=not_held)
    never = decide(
        pod(initContainers=[container("one")], restartPolicy="Never"), failed, held_back=not_held
    )

    assert again == Decision(start=("one",))
    assert never == Decision(is_over=True)


def test_a_sidecar_must_run_before_the_next_starts_and_runs_on() -> None:
    both = pod(initContainers=[SIDECAR, container("two")])

    first = decide(both, seen(), held_back=not_held)
    then = decide(both, seen(life("proxy")), held_back=not_held)
    last = decide(both, seen(life("proxy"), life("two", EXITED, 0)), held_back=not_held)

    assert [each.start for each in (first, then, last)] == [("proxy",), ("two",), ("main",)]


def test_a_sidecar_that_ends_starts_again_while_the_containers_run() -> None:
    decision = decide(
        pod(initContainers=[SIDECAR]), seen(life("proxy", EXITED, 0), life()), held_back=not_held
    )

    assert decision.start == ("proxy",)


def test_sidecars_stop_when_the_containers_have_ended_for_good() -> None:
    over = pod(
        initContainers=[SIDECAR, container("log", restartPolicy="Always")], restartPolicy="Never"
    )

    decision = decide(
        over, seen(life("proxy"), life("log"), life("main", EXITED, 0)), held_back=not_held
    )

    assert decision == Decision(stop=("log", "proxy"), is_over=True)


@pytest.mark.parametrize(
    ("policy", "code", "starts"),
    [
        ("Always", 0, True),
        ("Always", 1, True),
        ("OnFailure", 0, False),
        ("OnFailure", 1, True),
        ("Never", 0, False),
        ("Never", 1, False),
    ],
)
def test_the_restart_policy_decides_about_a_container_that_ended(
    policy: str, code: int, starts: bool
) -> None:
    decision = decide(
        pod(restartPolicy=policy), seen(life("main", EXITED, code)), held_back=not_held
    )

    assert bool(decision.start) is starts
    assert decision.is_over is not starts


def test_a_container_whose_end_nobody_saw_counts_as_failed() -> None:
    decision = decide(
        pod(restartPolicy="OnFailure"), seen(life("main", CREATED)), held_back=not_held
    )

    assert decision.start == ("main",)


def test_a_crash_holds_a_container_back() -> None:
    decision = decide(pod(), seen(life("main", EXITED, 1)), held_back=held)

    assert decision == Decision(held=(HeldContainer("main", 10.0),))


def test_a_container_that_changed_is_stopped_and_then_started_at_once() -> None:
    changed = frozenset({"main"})

    running = decide(pod(), seen(life()), held_back=held, changed=changed)
    ended = decide(
        pod(restartPolicy="Never"),
        seen(life("main", EXITED, 143), life("other")),
        held_back=held,
        changed=changed,
    )

    assert running == Decision(stop=("main",))
    assert ended.is_over  # a pod that never restarts is over, whatever changes


def test_a_pod_whose_containers_ran_is_initialized_whatever_became_of_its_init_containers() -> None:
    steps = pod(initContainers=[container("one")])

    assert is_initialized(steps, seen(life("main", EXITED, 1)))
    assert not is_initialized(steps, seen())
