"""Pods that refer to ConfigMaps and Secrets."""

from __future__ import annotations

from collections.abc import Iterable

from reflet.api.core.containers import ConfigMapEnvSource, Container, EnvFromSource, SecretEnvSource
from reflet.api.core.pods import Pod, PodSpec, PodStatus
from reflet.api.meta import ObjectMeta


def pod(
    name: str,
    *config_maps: str,
    secrets: Iterable[str] = (),
    uid: str = "",
    namespace: str = "shop",
    phase: str = "",
    annotations: dict[str, str] | None = None,
    version: str = "",
) -> Pod:
    """A pod that takes its variables from *config_maps* and *secrets*."""
    sources = [
        *(EnvFromSource(config_map_ref=ConfigMapEnvSource(name=each)) for each in config_maps),
        *(EnvFromSource(secret_ref=SecretEnvSource(name=each)) for each in secrets),
    ]
    metadata = ObjectMeta(
        name=name,
        namespace=namespace,
        uid=uid or f"uid of {name}",
        annotations=annotations or {},
        resource_version=version,
    )
    spec = PodSpec(containers=(Container(name="app", env_from=tuple(sources)),))
    return Pod(metadata=metadata, spec=spec, status=PodStatus(phase=phase))
