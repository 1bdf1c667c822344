"""How a pod stands besides its containers: its node, its volumes, its gates and its end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reflet.insight.why.pod_reasons import Stand
from tests.unit.insight.why.scenes import (
    JUST_NOW,
    LONG_AGO,
    NOW,
    crashing,
    diagnosed,
    node,
    only_reason,
    owned,
    pod,
    running,
    running_status,
    unschedulable,
    waiting,
    warning,
)
from tests.unit.resolution.scenes import variable

CREATING = waiting("ContainerCreating")


def stands(*pods: Any, **more: Any) -> dict[str, int]:
    diagnosis = diagnosed(*pods, **more)
    return {each.value: number for each in Stand if (number := diagnosis.pods(each))}


def test_a_pod_that_runs_is_fine() -> None:
    diagnosis = diagnosed(running())

    assert (diagnosis.reasons, diagnosis.wrong) == ((), False)
    assert stands(running()) == {"fine": 1}


def test_a_pod_that_has_ended_well_is_fine() -> None:
    assert stands(pod(status={"phase": "Succeeded"})) == {"fine": 1}


def test_old_events_of_a_pod_that_runs_say_nothing() -> None:
    diagnosis = diagnosed(running(), events=[warning("FailedMount", "of yesterday")])

    assert (diagnosis.reasons, diagnosis.unexplained) == ((), ())


def test_a_pod_that_has_only_just_been_made_is_starting() -> None:
    young = pod(status={"phase": "Pending"}, meta={"creationTimestamp": JUST_NOW}, nodeName="")

    assert stands(young) == {"starting": 1}


def test_what_configuration_explains_comes_with_what_it_does_not() -> None:
    words = "couldn't find key password in Secret shop/db"
    env = [variable("P", secretKeyRef={"name": "db", "key": "password"})]
    broken = pod(status=waiting("CreateContainerConfigError", words), container={"env": env})
    broken_node = node(ready="Unknown", words="Kubelet stopped posting node status.")

    reasons = diagnosed(broken, nodes=[broken_node]).reasons

    assert [(each.reason.type, each.reason.in_configuration) for each in reasons] == [
        ("MissingObject", True),
        ("NodeNotReady", False),
    ]


# Without a node


def test_a_pod_that_nobody_may_place_yet_is_not_wrong() -> None:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }
    gated = pod(
        status={"phase": "Pending", "conditions": [condition]},
        nodeName="",
        schedulingGates=[{"name": "kueue.x-k8s.io/admission"}],
    )

    diagnosis = diagnosed(gated)

    (reason,) = diagnosis.reasons
    assert reason.reason.message == (
        "it waits for scheduling gate kueue.x-k8s.io/admission to be taken off"
    )
    assert (reason.wrong, diagnosis.wrong, stands(gated)) == (False, False, {"waiting": 1})
    assert diagnosis.unexplained == ()


def test_a_pod_that_no_scheduler_has_looked_at() -> None:
    reason = only_reason(pod(nodeName="", schedulerName="ours"))

    assert reason.reason.message == ("scheduler ours has not taken it up, and nothing says why")


def test_events_of_the_scheduler_do_without_a_condition() -> None:
    words = "0/1 nodes are available: 1 Insufficient memory."
    event = warning("FailedScheduling", words)

    reason = only_reason(pod(nodeName=""), events=[event], nodes=[node()])

    assert reason.reason.message == "no node takes the pod: 1 with too little memory left"
    assert [signal.message for signal in reason.explains] == [words]


def test_the_last_word_of_the_scheduler_is_in_the_status() -> None:
    event = warning("FailedScheduling", "0/0 nodes are available: no nodes.")
    waits = pod(status=unschedulable("0/1 nodes are available: 1 Insufficient cpu."), nodeName="")

    reason = only_reason(waits, events=[event], nodes=[node()])

    assert reason.reason.message == "no node takes the pod: 1 with too little cpu left"
    assert len(reason.explains) == 2


def test_what_the_scheduler_said_before_there_was_a_node_is_past() -> None:
    young = pod(status=CREATING, meta={"creationTimestamp": JUST_NOW})

    diagnosis = diagnosed(young, events=[warning("FailedScheduling", "0/1 nodes are available")])

    assert (diagnosis.reasons, diagnosis.unexplained) == ((), ())


# On a node


def test_a_node_that_is_not_ready() -> None:
    unready = running_status()
    unready["conditions"] = [{"type": "Ready", "status": "False"}]
    words = "Kubelet stopped posting node status."

    reason = only_reason(
        pod(status=unready),
        nodes=[node(ready="Unknown", words=words)],
        events=[warning("NodeNotReady", "Node is not ready")],
    )

    assert reason.reason.message == f"node node-1 is not ready: {words}"
    assert reason.fix == "kubectl describe node node-1"


def test_a_node_that_is_gone() -> None:
    reason = only_reason(pod(status=CREATING), nodes=[node("other")])

    assert reason.reason.message == "node node-1 does not exist any more, and nothing ends its pods"
    assert reason.fix == "kubectl delete pod/web-1 -n shop --force"


def test_pods_of_one_broken_node_have_one_reason() -> None:
    broken = node(ready="False")

    reason = only_reason(pod("a", status=CREATING), pod("b", status=CREATING), nodes=[broken])

    assert reason.pods == 2


def test_a_kubelet_that_does_nothing() -> None:
    reason = only_reason(pod(status=CREATING), nodes=[node()])

    assert reason.reason.message == (
        "the kubelet of node node-1 has not taken it up, and nothing says why"
    )


def test_a_volume_that_cannot_be_mounted() -> None:
    event = warning(
        "FailedMount",
        'MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Internal desc = '
        "mount failed: exit status 32",
    )
    summary = warning(
        "FailedMount",
        "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], "
        "failed to process volumes=[]: context deadline exceeded",
    )

    diagnosis = diagnosed(pod(status=CREATING), events=[summary, event])

    (reason,) = diagnosis.reasons
    assert reason.reason.message == (
        "volume pvc-1 is not mounted: rpc error: code = Internal desc = mount failed: exit "
        "status 32"
    )


def test_a_volume_that_another_node_has() -> None:
    event = warning(
        "FailedAttachVolume",
        'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) db-0',
    )

    reason = only_reason(pod(status=CREATING), events=[event])

    assert reason.fix == (
        "end the pod that has the volume, or use a volume that many nodes can mount"
    )


def test_volumes_that_are_only_late_are_named() -> None:
    event = warning(
        "FailedMount",
        "Unable to attach or mount volumes: unmounted volumes=[data cache], unattached "
        "volumes=[]: timed out waiting for the condition",
    )

    reason = only_reason(pod(status=CREATING), events=[event])

    assert reason.reason.message.startswith("volume data cache is not mounted: Unable to attach")


def test_a_mount_that_lacked_configuration_which_is_there_now_has_no_reason() -> None:
    event = warning(
        "FailedMount", 'MountVolume.SetUp failed for volume "conf" : configmap "c" not found'
    )
    young = pod(status=CREATING, meta={"creationTimestamp": JUST_NOW})

    diagnosis = diagnosed(young, events=[event])

    assert (diagnosis.reasons, diagnosis.wrong) == ((), False)
    assert len(diagnosis.unexplained) == 1


def test_a_sandbox_that_cannot_be_made() -> None:
    words = (
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network "
        'for sandbox "{}": plugin type="calico" failed (add): error getting ClusterInformation'
    )
    broken = [pod(name, status=CREATING) for name in ("a", "b")]
    events = [
        warning("FailedCreatePodSandBox", words.format(letter * 64), about=letter)
        for letter in ("a", "b")
    ]

    reason = only_reason(*broken, events=events)

    assert 'sandbox "…": plugin type="calico" failed' in reason.reason.message
    assert reason.pods == 2


def test_a_readiness_gate_that_somebody_else_must_open() -> None:
    gate = "target-health.elbv2.k8s.aws/web"
    status = running_status()
    status["conditions"] = [
        {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"}
    ]

    reason = only_reason(pod(status=status, readinessGates=[{"conditionType": gate}]))

    assert reason.reason.message == f"its containers are ready; readiness gate {gate} is not"


# Its end


def test_a_pod_that_was_just_deleted_is_not_wrong() -> None:
    going = running(meta={"deletionTimestamp": (NOW + timedelta(seconds=10)).isoformat()})

    assert stands(going) == {"starting": 1}


def deleted(status: dict[str, Any] | None = None, **meta: Any) -> Any:
    return pod(status=status or running_status(), meta={"deletionTimestamp": LONG_AGO, **meta})


def test_a_deleted_pod_that_waits_for_finalizers() -> None:
    ended = {"phase": "Succeeded", "containerStatuses": [{"name": "web"}]}

    reason = only_reason(deleted(ended, finalizers=["example.com/keep"]), nodes=[node()])

    assert reason.reason.message == (
        "it was deleted and stays: finalizer example.com/keep is still there"
    )


def test_a_deleted_pod_whose_node_is_gone() -> None:
    reason = only_reason(deleted(), nodes=[])

    assert reason.reason.type == "NodeGone"


def test_a_deleted_pod_whose_node_is_not_ready() -> None:
    reason = only_reason(deleted(), nodes=[node(ready="Unknown")])

    assert reason.reason.type == "NodeNotReady"


def test_a_deleted_pod_that_does_not_end() -> None:
    event = warning("FailedKillPod", "error killing pod: timeout")

    diagnosis = diagnosed(deleted(running_status(ready=False)), nodes=[node()], events=[event])

    (reason,) = diagnosis.reasons
    assert reason.reason.message == (
        "it was deleted and does not end: its containers still run on node node-1"
    )
    assert diagnosis.unexplained == ()


EVICTED = {
    "phase": "Failed",
    "reason": "Evicted",
    "message": "The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi. ",
}


def test_a_pod_that_was_evicted() -> None:
    reason = only_reason(pod(status=EVICTED))

    assert reason.reason.message == "the pod was evicted: its node was low on memory"


def test_a_pod_that_failed_and_says_nothing_of_why() -> None:
    reason = only_reason(pod(status={"phase": "Failed"}))

    assert reason.reason.message == "the kubelet ended the pod (Failed)"


def test_how_the_containers_of_an_evicted_pod_ended_is_a_consequence() -> None:
    ended = {"terminated": {"exitCode": 137, "reason": "Error"}}
    status = {**EVICTED, "containerStatuses": [{"name": "web", "state": ended}]}

    diagnosis = diagnosed(pod(status=status))

    assert [each.reason.type for each in diagnosis.reasons] == ["Evicted"]
    assert diagnosis.unexplained == ()


def test_an_evicted_pod_that_another_one_replaces_is_only_left_behind() -> None:
    left = pod(status=EVICTED, of=owned("ReplicaSet", "web-5d4"))

    diagnosis = diagnosed(left)

    assert [each.wrong for each in diagnosis.reasons] == [False]
    assert (diagnosis.wrong, stands(left)) == (False, {"left behind": 1})


@pytest.mark.parametrize(
    ("reason", "message", "said"),
    [
        (
            "Terminated",
            "Pod was terminated in response to imminent node shutdown.",
            "node node-1 was shut down, and the pod with it",
        ),
        (
            "NodeShutdown",
            "Pod was rejected as the node is shutting down.",
            "node node-1 was shut down, and the pod with it",
        ),
        (
            "OutOfcpu",
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000",
            (
                "the kubelet ended the pod (OutOfcpu): Pod was rejected: Node didn't have enough "
                "resource: cpu, requested: 1000"
            ),
        ),
        (
            "DeadlineExceeded",
            "Pod was active on the node longer than the specified deadline",
            (
                "the kubelet ended the pod (DeadlineExceeded): Pod was active on the node longer "
                "than the specified deadline"
            ),
        ),
    ],
)
def test_a_pod_that_its_kubelet_ended(reason: str, message: str, said: str) -> None:
    ended = pod(status={"phase": "Failed", "reason": reason, "message": message})

    diagnosis = diagnosed(ended)

    assert [each.reason.message for each in diagnosis.reasons] == [said]
    assert diagnosis.unexplained == ()


def test_a_pod_by_itself_that_has_failed_is_wrong() -> None:
    ended = {"terminated": {"exitCode": 2, "reason": "Error"}}
    failed = {"phase": "Failed", "containerStatuses": [{"name": "web", "state": ended}]}

    reason = only_reason(pod(status=failed, restartPolicy="Never"))

    assert reason.reason.message == "container web exits with code 2"
    assert reason.fix == "read why: kubectl logs pod/web-1 -c web -n shop"


def test_a_pod_that_crashes_while_its_node_is_fine_has_one_reason() -> None:
    assert only_reason(pod(status=crashing(1)), nodes=[node()]).reason.type == "ContainerExits"
