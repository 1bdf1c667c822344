from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reflet.node.pods.pod_actions import (
    HeldContainer,
    PodActions,
    UnhealthyContainer,
    compute_pod_actions,
    is_initialized,
)
from reflet.node.pods.restart_policy import starts_again
from reflet.node.probes.probe_results import ContainerHealth, PodHealth
from reflet.node.probes.probe_spec import ProbeKind
from reflet.pleg.runtime_status import RuntimeContainerStatus
from tests.unit.node.pod_scenes import CREATED, EXITED, container, life, pod, seen

SIDECAR = container("proxy", restartPolicy="Always")


def not_held(_: RuntimeContainerStatus) -> float:
    return 0.0


def held(_: RuntimeContainerStatus) -> float:
    return 10.0


def test_a_new_pod_without_init_containers_starts_all_its_containers() -> None:
    decision = compute_pod_actions(pod(container("a"), container("b")), seen(), held_back=not_held)

    assert decision == PodActions(start=("a", "b"))


def test_init_containers_start_one_after_the_other() -> None:
    steps = pod(initContainers=[container("one"), container("two")])

    first = compute_pod_actions(steps, seen(), held_back=not_held)
    waiting = compute_pod_actions(steps, seen(life("one")), held_back=not_held)
    second = compute_pod_actions(steps, seen(life("one", EXITED, 0)), held_back=not_held)
    last = compute_pod_actions(
        steps, seen(life("one", EXITED, 0), life("two", EXITED, 0)), held_back=not_held
    )

    assert [each.start for each in (first, waiting, second, last)] == [
        ("one",),
        (),
        ("two",),
        ("main",),
    ]


def test_an_init_container_that_fails_starts_again_unless_the_pod_never_restarts() -> None:
    failed = seen(life("one", EXITED, 1))

    again = compute_pod_actions(pod(initContainers=[container("one")]), failed, held_back=not_held)
    never = compute_pod_actions(
        pod(initContainers=[container("one")], restartPolicy="Never"), failed, held_back=not_held
    )

    assert again == PodActions(start=("one",))
    assert never == PodActions(is_over=True)


def test_a_sidecar_must_run_before_the_next_starts_and_runs_on() -> None:
    both = pod(initContainers=[SIDECAR, container("two")])

    first = compute_pod_actions(both, seen(), held_back=not_held)
    then = compute_pod_actions(both, seen(life("proxy")), held_back=not_held)
    last = compute_pod_actions(
        both, seen(life("proxy"), life("two", EXITED, 0)), held_back=not_held
    )

    assert [each.start for each in (first, then, last)] == [("proxy",), ("two",), ("main",)]


def test_a_sidecar_that_ends_starts_again_while_the_containers_run() -> None:
    decision = compute_pod_actions(
        pod(initContainers=[SIDECAR]), seen(life("proxy", EXITED, 0), life()), held_back=not_held
    )

    assert decision.start == ("proxy",)


def test_sidecars_stop_when_the_containers_have_ended_for_good() -> None:
    over = pod(
        initContainers=[SIDECAR, container("log", restartPolicy="Always")], restartPolicy="Never"
    )

    decision = compute_pod_actions(
        over, seen(life("proxy"), life("log"), life("main", EXITED, 0)), held_back=not_held
    )

    assert decision == PodActions(stop=("log", "proxy"), is_over=True)


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
    decision = compute_pod_actions(
        pod(restartPolicy=policy), seen(life("main", EXITED, code)), held_back=not_held
    )

    assert bool(decision.start) is starts
    assert decision.is_over is not starts


def test_a_container_whose_end_nobody_saw_counts_as_failed() -> None:
    decision = compute_pod_actions(
        pod(restartPolicy="OnFailure"), seen(life("main", CREATED)), held_back=not_held
    )

    assert decision.start == ("main",)


def test_a_crash_holds_a_container_back() -> None:
    decision = compute_pod_actions(pod(), seen(life("main", EXITED, 1)), held_back=held)

    assert decision == PodActions(held=(HeldContainer("main", 10.0),))


def test_a_container_that_changed_is_stopped_and_then_started_at_once() -> None:
    changed = frozenset({"main"})

    running = compute_pod_actions(pod(), seen(life()), held_back=held, changed=changed)
    ended = compute_pod_actions(
        pod(restartPolicy="Never"),
        seen(life("main", EXITED, 143), life("other")),
        held_back=held,
        changed=changed,
    )

    assert running == PodActions(stop=("main",))
    assert ended.is_over  # a pod that never restarts is over, whatever changes


def test_a_pod_whose_containers_ran_is_initialized_whatever_became_of_its_init_containers() -> None:
    steps = pod(initContainers=[container("one")])

    assert is_initialized(steps, seen(life("main", EXITED, 1)))
    assert not is_initialized(steps, seen())


@pytest.mark.parametrize(
    ("own", "pods", "code", "starts", "is_over"),
    [
        ("", "Always", 0, "main", False),
        ("", "Always", 1, "one", False),
        ("", "OnFailure", 1, "one", False),
        ("", "Never", 0, "main", False),
        ("", "Never", 1, None, True),
        ("Never", "Always", 1, None, True),
        ("OnFailure", "Never", 1, "one", False),
        ("OnFailure", "Never", 0, "main", False),
        ("Always", "Never", 0, "one", False),
        ("Always", "Never", 1, "one", False),
    ],
)
def test_what_follows_the_end_of_an_init_container(
    own: str, pods: str, code: int, starts: str | None, is_over: bool
) -> None:
    steps = pod(initContainers=[container("one", restartPolicy=own)], restartPolicy=pods)

    decision = compute_pod_actions(steps, seen(life("one", EXITED, code)), held_back=not_held)

    assert decision == PodActions(start=(starts,) if starts else (), is_over=is_over)


@pytest.mark.parametrize(
    ("own", "pods", "starts"),
    [("Never", "Always", False), ("Always", "Never", True), ("OnFailure", "Never", True)],
)
def test_a_containers_own_policy_comes_before_the_pods(own: str, pods: str, starts: bool) -> None:
    own_way = pod(container(restartPolicy=own), restartPolicy=pods)

    decision = compute_pod_actions(own_way, seen(life("main", EXITED, 1)), held_back=not_held)

    assert decision == PodActions(start=("main",) if starts else (), is_over=not starts)


def test_what_has_not_ended_does_not_start_again() -> None:
    assert not starts_again("Always", life())
    assert not starts_again("Always", None)


def test_an_init_container_that_crashed_is_held_back() -> None:
    steps = pod(initContainers=[container("one"), container("two")])

    decision = compute_pod_actions(steps, seen(life("one", EXITED, 1)), held_back=held)

    assert decision == PodActions(held=(HeldContainer("one", 10.0),))


def test_a_moment_is_long_enough_to_hold_a_container_back() -> None:
    decision = compute_pod_actions(pod(), seen(life("main", EXITED, 1)), held_back=lambda _: 0.01)

    assert decision.start == ()


def test_one_that_ended_for_good_stays_down_while_others_run() -> None:
    both = pod(container("a"), container("b"), restartPolicy="Never")

    decision = compute_pod_actions(both, seen(life("a", EXITED, 0), life("b")), held_back=not_held)

    assert decision == PodActions()


def test_one_that_changed_and_has_ended_starts_without_waiting_while_others_run() -> None:
    both = pod(container("a"), container("b"), restartPolicy="Never")

    decision = compute_pod_actions(
        both, seen(life("a", EXITED, 143), life("b")), held_back=held, changed=frozenset({"a"})
    )

    assert decision == PodActions(start=("a",))


def test_only_what_changed_is_stopped() -> None:
    both = pod(container("a"), container("b"))

    decision = compute_pod_actions(
        both, seen(life("a"), life("b")), held_back=not_held, changed=frozenset({"b"})
    )

    assert decision == PodActions(stop=("b",))


def test_init_containers_of_a_pod_that_has_run_are_not_run_again() -> None:
    steps = pod(initContainers=[container("one"), container("two")])

    decision = compute_pod_actions(steps, seen(life("main", EXITED, 1)), held_back=not_held)

    assert decision == PodActions(start=("main",))


def test_containers_of_a_pod_that_has_run_do_not_wait_for_its_sidecars() -> None:
    both = seen(life("proxy", EXITED, 1), life("main", EXITED, 1))

    decision = compute_pod_actions(pod(initContainers=[SIDECAR]), both, held_back=not_held)

    assert decision == PodActions(start=("proxy", "main"))


def test_a_pod_without_containers_is_never_over() -> None:
    empty = pod()
    empty = replace(empty, spec=replace(empty.spec, containers=()))

    assert compute_pod_actions(empty, seen(), held_back=not_held) == PodActions()


@pytest.mark.parametrize(
    ("step", "found", "is_done"),
    [
        (container("one"), life("one"), False),
        (container("one"), life("one", EXITED, 0), True),
        (container("one"), life("one", EXITED, 1), False),
        (container("one"), life("one", CREATED, 0), False),
        (SIDECAR, life("proxy"), True),
        (SIDECAR, life("proxy", EXITED, 0), False),
    ],
)
def test_an_init_container_is_done_when_it_succeeded_and_a_sidecar_when_it_runs(
    step: dict[str, Any], found: RuntimeContainerStatus, is_done: bool
) -> None:
    assert is_initialized(pod(initContainers=[step]), seen(found)) is is_done


# Probes


def failing(name: str, probe: ProbeKind, *, started: bool = True) -> PodHealth:
    return PodHealth({f"{name}-0": ContainerHealth(started, False, probe)})


STARTING = ContainerHealth(is_started=False, is_ready=False)


@pytest.mark.parametrize(
    ("probe", "policy", "why", "again"),
    [
        (
            ProbeKind.LIVENESS,
            "Always",
            "Container main failed liveness probe, will be restarted",
            True,
        ),
        (
            ProbeKind.STARTUP,
            "OnFailure",
            "Container main failed startup probe, will be restarted",
            True,
        ),
        (ProbeKind.LIVENESS, "Never", "Container main failed liveness probe", False),
    ],
)
def test_who_fails_a_probe_is_stopped_in_the_kubelets_words(
    probe: ProbeKind, policy: str, why: str, again: bool
) -> None:
    both = pod(container(), container("other"), restartPolicy=policy)

    decision = compute_pod_actions(
        both, seen(life(), life("other")), held_back=not_held, health=failing("main", probe)
    )

    assert decision == PodActions(unhealthy=(UnhealthyContainer("main", probe, why, again),))


def test_a_failed_probe_ends_a_pod_that_has_nothing_else_to_run() -> None:
    alone = pod(initContainers=[SIDECAR], restartPolicy="Never")

    decision = compute_pod_actions(
        alone,
        seen(life("proxy"), life()),
        held_back=not_held,
        health=failing("main", ProbeKind.LIVENESS),
    )

    assert decision == PodActions(stop=("main", "proxy"), is_over=True)


def test_a_container_that_is_made_anew_anyway_is_not_told_to_be_unhealthy() -> None:
    decision = compute_pod_actions(
        pod(),
        seen(life()),
        held_back=not_held,
        changed=frozenset({"main"}),
        health=failing("main", ProbeKind.LIVENESS),
    )

    assert decision == PodActions(stop=("main",))


def test_who_was_ended_by_a_probe_starts_again_however_it_ended() -> None:
    well = seen(life("main", EXITED, 0))
    once = pod(restartPolicy="OnFailure")

    now = compute_pod_actions(once, well, held_back=not_held, failed=frozenset({"main"}))
    later = compute_pod_actions(once, well, held_back=held, failed=frozenset({"main"}))
    by_itself = compute_pod_actions(once, well, held_back=not_held)

    assert now == PodActions(start=("main",))
    assert later == PodActions(held=(HeldContainer("main", 10.0),))
    assert by_itself == PodActions(is_over=True)


def test_a_sidecar_must_be_started_before_the_next_starts() -> None:
    both = pod(initContainers=[SIDECAR, container("two")])
    running = seen(life("proxy"))

    waiting = compute_pod_actions(
        both, running, held_back=not_held, health=PodHealth({"proxy-0": STARTING})
    )
    started = compute_pod_actions(both, running, held_back=not_held)

    assert (waiting, started.start) == (PodActions(), ("two",))
    assert not is_initialized(
        pod(initContainers=[SIDECAR]), running, PodHealth({"proxy-0": STARTING})
    )


def test_a_sidecar_that_fails_its_startup_probe_starts_again_before_anything_else() -> None:
    both = pod(initContainers=[SIDECAR, container("two")])

    decision = compute_pod_actions(
        both,
        seen(life("proxy")),
        held_back=not_held,
        health=failing("proxy", ProbeKind.STARTUP, started=False),
    )

    why = "Init container proxy failed startup probe"
    assert decision == PodActions(
        unhealthy=(UnhealthyContainer("proxy", ProbeKind.STARTUP, why, True),)
    )


def test_a_sidecar_that_is_starting_again_does_not_hold_back_a_pod_that_has_begun() -> None:
    decision = compute_pod_actions(
        pod(initContainers=[SIDECAR]),
        seen(life("proxy"), life("main", EXITED, 1)),
        held_back=not_held,
        health=PodHealth({"proxy-0": STARTING}),
    )

    assert decision.start == ("main",)


# Ephemeral containers

EXAMINED = pod(
    initContainers=[container("first")],
    ephemeralContainers=[container("old"), container("new")],
)


def test_an_ephemeral_container_starts_once_and_waits_for_nobody() -> None:
    before = seen(life("first"), life("old", EXITED, 1))

    actions = compute_pod_actions(EXAMINED, before, held_back=not_held, starts_ephemeral=True)

    assert actions == PodActions(start=("new",))


def test_no_ephemeral_container_starts_where_there_is_no_place_for_one() -> None:
    actions = compute_pod_actions(EXAMINED, seen(), held_back=not_held, starts_ephemeral=False)

    assert actions == PodActions(start=("first",))


def test_a_pod_that_is_over_has_its_ephemeral_containers_stopped_and_starts_none() -> None:
    over = replace(EXAMINED, spec=replace(EXAMINED.spec, restart_policy="Never"))
    lives = (life("first", EXITED, 0), life("main", EXITED, 0), life("old"))

    actions = compute_pod_actions(over, seen(*lives), held_back=not_held, starts_ephemeral=True)

    assert actions == PodActions(stop=("old",), is_over=True)
