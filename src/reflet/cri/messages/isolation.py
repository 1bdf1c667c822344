"""Namespaces, rights and limits of sandboxes and containers.

Upstream: k8s.io/cri-api/pkg/apis/runtime/v1/api.proto
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated

from reflet.cri.wire import CriMessage, Int64, Uint32, Uint64


class NamespaceMode(IntEnum):
    """Whose namespace it is."""

    POD = 0
    CONTAINER = 1
    NODE = 2
    TARGET = 3


class IDMapping(CriMessage, frozen=True, kw_only=True):
    """A range of ids inside, and where it begins on the node."""

    host_id: Annotated[Uint32, 1] = 0
    container_id: Annotated[Uint32, 2] = 0
    length: Annotated[Uint32, 3] = 0


class UserNamespace(CriMessage, frozen=True, kw_only=True):
    """Whether ids are mapped, and how."""

    mode: Annotated[NamespaceMode, 1] = NamespaceMode.POD
    uids: Annotated[tuple[IDMapping, ...], 2] = ()
    gids: Annotated[tuple[IDMapping, ...], 3] = ()


class NamespaceOption(CriMessage, frozen=True, kw_only=True):
    """Which namespaces are shared, and with whom."""

    network: Annotated[NamespaceMode, 1] = NamespaceMode.POD
    pid: Annotated[NamespaceMode, 2] = NamespaceMode.POD
    ipc: Annotated[NamespaceMode, 3] = NamespaceMode.POD
    target_id: Annotated[str, 4] = ""
    userns_options: Annotated[UserNamespace | None, 5] = None


class SupplementalGroupsPolicy(IntEnum):
    """Whether the groups of the image's ``/etc/group`` count too."""

    MERGE = 0
    STRICT = 1


class Int64Value(CriMessage, frozen=True, kw_only=True):
    """A number that may be missing: 0 is a user."""

    value: Annotated[Int64, 1] = 0


class ProfileType(IntEnum):
    """Where a profile comes from."""

    RUNTIME_DEFAULT = 0
    UNCONFINED = 1
    LOCALHOST = 2


class SecurityProfile(CriMessage, frozen=True, kw_only=True):
    """A seccomp or AppArmor profile; *localhost_ref* is its path or name."""

    profile_type: Annotated[ProfileType, 1] = ProfileType.RUNTIME_DEFAULT
    localhost_ref: Annotated[str, 2] = ""


class SELinuxOption(CriMessage, frozen=True, kw_only=True):
    """A SELinux label."""

    user: Annotated[str, 1] = ""
    role: Annotated[str, 2] = ""
    type: Annotated[str, 3] = ""
    level: Annotated[str, 4] = ""


class Capability(CriMessage, frozen=True, kw_only=True):
    """Capabilities that are added to and dropped from the runtime's own."""

    add_capabilities: Annotated[tuple[str, ...], 1] = ()
    drop_capabilities: Annotated[tuple[str, ...], 2] = ()
    add_ambient_capabilities: Annotated[tuple[str, ...], 3] = ()


class LinuxSandboxSecurityContext(CriMessage, frozen=True, kw_only=True):
    """The rights of the sandbox."""

    namespace_options: Annotated[NamespaceOption | None, 1] = None
    selinux_options: Annotated[SELinuxOption | None, 2] = None
    run_as_user: Annotated[Int64Value | None, 3] = None
    run_as_group: Annotated[Int64Value | None, 8] = None
    readonly_rootfs: Annotated[bool, 4] = False
    supplemental_groups: Annotated[tuple[Int64, ...], 5] = ()
    supplemental_groups_policy: Annotated[SupplementalGroupsPolicy, 11] = (
        SupplementalGroupsPolicy.MERGE
    )
    privileged: Annotated[bool, 6] = False
    seccomp: Annotated[SecurityProfile | None, 9] = None
    apparmor: Annotated[SecurityProfile | None, 10] = None


class LinuxContainerSecurityContext(CriMessage, frozen=True, kw_only=True):
    """The rights of a container."""

    capabilities: Annotated[Capability | None, 1] = None
    privileged: Annotated[bool, 2] = False
    namespace_options: Annotated[NamespaceOption | None, 3] = None
    selinux_options: Annotated[SELinuxOption | None, 4] = None
    run_as_user: Annotated[Int64Value | None, 5] = None
    run_as_group: Annotated[Int64Value | None, 12] = None
    readonly_rootfs: Annotated[bool, 7] = False
    supplemental_groups: Annotated[tuple[Int64, ...], 8] = ()
    supplemental_groups_policy: Annotated[SupplementalGroupsPolicy, 17] = (
        SupplementalGroupsPolicy.MERGE
    )
    no_new_privs: Annotated[bool, 11] = False
    masked_paths: Annotated[tuple[str, ...], 13] = ()
    readonly_paths: Annotated[tuple[str, ...], 14] = ()
    seccomp: Annotated[SecurityProfile | None, 15] = None
    apparmor: Annotated[SecurityProfile | None, 16] = None


class HugepageLimit(CriMessage, frozen=True, kw_only=True):
    """How much of one page size."""

    page_size: Annotated[str, 1] = ""
    limit: Annotated[Uint64, 2] = 0


class LinuxContainerResources(CriMessage, frozen=True, kw_only=True):
    """Limits as cgroups have them; 0 is not given."""

    cpu_period: Annotated[Int64, 1] = 0
    cpu_quota: Annotated[Int64, 2] = 0
    cpu_shares: Annotated[Int64, 3] = 0
    memory_limit_in_bytes: Annotated[Int64, 4] = 0
    oom_score_adj: Annotated[Int64, 5] = 0
    cpuset_cpus: Annotated[str, 6] = ""
    cpuset_mems: Annotated[str, 7] = ""
    hugepage_limits: Annotated[tuple[HugepageLimit, ...], 8] = ()
    unified: Annotated[Mapping[str, str], 9] = {}
    memory_swap_limit_in_bytes: Annotated[Int64, 10] = 0
