"""What a pod's containers may do: users, groups, capabilities, namespaces, profiles.

Pure.  ``user_refusal`` is what the kubelet says to a container that must not be root.

Upstream: pkg/kubelet/kuberuntime/security_context.go, security_context_others.go;
pkg/kubelet/kuberuntime/helpers.go, getSeccompProfile; pkg/securitycontext/util.go
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from reflet.api.core.containers import Container, SecurityContext
from reflet.api.core.pods import Pod, PodSecurityContext
from reflet.cri.messages.images import Image
from reflet.cri.messages.isolation import (
    Capability,
    Int64Value,
    LinuxContainerSecurityContext,
    LinuxSandboxSecurityContext,
    NamespaceMode,
    NamespaceOption,
    ProfileType,
    SecurityProfile,
    SELinuxOption,
    SupplementalGroupsPolicy,
)
from reflet.resolution.places import containers_of

ROOT: Final = 0
MASKED_PATHS: Final = (
    *("/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys"),
    *("/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug"),
    "/proc/scsi",
    *("/sys/firmware", "/sys/devices/virtual/powercap"),
)
READ_ONLY_PATHS: Final = (
    *("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"),
)
_PROFILES: Final = {
    "RuntimeDefault": ProfileType.RUNTIME_DEFAULT,
    "Unconfined": ProfileType.UNCONFINED,
    "Localhost": ProfileType.LOCALHOST,
}
_NOTHING: Final = SecurityContext()
_NOTHING_OF_POD: Final = PodSecurityContext()


def namespaces_of(pod: Pod) -> NamespaceOption:
    """Which namespaces a pod has of its own, and which are the node's."""
    spec = pod.spec
    own, node = NamespaceMode.POD, NamespaceMode.NODE
    pid = NamespaceMode.POD if spec.share_process_namespace else NamespaceMode.CONTAINER
    return NamespaceOption(
        network=node if spec.host_network else own,
        pid=node if spec.host_pid else pid,
        ipc=node if spec.host_ipc else own,
    )


def sandbox_rights(pod: Pod) -> LinuxSandboxSecurityContext:
    """The rights of the process that holds a pod's namespaces."""
    context = pod.spec.security_context or _NOTHING_OF_POD
    privileged = any(
        bool((each.container.security_context or _NOTHING).privileged)
        for each in containers_of(pod.spec)
    )
    return LinuxSandboxSecurityContext(
        namespace_options=namespaces_of(pod),
        selinux_options=_selinux(context.se_linux_options),
        run_as_user=_number(context.run_as_user),
        run_as_group=_number(context.run_as_group),
        supplemental_groups=_groups(context),
        supplemental_groups_policy=_policy(context),
        privileged=privileged,
        seccomp=SecurityProfile(profile_type=ProfileType.RUNTIME_DEFAULT),
    )


def container_rights(
    pod: Pod, container: Container, image: Image, *, profiles: Path, target: str = ""
) -> LinuxContainerSecurityContext:
    """The rights of a container; *profiles* is the folder of seccomp profiles of this node.

    *target* is the id of a container whose processes it sees.
    """
    context = pod.spec.security_context or _NOTHING_OF_POD
    own = container.security_context or _NOTHING
    user = context.run_as_user if own.run_as_user is None else own.run_as_user
    group = context.run_as_group if own.run_as_group is None else own.run_as_group
    capabilities = own.capabilities
    unmasked = own.proc_mount == "Unmasked"
    return LinuxContainerSecurityContext(
        capabilities=None
        if capabilities is None
        else Capability(add_capabilities=capabilities.add, drop_capabilities=capabilities.drop),
        privileged=bool(own.privileged),
        namespace_options=_targeting(namespaces_of(pod), target),
        selinux_options=_selinux(own.se_linux_options or context.se_linux_options),
        run_as_user=image.uid if user is None else _number(user),
        run_as_group=_number(group),
        readonly_rootfs=bool(own.read_only_root_filesystem),
        supplemental_groups=_groups(context),
        supplemental_groups_policy=_policy(context),
        no_new_privs=own.allow_privilege_escalation is False,
        masked_paths=() if unmasked else MASKED_PATHS,
        readonly_paths=() if unmasked else READ_ONLY_PATHS,
        seccomp=_seccomp(own.seccomp_profile or context.seccomp_profile, profiles),
        apparmor=_app_armor(own.app_armor_profile or context.app_armor_profile),
    )


def user_refusal(pod: Pod, container: Container, image: Image) -> str | None:
    """Why a container that must not be root may be; None when all is well."""
    context = pod.spec.security_context or _NOTHING_OF_POD
    own = container.security_context or _NOTHING
    must_not = context.run_as_non_root if own.run_as_non_root is None else own.run_as_non_root
    if not must_not:
        return None
    metadata = pod.metadata
    identity = f"{metadata.name}_{metadata.namespace}({metadata.uid})"
    where = f'(pod: "{identity}", container: {container.name})'
    user = context.run_as_user if own.run_as_user is None else own.run_as_user
    if user is not None:
        if user == ROOT:
            return f"container's runAsUser breaks non-root policy {where}"
        return None
    if image.uid is None and image.username:
        return (
            f"container has runAsNonRoot and image has non-numeric user ({image.username}), "
            f"cannot verify user is non-root {where}"
        )
    # An image that names no user runs as root, and the runtime then reports none.
    if image.uid is None or image.uid.value == ROOT:
        return f"container has runAsNonRoot and image will run as root {where}"
    return None


def _targeting(options: NamespaceOption, target: str) -> NamespaceOption:
    # Where processes are seen by all containers anyway, there is nothing to join.
    if not target or options.pid is not NamespaceMode.CONTAINER:
        return options
    return replace(options, pid=NamespaceMode.TARGET, target_id=target)


def _number(value: int | None) -> Int64Value | None:
    return None if value is None else Int64Value(value=value)


def _groups(context: PodSecurityContext) -> tuple[int, ...]:
    first = () if context.fs_group is None else (context.fs_group,)
    return (*first, *context.supplemental_groups)


def _policy(context: PodSecurityContext) -> SupplementalGroupsPolicy:
    if context.supplemental_groups_policy == "Strict":
        return SupplementalGroupsPolicy.STRICT
    return SupplementalGroupsPolicy.MERGE


def _selinux(options: Mapping[str, str]) -> SELinuxOption | None:
    return SELinuxOption(**options) if options else None


def _seccomp(profile: Mapping[str, str], folder: Path) -> SecurityProfile:
    kind = _PROFILES.get(profile.get("type", ""), ProfileType.UNCONFINED)
    if kind is ProfileType.LOCALHOST:
        path = folder / profile.get("localhostProfile", "")
        return SecurityProfile(profile_type=kind, localhost_ref=str(path))
    return SecurityProfile(profile_type=kind)


def _app_armor(profile: Mapping[str, str]) -> SecurityProfile | None:
    kind = _PROFILES.get(profile.get("type", ""))
    if kind is None:
        return None
    if kind is ProfileType.LOCALHOST:
        return SecurityProfile(profile_type=kind, localhost_ref=profile.get("localhostProfile", ""))
    return SecurityProfile(profile_type=kind)
