"""Pods and configurations for the tests of this room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.errors import RefletError
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectKey, ObjectsInHand
from reflet.resolution.resource_fields import UNKNOWN_NODE
from reflet.resolution.volumes.volume_contents import configuration_volumes, resolve_volume
from reflet.supervisor.container_configuration import ContainerConfiguration, of_container


def pod(
    container: Mapping[str, Any] | None = None,
    volumes: list[Mapping[str, Any]] | None = None,
    **spec: Any,
) -> Pod:
    """A pod with one container, ``main``."""
    made = codec.decode_object(
        codec.encode(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "web", "namespace": "shop", "uid": "1"},
                "spec": {
                    "enableServiceLinks": False,
                    "volumes": volumes or [],
                    "containers": [{"name": "main", **(container or {})}],
                    **spec,
                },
            }
        )
    )
    assert isinstance(made, Pod)
    return made


def config_map(name: str, /, **data: str) -> ConfigMap:
    made = codec.decode_object(
        codec.encode(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": "shop"},
                "data": data,
            }
        )
    )
    assert isinstance(made, ConfigMap)
    return made


def resolved(
    subject: Pod,
    *objects: ConfigMap | Secret,
    failures: Mapping[ObjectKey, RefletError] | None = None,
) -> ContainerConfiguration:
    """What the container gets when these objects are there, and others cannot be read."""
    there = ObjectsInHand(objects, failures=failures or {})
    result = ResolvedPod(
        pod=subject,
        environments={
            "main": resolve_environment(subject, "main", there, node=UNKNOWN_NODE, services=())
        },
        volumes={
            name: resolve_volume(subject, name, there, node=UNKNOWN_NODE)
            for name in configuration_volumes(subject)
        },
    )
    return of_container(result, "main")
