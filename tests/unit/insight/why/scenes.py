"""A cluster in hand, object by object, as controllers and kubelets write them.

Owns: the objects.  Must not know what is found out about them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from reflet.api import codec
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Event
from reflet.insight.why.cluster_state import ClusterState
from reflet.insight.why.diagnosis import Diagnosis, GroupedReason, diagnose
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.templates.templates import Workload

NOW: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG_AGO: Final = (NOW - timedelta(hours=2)).isoformat()
JUST_NOW: Final = (NOW - timedelta(seconds=2)).isoformat()

Raw = dict[str, Any]


def owned(kind: str, name: str, uid: str = "") -> Raw:
    """Return metadata that names a controller; its uid is its name unless given."""
    reference = {"kind": kind, "name": name, "uid": uid or name, "controller": True}
    return {"ownerReferences": [reference]}


def metadata(name: str, **more: Any) -> Raw:
    made = {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": LONG_AGO}
    return {**made, **more}


def made(kind: Any, document: Raw) -> Any:
    return codec.decode(json.dumps(document).encode(), kind)


def pod(
    name: str = "web-1",
    *,
    status: Raw | None = None,
    container: Raw | None = None,
    of: Raw | None = None,
    meta: Raw | None = None,
    **spec: Any,
) -> Pod:
    """Return a pod of the shop, on a node unless its spec says otherwise."""
    document = {
        "metadata": {**metadata(name), **(of or {}), **(meta or {})},
        "spec": {
            "nodeName": "node-1",
            "enableServiceLinks": False,
            "containers": [{"name": "web", "image": "example.com/web:1", **(container or {})}],
            **spec,
        },
        "status": status or {"phase": "Pending"},
    }
    found: Pod = made(Pod, document)
    return found


def running(name: str = "web-1", *, ready: bool = True, **more: Any) -> Pod:
    """Return a pod that runs."""
    return pod(name, status=running_status(ready=ready), **more)


def running_status(*, ready: bool = True, started: str = LONG_AGO, **container: Any) -> Raw:
    state = {"running": {"startedAt": started}}
    return {
        "phase": "Running",
        "containerStatuses": [{"name": "web", "ready": ready, "state": state, **container}],
        "conditions": [{"type": "Ready", "status": str(ready)}],
    }


def waiting(reason: str, message: str = "", **container: Any) -> Raw:
    """Return the status of a pod whose container waits."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {
        "phase": "Pending",
        "containerStatuses": [{"name": "web", "state": state, **container}],
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
    }


def crashing(code: int, reason: str = "Error", **more: Any) -> Raw:
    """Return the status of a pod whose container ends again and again."""
    ended = {"terminated": {"exitCode": code, "reason": reason, **more}}
    words = "back-off 5m0s restarting failed container=web pod=web-1_shop(web-1)"
    return {
        **waiting("CrashLoopBackOff", words, lastState=ended, restartCount=7),
        "phase": "Running",
    }


def unschedulable(words: str) -> Raw:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": words,
    }
    return {"phase": "Pending", "conditions": [condition]}


def warning(
    reason: str, message: str = "", *, about: str = "web-1", kind: str = "Pod", **more: Any
) -> Event:
    """Return a warning about an object of the shop; about one of its containers with ``field``."""
    field = more.pop("field", "")
    document = {
        "metadata": {"name": f"{about}.{reason}", "namespace": "shop"},
        "involvedObject": {"kind": kind, "name": about, "namespace": "shop", "fieldPath": field},
        "type": "Warning",
        "reason": reason,
        "message": message,
        **more,
    }
    found: Event = made(Event, document)
    return found


CONTAINER: Final = "spec.containers{web}"


def node(name: str = "node-1", *, ready: str = "True", words: str = "", **more: Any) -> Node:
    labels, spec = more.pop("labels", {}), more.pop("spec", {})
    condition = {"type": "Ready", "status": ready, "message": words}
    allocatable = more.pop("allocatable", {"cpu": "4", "memory": "8Gi"})
    found: Node = made(
        Node,
        {
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
            "status": {"conditions": [condition], "allocatable": allocatable},
        },
    )
    return found


def workload(kind: Any, name: str, *, status: Raw | None = None, **more: Any) -> Any:
    """Return a workload of the shop whose template has one container."""
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {
            "enableServiceLinks": False,
            "containers": [{"name": "web", "image": "example.com/web:1"}],
            **more.pop("pods", {}),
        },
    }
    meta = {**metadata(name, generation=1), **more.pop("meta", {})}
    spec = {"template": template, **more}
    return made(kind, {"metadata": meta, "spec": spec, "status": status or {}})


def state(
    *pods: Pod,
    workloads: Sequence[Workload] = (),
    events: Sequence[Event] = (),
    templates: Sequence[PodInputs] = (),
    objects: Sequence[Any] = (),
    **more: Any,
) -> ClusterState:
    hand = ObjectsInHand(objects)
    return ClusterState(
        pods=[
            PodInputs(
                pod=each,
                objects=hand,
                events=tuple(
                    event
                    for event in events
                    if event.involved_object.kind == "Pod"
                    and event.involved_object.name == each.metadata.name
                ),
            )
            for each in pods
        ],
        templates=templates,
        workloads=workloads,
        events=[event for event in events if event.involved_object.kind != "Pod"],
        **{"now": NOW, **more},
    )


def diagnosed(*pods: Pod, **more: Any) -> Diagnosis:
    return diagnose(state(*pods, **more))


def only_reason(*pods: Pod, **more: Any) -> GroupedReason:
    """Return the one reason for everything in hand, which must be wrong."""
    (reason,) = diagnosed(*pods, **more).reasons
    assert reason.wrong
    return reason
