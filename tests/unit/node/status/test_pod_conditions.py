from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.api.meta import Condition
from reflet.node.probes.probe_results import ContainerHealth
from reflet.node.status.container_statuses import Waiting, container_status
from reflet.node.status.pod_conditions import pod_conditions
from reflet.pleg.runtime_status import RuntimeContainerStatus
from tests.unit.node.pod_scenes import EXITED, NOW, container, life, only, pod

EARLIER = datetime(2026, 1, 1, tzinfo=UTC)


def conditions(of: Any, phase: str = "Running", *, running: bool = True) -> dict[str, Condition]:
    lives = (life(),) if running else ()
    status = container_status(only(of), lives, waiting=Waiting("x"), starts_again=False)
    found = pod_conditions(
        of, phase=phase, has_sandbox=True, init=(), containers=(status,), now=NOW
    )
    return {each.type: each for each in found}


def test_a_pod_whose_containers_run_is_ready() -> None:
    found = conditions(pod())

    assert {name: each.status for name, each in found.items()} == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
        "PodScheduled": "True",
    }


def test_a_pod_is_not_ready_while_a_container_is_not() -> None:
    ready = conditions(pod(), "Pending", running=False)["Ready"]

    assert (ready.status, ready.reason) == ("False", "ContainersNotReady")
    assert ready.message == "containers with unready status: [main]"


def test_a_pod_that_is_over_says_why_it_is_not_ready() -> None:
    assert conditions(pod(), "Succeeded")["Ready"].reason == "PodCompleted"
    assert conditions(pod(), "Failed")["Ready"].reason == "PodFailed"


def test_a_transition_keeps_its_moment_until_the_next_one() -> None:
    known = {"type": "Ready", "status": "True", "lastTransitionTime": EARLIER.isoformat()}
    before = pod(status={"conditions": [known]})

    same, other = conditions(before)["Ready"], conditions(before, "Failed")["Ready"]

    assert same.last_transition_time == EARLIER
    assert other.last_transition_time == NOW.replace(microsecond=0)


def test_conditions_of_others_stay() -> None:
    before = pod(status={"conditions": [{"type": "example.com/gate", "status": "True"}]})

    assert conditions(before)["example.com/gate"].status == "True"


SIDECAR = container("proxy", restartPolicy="Always")


def initialized(
    *lives: RuntimeContainerStatus, phase: str = "Pending", **spec: Any
) -> tuple[str, str, str]:
    """The condition of a pod of which this is seen."""
    of = pod(**spec)
    statuses = [
        container_status(
            each,
            [life for life in lives if life.name == each.name],
            waiting=Waiting("x"),
            starts_again=False,
            is_init=each in of.spec.init_containers,
        )
        for each in (*of.spec.init_containers, *of.spec.containers)
    ]
    init, containers = statuses[:-1], statuses[-1:]
    found = pod_conditions(
        of, phase=phase, has_sandbox=True, init=init, containers=containers, now=NOW
    )
    condition = next(each for each in found if each.type == "Initialized")
    return condition.status, condition.reason, condition.message


def test_a_pod_is_not_initialized_before_its_init_containers_are_done() -> None:
    steps = [container("one"), container("two"), container("three")]

    found = initialized(life("one", EXITED, 0), life("two"), initContainers=steps)

    assert found == (
        "False",
        "ContainersNotInitialized",
        "containers with incomplete status: [two three]",
    )


def test_a_sidecar_has_done_its_part_once_it_runs() -> None:
    assert initialized(life("proxy"), initContainers=[SIDECAR])[0] == "True"


def test_a_sidecar_that_does_not_run_yet_holds_the_pod_up() -> None:
    assert initialized(initContainers=[SIDECAR])[0] == "False"


def test_a_pod_whose_init_container_failed_for_good_never_was_initialized() -> None:
    steps = [container("one")]

    found = initialized(life("one", EXITED, 1), phase="Failed", initContainers=steps)

    assert found[:2] == ("False", "ContainersNotInitialized")


@pytest.mark.parametrize("phase", ["Running", "Failed"])
def test_a_pod_that_was_initialized_stays_so_when_its_sidecars_end(phase: str) -> None:
    lives = (life("proxy", EXITED, 143), life("main", EXITED, 1))

    assert initialized(*lives, phase=phase, initContainers=[SIDECAR])[0] == "True"


def test_a_pod_that_succeeded_says_so() -> None:
    lives = (life("proxy", EXITED, 143), life("main", EXITED, 0))

    found = initialized(*lives, phase="Succeeded", initContainers=[SIDECAR])

    assert found == ("True", "PodCompleted", "")


def test_conditions_say_which_generation_of_the_pod_they_are_about() -> None:
    found = conditions(pod(metadata={"generation": 7}))

    assert {each.observed_generation for each in found.values()} == {7}


def test_a_pod_without_a_sandbox_is_not_ready_to_start_containers() -> None:
    found = pod_conditions(
        pod(), phase="Pending", has_sandbox=False, init=(), containers=(), now=NOW
    )

    assert (found[0].type, found[0].status) == ("PodReadyToStartContainers", "False")


def readiness(of: Any, *unready: str) -> list[tuple[str, str, str]]:
    """Ready and ContainersReady of a pod that runs, in which these containers are not ready."""
    health = ContainerHealth(is_started=True, is_ready=False)
    statuses = [
        container_status(
            each,
            (life(each.name),),
            waiting=Waiting("x"),
            starts_again=False,
            is_init=each in of.spec.init_containers,
            health=health if each.name in unready else ContainerHealth(),
        )
        for each in (*of.spec.init_containers, *of.spec.containers)
    ]
    count = len(of.spec.init_containers)
    found = pod_conditions(
        of,
        phase="Running",
        has_sandbox=True,
        init=statuses[:count],
        containers=statuses[count:],
        now=NOW,
    )
    by_type = {each.type: (each.status, each.reason, each.message) for each in found}
    return [by_type["Ready"], by_type["ContainersReady"]]


READY = ("True", "", "")


def test_sidecars_count_for_readiness_and_init_containers_do_not() -> None:
    of = pod(container("a"), container("b"), initContainers=[SIDECAR, container("setup")])

    assert readiness(of, "setup") == [READY, READY]
    assert (
        readiness(of, "a", "proxy")
        == [("False", "ContainersNotReady", "containers with unready status: [proxy a]")] * 2
    )


def test_a_pod_is_ready_when_its_readiness_gates_are_open_too() -> None:
    gates = [{"conditionType": "lb/attached"}, {"conditionType": "lb/warm"}]
    warm = {"type": "lb/warm", "status": "True"}
    shut = pod(readinessGates=gates, status={"conditions": [warm | {"status": "False"}]})
    open_ = pod(
        readinessGates=gates,
        status={"conditions": [warm, {"type": "lb/attached", "status": "True"}]},
    )

    closed = (
        'corresponding condition of pod readiness gate "lb/attached" does not exist., '
        'the status of pod readiness gate "lb/warm" is not "True", but False'
    )
    assert readiness(shut) == [("False", "ReadinessGatesNotReady", closed), READY]
    assert readiness(open_) == [READY, READY]
    assert readiness(shut, "main")[0][1] == "ContainersNotReady"


@pytest.mark.parametrize(
    ("isolates", "told"),
    [(True, ("True", "Namespaces")), (False, ("False", "NoIsolation")), (None, None)],
)
def test_whether_containers_are_isolated_is_told_where_they_run(
    isolates: bool | None, told: tuple[str, str] | None
) -> None:
    found = pod_conditions(
        pod(),
        phase="Running",
        has_sandbox=True,
        init=(),
        containers=(),
        now=NOW,
        isolates=isolates,
    )

    ours = {each.type: (each.status, each.reason) for each in found}
    assert ours.get("reflet.dev/Isolated") == told
