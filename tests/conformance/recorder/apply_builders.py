"""What scenes of server-side apply are made of."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorder.scenes import (
    Request,
    Scene,
    config_map,
    whole,
)


def scene(name: str, *requests: Request, kind: str = "ConfigMap") -> Scene:
    """Requests of which the last is the one to record."""
    *before, request = requests
    return Scene(f"apply: {name}", kind, tuple(before), request)


def labels(**values: str) -> dict[str, Any]:
    """A ConfigMap with labels and nothing else."""
    return config_map(metadata={"labels": values})


def just_containers(*containers: Any, kind: str = "Pod", **fields: Any) -> dict[str, Any]:
    """A pod of which only the containers are said."""
    return whole("v1", kind, {"spec": {"containers": list(containers), **fields}})


def template(*containers: Any, **fields: Any) -> dict[str, Any]:
    """A deployment of which only the template is said."""
    spec = {"containers": list(containers), **fields}
    return whole("apps/v1", "Deployment", {"spec": {"template": {"spec": spec}}})
