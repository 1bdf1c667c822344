"""What all workloads share: pods made from a template, and which of them count.

Upstream: pkg/controller/controller_utils.go; pkg/api/v1/pod/util.go
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from reflet.gotext.times import time_text
from reflet.play.actions import Document, soonest
from reflet.play.pod_lifecycle import FINISHED, moment

_SAFE: Final = "bcdfghjklmnpqrstvwxz2456789"


def owner_reference(owner: Document) -> Document:
    """The reference of an object to its controller."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_of(owner: Document, template: Document, **metadata: Any) -> dict[str, Any]:
    """A pod from a template; *metadata* is added, labels and annotations to those that are there.

    Without a name it gets one that begins with its owner's.
    """
    given = template.get("metadata") or {}
    own: dict[str, Any] = {
        "namespace": owner["metadata"]["namespace"],
        "generateName": f"{owner['metadata']['name']}-",
        "ownerReferences": [owner_reference(owner)],
    }
    for part in ("labels", "annotations"):
        merged = {**given.get(part, {}), **metadata.pop(part, {})}
        if merged:
            own[part] = merged
    if given.get("finalizers"):
        own["finalizers"] = list(given["finalizers"])
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**own, **metadata},
        "spec": template["spec"],
    }


def template_hash(value: Any) -> str:
    """A short name for a template: the same one for the same content, in the usual letters."""
    digest = 2166136261
    for byte in json.dumps(value, sort_keys=True).encode():
        digest = (digest ^ byte) * 16777619 & 0xFFFFFFFF
    return "".join(_SAFE[ord(digit) % len(_SAFE)] for digit in str(digest))


def phase_of(pod: Document) -> str:
    """The pod's phase; Pending when nobody has said."""
    return str(pod.get("status", {}).get("phase") or "Pending")


def is_active(pod: Document) -> bool:
    """Whether a pod runs, or will: neither finished nor going."""
    return phase_of(pod) not in FINISHED and "deletionTimestamp" not in pod["metadata"]


def is_going(pod: Document) -> bool:
    """Whether a pod has been told to end and is not finished."""
    return phase_of(pod) not in FINISHED and "deletionTimestamp" in pod["metadata"]


def ready_since(pod: Document) -> datetime | None:
    """Since when a pod is ready; None if it is not."""
    for condition in pod.get("status", {}).get("conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "True":
            return moment(condition["lastTransitionTime"])
    return None


def is_ready(pod: Document) -> bool:
    """Whether a pod is ready."""
    return ready_since(pod) is not None


def available(pods: Iterable[Document], seconds: int, now: datetime) -> tuple[int, float | None]:
    """How many pods have been ready for so long, and when the next one will have been."""
    count, waits = 0, []
    for pod in pods:
        since = ready_since(pod)
        if since is None:
            continue
        left = (since + timedelta(seconds=seconds) - now).total_seconds()
        if left <= 0:
            count += 1
        else:
            waits.append(left)
    return count, soonest(*waits)


def deletion_order(pod: Document) -> tuple[Any, ...]:
    """The key by which the pods that a scale-down takes first come first.

    Those without a node, those that do not run, those that are not ready, the cheap ones, and of
    equal ones the youngest.
    """
    status = pod.get("status", {})
    cost = pod["metadata"].get("annotations", {}).get("controller.kubernetes.io/pod-deletion-cost")
    age = moment(pod["metadata"]["creationTimestamp"])
    restarts = sum(each["restartCount"] for each in status.get("containerStatuses") or ())
    return (
        bool(pod["spec"].get("nodeName")),
        phase_of(pod) == "Running",
        is_ready(pod),
        int(cost or 0),
        -restarts,
        -age.timestamp(),
    )


def scaled(value: Any, total: int, *, up: bool) -> int:
    """A number, or a share of a total in per cent."""
    if isinstance(value, str) and value.endswith("%"):
        share = int(value[:-1]) * total
        return -(-share // 100) if up else share // 100
    return int(value or 0)


def with_condition(
    conditions: Sequence[Document], now: datetime, kind: str, status: str, **rest: str
) -> list[Document]:
    """The conditions with one of them as given; its time moves when its status does."""
    found = next((each for each in conditions if each["type"] == kind), None)
    since = found["lastTransitionTime"] if found and found["status"] == status else time_text(now)
    new = {"type": kind, "status": status, "lastTransitionTime": since, **rest}
    if found is None:
        return [*conditions, new]
    return [new if each is found else each for each in conditions]
