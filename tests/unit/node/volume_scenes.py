"""Pods with volumes, resolved and laid out without a server, for tests of the node agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY
from reflet.api.meta import ObjectMeta
from reflet.node.pods.container_mounts import MountSource, mount_layout
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.volumes.volume_contents import configuration_volumes, resolve_volume
from tests.unit.node.pod_scenes import container, only, pod

CONF = {"name": "conf", "configMap": {"name": "settings", "defaultMode": 0o644}}


def resolved(of: Pod, **data: str) -> ResolvedPod:
    settings = ConfigMap(metadata=ObjectMeta(name="settings", namespace="shop"), data=data)
    objects = ObjectsInHand([settings] if data else [])
    return ResolvedPod(
        pod=of,
        environments={"main": resolve_environment(of, "main", objects)},
        volumes={name: resolve_volume(of, name, objects) for name in configuration_volumes(of)},
    )


def mounted(*mounts: dict[str, Any], **spec: Any) -> Pod:
    return pod(container(volumeMounts=list(mounts)), enableServiceLinks=True, **spec)


def laid_out(
    volumes: PodVolumes, contents: ResolvedPod, variables: Mapping[str, str] = EMPTY
) -> Path:
    """The root of the only container, laid out for a start."""
    of = contents.pod
    layout = mount_layout(only(of), variables)
    return volumes.lay_out(of, "main", layout, contents.volumes, Path("/dev/null"))


def sources_of(volumes: PodVolumes, contents: ResolvedPod) -> tuple[MountSource, ...]:
    of = contents.pod
    return volumes.mount_sources(of, "main", mount_layout(only(of), {}), contents.volumes)
