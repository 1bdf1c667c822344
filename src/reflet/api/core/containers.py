"""Containers of a pod: their environment, mounts, resources, probes and security settings.

Upstream: k8s.io/api/core/v1/types.go, Container, EnvVarSource, VolumeMount, Probe
"""

from collections.abc import Mapping
from typing import Any

from reflet.api.frozen import EMPTY, Frozen, QuantityText


class ObjectFieldSelector(Frozen, frozen=True, kw_only=True):
    """A field of the pod itself."""

    api_version: str = ""
    field_path: str = ""


class ResourceFieldSelector(Frozen, frozen=True, kw_only=True):
    """A resource limit or request of a container, divided by ``divisor``."""

    container_name: str = ""
    resource: str = ""
    divisor: QuantityText = ""


class ConfigMapKeySelector(Frozen, frozen=True, kw_only=True):
    """One key of a ConfigMap."""

    name: str = ""
    key: str = ""
    optional: bool = False


class SecretKeySelector(Frozen, frozen=True, kw_only=True):
    """One key of a Secret."""

    name: str = ""
    key: str = ""
    optional: bool = False


class FileKeySelector(Frozen, frozen=True, kw_only=True):
    """One variable of an environment file in a volume."""

    volume_name: str = ""
    path: str = ""
    key: str = ""
    optional: bool = False


class EnvVarSource(Frozen, frozen=True, kw_only=True):
    """Where one variable comes from; the first that is there counts, in this order."""

    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    config_map_key_ref: ConfigMapKeySelector | None = None
    secret_key_ref: SecretKeySelector | None = None
    file_key_ref: FileKeySelector | None = None


class EnvVar(Frozen, frozen=True, kw_only=True):
    """One environment variable: its value, or where the value comes from."""

    name: str = ""
    value: str = ""
    value_from: EnvVarSource | None = None


class ConfigMapEnvSource(Frozen, frozen=True, kw_only=True):
    """All keys of a ConfigMap."""

    name: str = ""
    optional: bool = False


class SecretEnvSource(Frozen, frozen=True, kw_only=True):
    """All keys of a Secret."""

    name: str = ""
    optional: bool = False


class EnvFromSource(Frozen, frozen=True, kw_only=True):
    """A whole ConfigMap or Secret as variables, each name with the prefix."""

    prefix: str = ""
    config_map_ref: ConfigMapEnvSource | None = None
    secret_ref: SecretEnvSource | None = None


class ResourceClaim(Frozen, frozen=True, kw_only=True):
    """A dynamic resource that the container uses."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Frozen, frozen=True, kw_only=True):
    """Amounts by resource name, as the text of quantities."""

    limits: Mapping[str, QuantityText] = EMPTY
    requests: Mapping[str, QuantityText] = EMPTY
    claims: tuple[ResourceClaim, ...] = ()


class VolumeMount(Frozen, frozen=True, kw_only=True):
    """Where a volume, or a path inside it, appears in the container."""

    name: str = ""
    mount_path: str = ""
    sub_path: str = ""
    sub_path_expr: str = ""
    read_only: bool = False
    recursive_read_only: str = ""
    mount_propagation: str = ""


class VolumeDevice(Frozen, frozen=True, kw_only=True):
    """Where a raw block volume appears in the container."""

    name: str = ""
    device_path: str = ""


class ContainerPort(Frozen, frozen=True, kw_only=True):
    """A port that the container listens on."""

    name: str = ""
    container_port: int = 0
    host_port: int = 0
    protocol: str = ""
    host_ip: str = ""


class Capabilities(Frozen, frozen=True, kw_only=True):
    """POSIX capabilities that are added and dropped."""

    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class SecurityContext(Frozen, frozen=True, kw_only=True):
    """Who the container runs as and what it may do; absence means the pod's setting."""

    run_as_user: int | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    privileged: bool | None = None
    read_only_root_filesystem: bool | None = None
    allow_privilege_escalation: bool | None = None
    proc_mount: str = ""
    capabilities: Capabilities | None = None
    se_linux_options: Mapping[str, str] = EMPTY
    windows_options: Mapping[str, Any] = EMPTY
    seccomp_profile: Mapping[str, str] = EMPTY
    app_armor_profile: Mapping[str, str] = EMPTY


class Container(Frozen, frozen=True, kw_only=True):
    """One container of a pod; probes and lifecycle hooks are kept as they were sent."""

    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    ports: tuple[ContainerPort, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    env: tuple[EnvVar, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    volume_mounts: tuple[VolumeMount, ...] = ()
    volume_devices: tuple[VolumeDevice, ...] = ()
    liveness_probe: Mapping[str, Any] = EMPTY
    readiness_probe: Mapping[str, Any] = EMPTY
    startup_probe: Mapping[str, Any] = EMPTY
    lifecycle: Mapping[str, Any] = EMPTY
    termination_message_path: str = ""
    termination_message_policy: str = ""
    image_pull_policy: str = ""
    security_context: SecurityContext | None = None
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False


class EphemeralContainer(Container, frozen=True, kw_only=True):
    """A container that was added to a running pod, for debugging."""

    target_container_name: str = ""
