"""A shop for the tests of the page: pods, objects, and a board of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.api.unstructured import AnyObject
from reflet.ui.board import Board

NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOW: Final = NOON + timedelta(hours=3)
BEFORE: Final = NOON - timedelta(hours=1)
SALT: Final = b"salt of the tests"
WHOLE: Final = {"envFrom": [{"configMapRef": {"name": "settings"}}]}


def owned(kind: str, name: str, template: str = "") -> dict[str, Any]:
    """Metadata of a pod that somebody made."""
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid of {name}"}
    labels = {"pod-template-hash": template} if template else {}
    return {"ownerReferences": [{**owner, "controller": True}], "labels": labels}


OF_WEB: Final = owned("ReplicaSet", "web-7c9f", "7c9f")


def pod(
    container: Mapping[str, Any] | None = None,
    name: str = "web-7c9f-1",
    *,
    started: datetime | None = NOON,
    volumes: tuple[Mapping[str, Any], ...] = (),
    waiting: str = "",
    metadata: Mapping[str, Any] | None = None,
    spec: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
) -> Pod:
    """A pod with a container ``web``, which runs unless it never *started*."""
    state: dict[str, Any] = {"waiting": {"reason": waiting or "ContainerCreating"}}
    if started is not None and not waiting:
        state = {"running": {"startedAt": started.isoformat()}}
    phase = "Running" if "running" in state else "Pending"
    raw = {
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid of {name}",
            "creationTimestamp": BEFORE.isoformat(),
            **(metadata or {}),
        },
        "spec": {
            "enableServiceLinks": False,
            "containers": [{"name": "web", **(container or {})}],
            "volumes": volumes,
            **(spec or {}),
        },
        "status": status
        or {"phase": phase, "containerStatuses": [{"name": "web", "state": state}]},
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


def config_map(
    data: Mapping[str, str],
    name: str = "settings",
    *,
    at: datetime = BEFORE,
    by: str = "kubectl-apply",
    version: str = "1",
    kind: str = "ConfigMap",
    more: Mapping[str, Any] | None = None,
) -> AnyObject:
    """A ConfigMap, or Secret, all of whose keys one manager has written."""
    fields: dict[str, Any] = {"f:data": {f"f:{key}": {} for key in data}}
    written = {"manager": by, "operation": "Update", "time": _text(at), "fieldsV1": fields}
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": f"uid of {name}",
        "resourceVersion": version,
        "creationTimestamp": _text(BEFORE),
        "managedFields": [written],
    }
    raw = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data, **(more or {})}
    return AnyObject(json.dumps(raw).encode())


def board(*items: AnyObject, pods: tuple[Pod, ...] = (), at: datetime = NOON) -> Board:
    """A board that was filled once."""
    made = Board("shop", "live", salt=SALT, began=at)
    for item in items:
        made.put_object(made.briefs(item), at=at)
    for each in pods:
        made.put_pod(f"shop/{each.metadata.name}", made.brief_pod(each))
    return made


def change(target: Board, old: AnyObject | None, new: AnyObject | None, *, at: datetime) -> None:
    """An edit that a watch sees."""
    one = old or new
    assert one is not None
    target.change_object(
        "Secret" if one.kind == "Secret" else "ConfigMap",
        "shop",
        one.metadata.name,
        None if old is None else target.briefs(old),
        None if new is None else target.briefs(new),
        at=at,
        cached=3.0,
    )


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
