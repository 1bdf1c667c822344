from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace

from reflet.node.probes.probe_results import ContainerHealth, PodHealth
from reflet.node.status.container_statuses import Waiting
from reflet.node.status.pod_statuses import Circumstances, pod_status
from reflet.pleg.runtime_status import RuntimeContainerStatus
from tests.unit.node.pod_scenes import CREATED, EXITED, NOW, container, life, pod, seen

HERE = Circumstances(addresses=("10.0.0.1",), pod_addresses=("10.0.0.1",))
SIDECAR = container("proxy", restartPolicy="Always")


@pytest.mark.parametrize(
    ("spec", "lives", "phase"),
    [
        ({}, (), "Pending"),
        ({}, (life(),), "Running"),
        ({}, (life("main", EXITED, 1),), "Running"),
        ({"restartPolicy": "Never"}, (life("main", EXITED, 0),), "Succeeded"),
        ({"restartPolicy": "Never"}, (life("main", EXITED, 1),), "Failed"),
        ({"restartPolicy": "OnFailure"}, (life("main", EXITED, 0),), "Succeeded"),
        ({"restartPolicy": "OnFailure"}, (life("main", EXITED, 1),), "Running"),
        ({"initContainers": [container("one")]}, (life("one"),), "Pending"),
        ({"initContainers": [container("one")]}, (life("one", EXITED, 1),), "Pending"),
        (
            {"initContainers": [container("one")], "restartPolicy": "Never"},
            (life("one", EXITED, 1),),
            "Failed",
        ),
        (
            {"initContainers": [SIDECAR], "restartPolicy": "Never"},
            (life("proxy"), life("main", EXITED, 0)),
            "Running",
        ),
    ],
)
def test_the_phase_follows_from_the_containers(
    spec: dict[str, Any], lives: tuple[RuntimeContainerStatus, ...], phase: str
) -> None:
    assert pod_status(pod(**spec), seen(*lives), HERE, now=NOW).phase == phase


@pytest.mark.parametrize(
    ("policy", "lives", "phase"),
    [
        ("Always", (life("a"),), "Pending"),
        ("Always", (life("a", EXITED, 1),), "Pending"),
        ("Never", (life("a", EXITED, 0),), "Pending"),
        ("Always", (life("a"), life("b", EXITED, 1)), "Running"),
        ("Never", (life("a"), life("b", EXITED, 1)), "Running"),
        ("Never", (life("a", EXITED, 0), life("b", EXITED, 0)), "Succeeded"),
        ("Never", (life("a", EXITED, 0), life("b", EXITED, 1)), "Failed"),
        ("OnFailure", (life("a", EXITED, 0), life("b", EXITED, 1)), "Running"),
        ("Never", (life("a", EXITED, 0), life("b", CREATED)), "Failed"),
    ],
)
def test_a_pod_runs_once_each_of_its_containers_has_had_a_life(
    policy: str, lives: tuple[RuntimeContainerStatus, ...], phase: str
) -> None:
    both = pod(container("a"), container("b"), restartPolicy=policy)

    assert pod_status(both, seen(*lives), HERE, now=NOW).phase == phase


def test_a_pod_that_is_over_stays_so() -> None:
    over = pod(status={"phase": "Failed", "reason": "Evicted", "message": "no room"})

    status = pod_status(over, seen(life()), HERE, now=NOW)

    assert (status.phase, status.reason, status.message) == ("Failed", "Evicted", "no room")


def test_a_pod_that_is_not_run_has_failed_and_says_why() -> None:
    refused = Circumstances(failure=Waiting("ProcessRuntimeRefused", "because"))

    status = pod_status(pod(), seen(sandbox=False), refused, now=NOW)

    assert (status.phase, status.reason, status.message) == (
        "Failed",
        "ProcessRuntimeRefused",
        "because",
    )
    assert status.container_statuses == ()


def test_a_pod_has_the_address_of_its_node() -> None:
    status = pod_status(pod(), seen(life()), HERE, now=NOW)

    assert (status.host_ip, status.pod_ip) == ("10.0.0.1", "10.0.0.1")
    assert status.start_time == NOW.replace(microsecond=0)


def test_containers_wait_for_init_containers_and_say_so() -> None:
    status = pod_status(pod(initContainers=[container("one")]), seen(), HERE, now=NOW)

    reasons = [
        each.state.waiting.reason
        for each in (*status.init_container_statuses, *status.container_statuses)
        if each.state.waiting is not None
    ]
    assert reasons == ["PodInitializing", "PodInitializing"]


def test_nothing_of_a_pod_that_ends_starts_again() -> None:
    status = pod_status(
        pod(), seen(life("main", EXITED, 143)), Circumstances(is_ending=True), now=NOW
    )

    assert status.container_statuses[0].state.terminated is not None


def test_the_same_sight_gives_the_same_status() -> None:
    first = pod_status(pod(), seen(life()), HERE, now=NOW)
    again = pod(
        status={
            "phase": "Running",
            "startTime": "2026-01-02T03:04:05Z",
            "conditions": [
                {
                    "type": each.type,
                    "status": each.status,
                    "lastTransitionTime": "2026-01-02T03:04:05Z",
                }
                for each in first.conditions
            ],
        }
    )

    assert pod_status(again, seen(life()), HERE, now=NOW.replace(year=2027)) == first


def test_a_pod_without_containers_never_runs() -> None:
    empty = pod()
    empty = replace(empty, spec=replace(empty.spec, containers=()))

    assert pod_status(empty, seen(), HERE, now=NOW).phase == "Pending"


def test_a_pod_is_over_when_its_sidecars_are_too() -> None:
    over = pod(initContainers=[SIDECAR], restartPolicy="Never")
    lives = (life("proxy", EXITED, 143), life("main", EXITED, 0))

    status = pod_status(over, seen(*lives), Circumstances(is_ending=True), now=NOW)

    assert status.phase == "Succeeded"


def test_an_init_container_that_starts_again_says_why_it_waits() -> None:
    crashing = Circumstances(waiting={"one": Waiting("CrashLoopBackOff", "back-off 10s")})

    (init,) = pod_status(
        pod(initContainers=[container("one")]), seen(life("one", EXITED, 1)), crashing, now=NOW
    ).init_container_statuses

    assert init.state.waiting is not None
    assert init.state.waiting.reason == "CrashLoopBackOff"


@pytest.mark.parametrize(
    ("spec", "ended", "phase"),
    [
        ({}, "main", "Running"),
        ({"initContainers": [container("one")]}, "one", "Pending"),
    ],
)
def test_how_a_container_ended_is_shown_until_it_is_known_what_it_waits_for(
    spec: dict[str, Any], ended: str, phase: str
) -> None:
    status = pod_status(pod(**spec), seen(life(ended, EXITED, 1)), HERE, now=NOW)

    states = {
        each.name: each.state
        for each in (*status.init_container_statuses, *status.container_statuses)
    }
    assert states[ended].terminated is not None
    assert status.phase == phase


@pytest.mark.parametrize(
    ("fields", "policy", "initialized", "is_last"),
    [
        ({}, "Always", False, False),
        ({}, "OnFailure", False, False),
        ({}, "Never", False, True),
        ({"restartPolicy": "Never"}, "Always", False, True),
        ({}, "Always", True, True),
    ],
)
def test_a_failed_end_of_an_init_container_is_its_last_where_none_follows(
    fields: dict[str, str], policy: str, initialized: bool, is_last: bool
) -> None:
    steps = pod(initContainers=[container("one", **fields)], restartPolicy=policy)
    lives = (life("one", EXITED, 1), *((life("main"),) if initialized else ()))
    held = dataclasses.replace(HERE, waiting={"one": Waiting("CrashLoopBackOff")})

    (init,) = pod_status(steps, seen(*lives), held, now=NOW).init_container_statuses

    assert (init.state.terminated is not None) is is_last


def test_containers_that_ran_before_a_pod_failed_as_a_whole_are_still_told_of() -> None:
    late = Circumstances(failure=Waiting("DeadlineExceeded"))
    both = pod(container("a"), container("b"))

    status = pod_status(both, seen(life("a")), late, now=NOW)

    assert [each.name for each in status.container_statuses] == ["a"]


def test_what_others_have_set_stays() -> None:
    before = pod(status={"qosClass": "Burstable", "nominatedNodeName": "n"})

    status = pod_status(before, seen(life()), HERE, now=NOW)

    assert (status.qos_class, status.nominated_node_name) == ("Burstable", "n")


@pytest.mark.parametrize(
    ("spec", "lives", "phase"),
    [
        # It did its part in an earlier life, and what became of it later does not count.
        ({"initContainers": [container("one")]}, (life("one", EXITED, 1), life()), "Running"),
        ({"initContainers": [container("one"), container("two")]}, (life("one", EXITED, 0),), ""),
        ({"initContainers": [SIDECAR]}, (life("proxy", EXITED, 1),), ""),
    ],
)
def test_only_a_failed_init_container_fails_a_pod_that_is_not_initialized(
    spec: dict[str, Any], lives: tuple[RuntimeContainerStatus, ...], phase: str
) -> None:
    ending = Circumstances(is_ending=True)

    status = pod_status(pod(restartPolicy="Never", **spec), seen(*lives), ending, now=NOW)

    assert status.phase == (phase or "Pending")


@pytest.mark.parametrize(
    ("spec", "lives"),
    [({}, ()), ({"initContainers": [container("one")]}, (life("one", EXITED, 0),))],
)
def test_a_container_whose_turn_has_come_is_being_created(
    spec: dict[str, Any], lives: tuple[RuntimeContainerStatus, ...]
) -> None:
    (main,) = pod_status(pod(**spec), seen(*lives), HERE, now=NOW).container_statuses

    assert main.state.waiting is not None
    assert main.state.waiting.reason == "ContainerCreating"


def test_an_end_of_a_sidecar_is_not_its_last_however_it_ended() -> None:
    lives = (life("proxy", EXITED, 0), life())
    held = dataclasses.replace(HERE, waiting={"proxy": Waiting("CrashLoopBackOff")})

    (proxy,) = pod_status(
        pod(initContainers=[SIDECAR]), seen(*lives), held, now=NOW
    ).init_container_statuses

    assert proxy.state.waiting is not None


def test_addresses_that_the_runtime_gave_come_before_the_nodes() -> None:
    own = dataclasses.replace(seen(life()), ips=("10.1.1.1", "fd00::1"))

    status = pod_status(pod(), own, HERE, now=NOW)

    assert (status.host_ip, status.pod_ip) == ("10.0.0.1", "10.1.1.1")
    assert [each.ip for each in status.pod_ips] == ["10.1.1.1", "fd00::1"]


def test_an_ephemeral_container_has_a_status_that_nothing_else_depends_on() -> None:
    examined = pod(ephemeralContainers=[container("debugger")])

    running = pod_status(examined, seen(life(), life("debugger")), HERE, now=NOW)
    ended = pod_status(examined, seen(life(), life("debugger", EXITED, 1)), HERE, now=NOW)

    (status,) = running.ephemeral_container_statuses
    assert status.state.running is not None
    assert (status.ready, status.started) == (False, None)
    assert ended.ephemeral_container_statuses[0].state.terminated is not None
    assert (running.phase, ended.phase) == ("Running", "Running")


def test_statuses_of_containers_are_ordered_by_name_but_those_of_init_containers_by_turn() -> None:
    of = pod(
        container("b"),
        container("a"),
        initContainers=[container("d"), container("c")],
        ephemeralContainers=[container("f"), container("e")],
    )

    status = pod_status(of, seen(), HERE, now=NOW)

    assert [each.name for each in status.init_container_statuses] == ["d", "c"]
    assert [each.name for each in status.container_statuses] == ["a", "b"]
    assert [each.name for each in status.ephemeral_container_statuses] == ["e", "f"]


# Probes

STARTING = ContainerHealth(is_started=False, is_ready=False)


def test_a_container_that_is_not_ready_makes_the_pod_not_ready() -> None:
    unready = PodHealth({"main-0": ContainerHealth(is_started=True, is_ready=False)})

    status = pod_status(pod(), seen(life()), dataclasses.replace(HERE, health=unready), now=NOW)

    conditions = {each.type: (each.status, each.reason) for each in status.conditions}
    assert conditions["Ready"] == ("False", "ContainersNotReady")
    assert status.phase == "Running"


def test_a_pod_whose_sidecar_is_starting_is_pending_and_not_initialized() -> None:
    starting = PodHealth({"proxy-0": STARTING})

    status = pod_status(
        pod(initContainers=[SIDECAR]),
        seen(life("proxy")),
        dataclasses.replace(HERE, health=starting),
        now=NOW,
    )

    conditions = {each.type: each.message for each in status.conditions}
    waiting = status.container_statuses[0].state.waiting
    assert status.phase == "Pending"
    assert conditions["Initialized"] == "containers with incomplete status: [proxy]"
    assert waiting is not None
    assert waiting.reason == "PodInitializing"


def test_who_was_ended_by_a_probe_is_told_to_wait_however_it_ended() -> None:
    circumstances = dataclasses.replace(
        HERE, failed=frozenset({"main"}), waiting={"main": Waiting("CrashLoopBackOff")}
    )
    once = pod(restartPolicy="OnFailure")

    status = pod_status(once, seen(life("main", EXITED, 0)), circumstances, now=NOW)

    assert status.container_statuses[0].state.waiting is not None
    assert status.phase == "Running"
