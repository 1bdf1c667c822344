"""Small documents to decide about, as the server would store them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

NOW = datetime(2025, 1, 1, 12, tzinfo=UTC)
Document = dict[str, Any]


def at(seconds: float) -> str:
    return (NOW + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def metadata(name: str, **more: Any) -> Document:
    return {
        "name": name,
        "namespace": "shop",
        "uid": f"uid of {name}",
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
