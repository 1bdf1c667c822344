"""What holds for every cluster that ``why`` looks at, whatever its objects say."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reflet.api import codec
from reflet.api.core.config import Secret
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Event
from reflet.api.core.workloads import Deployment, Job, ReplicaSet, StatefulSet
from reflet.api.meta import ObjectMeta
from reflet.cli.output.why_output import diagnosis_document, overview
from reflet.insight.why.cluster_state import ClusterState
from reflet.insight.why.diagnosis import diagnose
from reflet.insight.why.pod_reasons import Stand
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs

CANARY = "canary-hush-hush"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
TIMES = st.sampled_from(["2025-12-31T00:00:00Z", "2026-01-01T11:59:59Z"])
REASONS = st.sampled_from(
    [
        *("CrashLoopBackOff", "ImagePullBackOff", "ErrImageNeverPull", "CreateContainerError"),
        *("CreateContainerConfigError", "ContainerCreating", "Unhealthy", "FailedMount", "BackOff"),
        *("FailedScheduling", "FailedCreate", "FailedCreatePodSandBox", "Evicted", "Strange", ""),
    ]
)
WORDS = st.sampled_from(
    [
        *("", "x", "0/3 nodes are available: 3 Insufficient cpu.", 'secret "db" not found'),
        'pods "web-x" is forbidden: exceeded quota: q, requested: a=1, used: a=1, limited: a=1',
        *("Readiness probe failed: 503", "Liveness probe failed: 500", 'volume "a" : no'),
        *('exec: "x": not found', 'violates PodSecurity "a": b', "unmounted volumes=[a b]"),
    ]
)
STATUS_WORDS = st.sampled_from(["True", "False", "Unknown"])
OWNERS = st.sampled_from(["", "ReplicaSet", "StatefulSet", "Job", "Rollout"])
STATES: st.SearchStrategy[Any] = (
    st.just({})
    | st.fixed_dictionaries(
        {"waiting": st.fixed_dictionaries({"reason": REASONS, "message": WORDS})}
    )
    | st.fixed_dictionaries({"running": st.fixed_dictionaries({"startedAt": TIMES})})
    | st.fixed_dictionaries(
        {
            "terminated": st.fixed_dictionaries(
                {"exitCode": st.sampled_from([0, 1, 137]), "reason": REASONS}
            )
        }
    )
)
STATUSES = st.fixed_dictionaries(
    {
        "phase": st.sampled_from(["Pending", "Running", "Succeeded", "Failed", "Unknown"]),
        "reason": st.sampled_from(["", "Evicted", "Terminated", "OutOfcpu"]),
        "message": WORDS,
        "conditions": st.lists(
            st.fixed_dictionaries(
                {
                    "type": st.sampled_from(["Ready", "PodScheduled"]),
                    "status": STATUS_WORDS,
                    "reason": REASONS,
                    "message": WORDS,
                }
            ),
            max_size=2,
        ),
        "containerStatuses": st.lists(
            st.fixed_dictionaries(
                {
                    "name": st.just("web"),
                    "ready": st.booleans(),
                    "restartCount": st.integers(0, 3),
                    "state": STATES,
                    "lastState": STATES,
                }
            ),
            max_size=1,
        ),
    }
)


def metadata(name: str, created: str) -> dict[str, Any]:
    return {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": created}


@st.composite
def pods(draw: st.DrawFn, number: int) -> Pod:
    owner = draw(OWNERS)
    reference = {"kind": owner, "name": owner.lower(), "uid": owner.lower(), "controller": True}
    deleted = {"deletionTimestamp": draw(TIMES)} if draw(st.booleans()) else {}
    secret = {"secretKeyRef": {"name": "db", "key": draw(st.sampled_from(["password", "none"]))}}
    claim = [{"name": "a", "persistentVolumeClaim": {"claimName": "data"}}]
    raw = {
        "metadata": {
            **metadata(f"pod-{number}", draw(TIMES)),
            **deleted,
            "ownerReferences": [reference] if owner else [],
        },
        "spec": {
            "nodeName": draw(st.sampled_from(["", "node-1", "gone"])),
            "enableServiceLinks": False,
            "nodeSelector": draw(st.sampled_from([{}, {"disk": "ssd"}])),
            "schedulingGates": draw(st.sampled_from([[], [{"name": "gate"}]])),
            "volumes": claim if draw(st.booleans()) else [],
            "containers": [{"name": "web", "env": [{"name": "P", "valueFrom": secret}]}],
        },
        "status": draw(STATUSES),
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


WORKLOADS: dict[str, Any] = {
    "replicaset": ReplicaSet,
    "statefulset": StatefulSet,
    "job": Job,
    "web": Deployment,
}


@st.composite
def states(draw: st.DrawFn) -> ClusterState:
    every = [draw(pods(number)) for number in range(draw(st.integers(0, 3)))]
    made: list[Any] = []
    for name, kind in WORKLOADS.items():
        if draw(st.booleans()):
            template = {"spec": {"containers": [{"name": "web"}]}}
            condition = {
                "type": draw(st.sampled_from(["ReplicaFailure", "Failed", "Progressing"])),
                "status": draw(STATUS_WORDS),
                "reason": draw(REASONS),
                "message": draw(WORDS),
            }
            raw: dict[str, Any] = {
                "metadata": metadata(name, draw(TIMES)),
                "spec": {"replicas": draw(st.integers(0, 2)), "template": template},
                "status": {"observedGeneration": 1, "conditions": [condition]},
            }
            if kind is Job:
                raw["status"] = {"conditions": [condition]}
            made.append(codec.decode(json.dumps(raw).encode(), kind))
    events: list[Event] = []
    for index in range(draw(st.integers(0, 2))):
        kind_of, name_of = draw(
            st.sampled_from([("Pod", "pod-0"), ("ReplicaSet", "replicaset"), ("Job", "job")])
        )
        raw = {
            "metadata": {"name": f"e{index}", "namespace": "shop"},
            "involvedObject": {
                "kind": kind_of,
                "name": name_of,
                "fieldPath": draw(st.sampled_from(["", "spec.containers{web}"])),
            },
            "type": "Warning",
            "reason": draw(REASONS),
            "message": draw(WORDS),
        }
        events.append(codec.decode(json.dumps(raw).encode(), Event))
    data = {"password": CANARY.encode()}
    secret = Secret(metadata=ObjectMeta(namespace="shop", name="db"), data=data)
    hand = ObjectsInHand([secret])
    of_pods = tuple(event for event in events if event.involved_object.kind == "Pod")
    return ClusterState(
        pods=[PodInputs(pod=each, objects=hand, events=of_pods) for each in every],
        workloads=made,
        events=[event for event in events if event not in of_pods],
        nodes=draw(st.sampled_from([None, (), (Node(metadata=ObjectMeta(name="node-1")),)])),
        claims=draw(st.sampled_from([None, ()])),
        now=draw(st.sampled_from([None, NOW])),
    )


@given(states())
def test_every_reason_says_what_is_wrong_and_what_to_do(state: ClusterState) -> None:
    diagnosis = diagnose(state)

    assert all(each.reason.message and each.fix for each in diagnosis.reasons)
    assert all(each.affected for each in diagnosis.reasons)
    assert len({each.reason for each in diagnosis.reasons}) == len(diagnosis.reasons)


@given(states())
def test_every_pod_is_counted_once(state: ClusterState) -> None:
    diagnosis = diagnose(state)

    assert sum(diagnosis.pods(stand) for stand in Stand) == len(state.pods) == diagnosis.pods()


@given(states())
def test_whoever_is_wrong_has_a_reason_or_a_complaint(state: ClusterState) -> None:
    diagnosis = diagnose(state)

    if diagnosis.wrong:
        assert diagnosis.reasons or diagnosis.unexplained
    blamed = {each.root for reason in diagnosis.reasons if reason.wrong for each in reason.affected}
    assert blamed <= {each.root for each in diagnosis.roots if each.wrong}


@given(states())
def test_what_is_shown_fits_and_shows_no_secret(state: ClusterState) -> None:
    diagnosis = diagnose(state)
    lines = [*overview(diagnosis, verbose=True)]

    assert all(len(line) <= 100 for line in lines)
    assert CANARY not in "\n".join(lines)
    assert CANARY not in json.dumps(diagnosis_document(diagnosis, ()))
