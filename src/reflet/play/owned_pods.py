"""What all workloads share: pods made from a template, and which of them count.

Upstream: pkg/controller/controller_utils.go; pkg/api/v1/pod/util.go
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from reflet.play.actions import Document
from reflet.play.pod_lifecycle import FINISHED, seconds_until, soonest

REVISION_HASH: Final = "controller-revision-hash"
_SAFE: Final = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")


def owner_of(owner: Document) -> list[Document]:
    """The references of an object to its controller."""
    reference = {name: owner["metadata"][name] for name in ("name", "uid")}
    kind = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
    return [{**kind, **reference, "controller": True, "blockOwnerDeletion": True}]


def pod_of(owner: Document, *, name: str = "", **labels: str) -> dict[str, Any]:
    """A pod from the owner's template, with some more labels; without a name it is given one."""
    template, metadata = owner["spec"]["template"], owner["metadata"]
    given = template.get("metadata") or {}
    own = {"namespace": metadata["namespace"], "ownerReferences": owner_of(owner)}
    named = {"name": name} if name else {"generateName": f"{metadata['name']}-"}
    labelled = {"labels": {**given.get("labels", {}), **labels}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**given, **own, **named, **labelled},
        "spec": template["spec"],
    }


def template_hash(owner: Document) -> str:
    """A short name for the owner's template: the same one for the same content."""
    text = json.dumps(owner["spec"]["template"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10].translate(_SAFE)


def revision_of_pod(pod: Document) -> str:
    """The revision that a pod of a StatefulSet or DaemonSet was made from."""
    return str(pod["metadata"].get("labels", {}).get(REVISION_HASH, ""))


def phase_of(pod: Document) -> str:
    """The pod's phase; Pending when nobody has said."""
    return str(pod.get("status", {}).get("phase") or "Pending")


def is_going(document: Document) -> bool:
    """Whether an object has been told to end."""
    return "deletionTimestamp" in document["metadata"]


def is_active(pod: Document) -> bool:
    """Whether a pod runs, or will: neither finished nor going."""
    return phase_of(pod) not in FINISHED and not is_going(pod)


def ready_since(pod: Document) -> str:
    """Since when a pod is ready; empty if it is not."""
    for condition in pod.get("status", {}).get("conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "True":
            return str(condition["lastTransitionTime"])
    return ""


def is_ready(pod: Document) -> bool:
    """Whether a pod is ready."""
    return bool(ready_since(pod))


def available(
    owner: Document, pods: Iterable[Document], now: datetime
) -> tuple[list[Document], float | None]:
    """The ready pods that have been so for ``minReadySeconds``, and when the next one will have."""
    seconds = owner["spec"].get("minReadySeconds", 0)
    if not seconds:
        return list(pods), None
    waits = [(seconds_until(ready_since(pod), seconds, now), pod) for pod in pods]
    return [pod for left, pod in waits if left <= 0], soonest(*(w for w, _ in waits if w > 0))


def scaled(value: Any, total: int, *, up: bool) -> int:
    """A number, or a share of a total in per cent."""
    if isinstance(value, str) and value.endswith("%"):
        share = int(value[:-1]) * total
        return -(-share // 100) if up else share // 100
    return int(value or 0)


def counted(owner: Document, kept: Document, **counts: int) -> dict[str, Any]:
    """A status: what it has observed, what is said in any case, and the counts that are not 0."""
    numbers = {name: number for name, number in counts.items() if number}
    return {"observedGeneration": owner["metadata"].get("generation", 1), **kept, **numbers}
