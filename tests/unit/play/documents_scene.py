"""Small documents to decide about, as the server would store them, and what was decided."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from reflet.api.resources import BUILT_IN
from reflet.api.unstructured import AnyObject
from reflet.play.actions import Plan, Save
from reflet.play.cluster_view import INDEXERS, ClusterView, SeenObject
from reflet.runtime.clock import SystemClock
from reflet.store.store import Store

NOW = datetime(2025, 1, 1, 12, tzinfo=UTC)
Document = dict[str, Any]


def at(seconds: float) -> str:
    return (NOW + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


GOING = {"deletionTimestamp": at(0)}


class StoppedClock(SystemClock):
    def now(self) -> datetime:
        return NOW


def metadata(name: str, **more: Any) -> Document:
    return {
        "name": name,
        "namespace": "shop",
        "uid": f"uid of {name}",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": at(0),
        **more,
    }


def pod(
    name: str = "web-1", *, phase: str = "Pending", ready: float | None = None, **more: Any
) -> Document:
    """A pod; *ready* is since how many seconds before now."""
    status: Document = {"phase": phase}
    if ready is not None:
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": at(-ready)}
        status["conditions"] = [condition]
    spec = {"restartPolicy": "Always", "containers": [{"name": "main", "image": "nginx:1"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(name, **more.pop("metadata", {})),
        "spec": {**spec, **more},
        "status": status,
    }


def ready_pod(name: str, *, since: float = 0.0, **more: Any) -> Document:
    return pod(name, phase="Running", ready=since, **more)


def template(image: str = "nginx:1") -> Document:
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }


def view_of(*documents: Document, owner: Document | None = None) -> ClusterView:
    """A view that shows the documents; with *owner*, all of them belong to it."""
    view = ClusterView(StoppedClock())
    resources = {each.kind: each for each in BUILT_IN}
    for document in documents:
        resource = resources[document["kind"]]
        view.resources[resource.full_name] = resource
        store = view.stores.setdefault(resource.full_name, Store(indexers=INDEXERS))
        found = {**document, "metadata": {**document["metadata"]}}
        if owner is not None:
            reference = {"uid": owner["metadata"]["uid"], "controller": True}
            found["metadata"]["ownerReferences"] = [reference]
        store.put(SeenObject(AnyObject.from_dict(found)))
    return view


def words(steps: Plan) -> list[str]:
    """What is made, written and deleted, without statuses."""
    said = []
    for each in steps.actions:
        named = each.document["metadata"]
        name = named.get("name") or named["generateName"]
        if not isinstance(each, Save):
            said.append(f"delete {name}")
        elif each.subresource != "status":
            made = "write" if "resourceVersion" in named else "make"
            said.append(f"{each.subresource or made} {name}")
    return said


def status_of(steps: Plan) -> Any:
    (update,) = (
        each for each in steps.actions if isinstance(each, Save) and each.subresource == "status"
    )
    return update.document["status"]
