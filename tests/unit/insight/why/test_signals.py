"""What a cluster complains about, and what it only says."""

from __future__ import annotations

from typing import Any

from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Event
from reflet.api.meta import ObjectMeta, ObjectReference
from reflet.insight.why.signals import common_words, has_started, runs_well, signals_of
from tests.unit.resolution.scenes import pod_with


def pod_in(state: dict[str, Any], *, phase: str = "Pending", **status: Any) -> Pod:
    container = {"name": "web", "state": state, **status}
    return pod_with(
        metadata={"uid": "u1"}, status={"phase": phase, "containerStatuses": [container]}
    )


def event(reason: str, message: str = "", *, uid: str = "u1", **fields: Any) -> Event:
    return Event(
        metadata=ObjectMeta(namespace="shop"),
        reason=reason,
        message=message,
        type=fields.pop("type", "Warning"),
        involved_object=ObjectReference(
            kind="Pod", name="web-0", uid=uid, field_path=fields.pop("field_path", "")
        ),
        **fields,
    )


WAITING = {"waiting": {"reason": "CreateContainerConfigError", "message": "no such key"}}


def test_a_waiting_container_complains() -> None:
    (signal,) = signals_of(pod_in(WAITING))

    assert (signal.source, signal.container, signal.reason, signal.message) == (
        "container",
        "web",
        "CreateContainerConfigError",
        "no such key",
    )
    assert not signal.from_elsewhere


def test_a_container_that_is_being_created_does_not_complain() -> None:
    assert signals_of(pod_in({"waiting": {"reason": "ContainerCreating"}})) == ()


def test_warnings_are_counted_and_other_events_left_out() -> None:
    events = [
        event("FailedMount", "x", count=3),
        event("FailedMount", "x"),
        event("Pulled", type="Normal"),
        event("FailedMount", "of an earlier pod", uid="u0"),
    ]

    (signal,) = signals_of(pod_with(metadata={"uid": "u1"}), events)

    assert (signal.reason, signal.count) == ("FailedMount", 4)


def test_an_event_names_its_container() -> None:
    (signal,) = signals_of(pod_with(), [event("Failed", field_path="spec.containers{web}", uid="")])

    assert signal.container == "web"


def test_scheduling_and_pulling_are_from_elsewhere() -> None:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available",
    }
    pod = pod_with(
        status={
            "phase": "Pending",
            "conditions": [condition],
            "containerStatuses": [
                {"name": "web", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
            ],
        }
    )

    signals = signals_of(pod)

    assert [signal.reason for signal in signals] == ["Unschedulable", "ImagePullBackOff"]
    assert all(signal.from_elsewhere for signal in signals)


def test_a_container_that_failed_says_how() -> None:
    pod = pod_in(
        {"waiting": {"reason": "CrashLoopBackOff"}}, lastState={"terminated": {"exitCode": 3}}
    )

    assert [(signal.reason, signal.message) for signal in signals_of(pod)] == [
        ("CrashLoopBackOff", ""),
        ("Error", "exit code 3"),
    ]


def test_an_evicted_pod_says_so() -> None:
    pod = pod_with(status={"phase": "Failed", "reason": "Evicted", "message": "low on memory"})

    (signal,) = signals_of(pod)

    assert (signal.source, signal.reason) == ("pod", "Evicted")


def test_old_events_of_a_pod_that_runs_well_say_nothing() -> None:
    pod = pod_in({"running": {}}, phase="Running", ready=True)

    assert runs_well(pod)
    assert signals_of(pod, [event("FailedMount")]) == ()


def test_a_pod_with_a_container_that_is_not_ready_does_not_run_well() -> None:
    assert not runs_well(pod_in({"running": {}}, phase="Running"))
    assert not runs_well(pod_with(status={"phase": "Running"}))
    assert runs_well(pod_with(status={"phase": "Succeeded"}))


def test_what_has_started_is_known_by_its_state_or_its_restarts() -> None:
    assert has_started(pod_in({"running": {}}), "web")
    assert has_started(pod_in({"terminated": {}}))
    assert has_started(pod_in(WAITING, restartCount=1), "web")
    assert not has_started(pod_in(WAITING), "web")
    assert not has_started(pod_in({"running": {}}), "other")


def test_words_without_what_is_each_pods_own() -> None:
    said = common_words(
        "pod web at 10.0.0.7 of web-app, 8d0a6a3e-1b5c-4a43-9c1f-0a5c1d2e3f40, "
        "sandbox deadbeefdeadbeef",
        "web",
    )

    assert said == "pod … at … of web-app, …, sandbox …"
