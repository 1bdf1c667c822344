"""Pods with sidecars, as tests of several analyses need them.

Owns: the environment of a Grafana's sidecar.  Must not know what is asked about it.
"""

from __future__ import annotations

import json
from typing import Any, Final

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.workloads import Deployment
from reflet.api.meta import ObjectMeta

IMAGE: Final = "quay.io/kiwigrid/k8s-sidecar:2.10.1"
VARIABLES: Final = {"LABEL": "grafana_dashboard", "FOLDER": "/tmp/dashboards"}


def container(*, name: str = "dashboards", image: str = IMAGE, **more: Any) -> dict[str, Any]:
    """Return a sidecar; capital names are variables, a mapping is where one comes from."""
    own = {key: more.pop(key) for key in [*more] if key.isupper()}
    variables = {**VARIABLES, **own}
    env = [
        {"name": key, "valueFrom" if isinstance(value, dict) else "value": value}
        for key, value in variables.items()
        if value is not None
    ]
    return {"name": name, "image": image, "env": env, **more}


def pod(*containers: dict[str, Any], namespace: str = "monitoring") -> Pod:
    raw = {
        "metadata": {"name": "grafana", "namespace": namespace},
        "spec": {"containers": list(containers)},
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


def deployment(*containers: dict[str, Any], namespace: str = "monitoring") -> Deployment:
    raw = {
        "metadata": {"name": "grafana", "namespace": namespace},
        "spec": {"template": {"spec": {"containers": list(containers)}}},
    }
    return codec.decode(json.dumps(raw).encode(), Deployment)


def dashboard(name: str = "dash", namespace: str = "shop", **more: Any) -> ConfigMap:
    """Return a ConfigMap that is labelled for the sidecar, unless its labels are given."""
    labels = more.pop("labels", {"grafana_dashboard": "1"})
    metadata = ObjectMeta(
        name=name, namespace=namespace, labels=labels, annotations=more.pop("annotations", {})
    )
    return ConfigMap(metadata=metadata, data=more.pop("data", {"a.json": "{}"}), **more)


def secret(name: str = "dash", namespace: str = "shop", **data: bytes) -> Secret:
    metadata = ObjectMeta(name=name, namespace=namespace, labels={"grafana_dashboard": "1"})
    return Secret(metadata=metadata, data=data)
