"""Admission: whether this agent runs a pod at all, and as whom its containers run.

``refusals_of`` says everything that a pod asks for and a runtime of processes does not give; a pod
with refusals ends as Failed, "Pod was rejected", before anything is made for it.  ``left_out_of``
says what a pod asks for and does without.  Whom containers run as is decided here, too, because
it is what most refusals are about: ``run_as`` and, from the flags of the administrator,
``grants_of``.

A range of ``--allow-users`` never holds somebody who has a name on this machine: else
``1000-2000`` would let a pod be a user who logs in here.

Everything here is pure: a pod and an ``Allowance`` in, words out.  Accounts are handed in.

Upstream: pkg/kubelet/kubelet.go, HandlePodAdditions (admission, rejectPod);
pkg/kubelet/lifecycle/interfaces.go, PodAdmitHandler;
pkg/kubelet/kuberuntime/security_context_others.go, verifyRunAsNonRoot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod, PodSecurityContext, PodSpec
from reflet.api.core.volumes import Volume
from reflet.errors import ConfigurationError
from reflet.resolution.places import PlacedContainer, containers_of

REFUSED: Final = "ProcessRuntimeRefused"
"""The reason of the status and of the event of a pod that is not run."""

IMAGES_REFUSED: Final = "UnexpectedAdmissionError"
"""The same where containers are real ones, by the kubelet's name for it."""

SYSCTL_FORBIDDEN: Final = "SysctlForbidden"
SAFE_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
    }
)
"""Kernel parameters that belong to a pod alone.  Upstream: pkg/kubelet/sysctl/safe_sysctls.go"""

USERS_FLAG: Final = "--allow-users"
GROUPS_FLAG: Final = "--allow-groups"
LARGEST_ID: Final = 2**32 - 2  # the next one means "no change" to the kernel
ROOT: Final = 0

_RANGE: Final = re.compile(r"([0-9]{1,10})-([0-9]{1,10})")
_NUMBER: Final = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """What the machine knows: users by name, each with number and group, and groups by name."""

    users: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    groups: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedIds:
    """Numbers of users, or of groups, that pods may have.

    One that is in *taken* belongs to somebody of this machine and is in no range: only
    *named* gives it.
    """

    ranges: tuple[range, ...] = ()
    named: frozenset[int] = frozenset()
    taken: frozenset[int] = frozenset()

    def __contains__(self, number: int) -> bool:
        if number in self.named:
            return True
        return number not in self.taken and any(number in each for each in self.ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdGrants:
    """Whom pods may be besides the agent's own choice; *own_groups* are those of known users."""

    users: GrantedIds = field(default_factory=GrantedIds)
    groups: GrantedIds = field(default_factory=GrantedIds)
    own_groups: Mapping[int, int] = field(default_factory=dict)

    def group_of(self, user: int) -> int:
        """The group of a user that names none: its own of this machine, or the same number.

        Not one that all pods share: the folder of a pod is open to the group of its container,
        and users of their own are what keeps pods apart.
        """
        return self.own_groups.get(user, user)


NOBODY_ELSE: Final = IdGrants()
_FILLED: Final = ("config_map", "secret", "downward_api", "projected", "empty_dir", "host_path")


@dataclass(frozen=True, slots=True)
class RunAs:
    """Whom a container's process runs as; ``None`` for whom the agent runs as."""

    user: int | None = None
    group: int | None = None
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What this agent gives.

    *namespaces* are the only ones whose pods are run, all when there are none.  *host_paths* are
    the folders below which pods may name paths of this machine.  *own_user*, *own_group* and
    *own_groups* are those of the agent; *default* is whom containers run as that do not say, and
    *grants* whom they may be besides.  With *isolates*, containers have namespaces of their own
    and see only *shared* of the machine.  With *runs_images* they are real ones, which a container
    runtime gives everything that a kubelet would; paths of this machine are still the
    administrator's to give.
    """

    namespaces: frozenset[str] = frozenset()
    host_paths: tuple[str, ...] = ()
    own_user: int = ROOT
    own_group: int = ROOT
    own_groups: frozenset[int] = frozenset()
    default: RunAs = RunAs()
    grants: IdGrants = NOBODY_ELSE
    isolates: bool = False
    shared: tuple[tuple[str, bool], ...] = ()
    runs_images: bool = False

    @property
    def is_root(self) -> bool:
        """Whether the agent may become anybody."""
        return self.own_user == ROOT

    @property
    def gives_root(self) -> bool:
        """Whether a container may be root: only when that was said."""
        return self.is_root and self.default.user in {None, ROOT}


def refusals_of(pod: Pod, allowance: Allowance) -> tuple[str, ...]:
    """Say everything that the pod asks for and does not get; nothing means that it may run."""
    return tuple(_refusals(pod, allowance))


def refused_reason(pod: Pod, allowance: Allowance) -> str:
    """The reason of a pod that has refusals."""
    if not allowance.runs_images:
        return REFUSED
    context = pod.spec.security_context or PodSecurityContext()
    unsafe = any(each.name not in SAFE_SYSCTLS for each in context.sysctls)
    return SYSCTL_FORBIDDEN if unsafe else IMAGES_REFUSED


def left_out_of(pod: Pod, allowance: Allowance) -> tuple[str, ...]:
    """Say what the pod asks for and does without, although it runs."""
    said: list[str] = []
    if allowance.runs_images:
        return tuple(
            f"the stopSignal of container {placed.container.name} is not used: its image's is"
            for placed in _admitted(pod.spec)
            if placed.container.lifecycle.get("stopSignal")
        )
    if pod.spec.share_process_namespace:
        said.append("the containers do not see each other's processes")
    for placed in _admitted(pod.spec):
        container = placed.container
        if container.lifecycle.get("stopSignal"):
            said.append(
                f"the stopSignal of container {container.name} is not used: it is told to end "
                "with SIGTERM"
            )
        if container.tty:
            said.append(f"container {container.name} has no terminal")
        if container.resources.limits:
            said.append(f"the limits of container {container.name} are not enforced")
    return tuple(said)


def run_as(pod: Pod, container: Container, allowance: Allowance) -> RunAs:
    """Whom a container runs as; its own settings come first, then the pod's, then the agent's."""
    context = pod.spec.security_context or PodSecurityContext()
    user, group = _asked_for(pod, container)
    default = allowance.default
    groups = set(context.supplemental_groups) | set(default.groups)
    if context.fs_group is not None:
        groups.add(context.fs_group)
    if user is None:
        user, group = default.user, default.group if group is None else group
    elif group is None and allowance.is_root:
        # A user without a group of its own must not keep the agent's.
        group = default.group if user == default.user else allowance.grants.group_of(user)
    return RunAs(user, group, tuple(sorted(groups)))


def _asked_for(pod: Pod, container: Container) -> tuple[int | None, int | None]:
    """The runAsUser and runAsGroup that a container has, its own before the pod's."""
    context = pod.spec.security_context or PodSecurityContext()
    own = container.security_context
    user = context.run_as_user if own is None or own.run_as_user is None else own.run_as_user
    group = context.run_as_group if own is None or own.run_as_group is None else own.run_as_group
    return user, group


def root_refusal(pod: Pod, container: Container, who: RunAs, allowance: Allowance) -> str | None:
    """What the kubelet says to a container that must not be root and would be."""
    context = pod.spec.security_context or PodSecurityContext()
    own = container.security_context
    must_not = (
        context.run_as_non_root
        if own is None or own.run_as_non_root is None
        else own.run_as_non_root
    )
    user = allowance.own_user if who.user is None else who.user
    if not must_not or user != ROOT:
        return None
    return "container's runAsUser breaks non-root policy"


def _refusals(pod: Pod, allowance: Allowance) -> Iterator[str]:
    namespace, spec = pod.metadata.namespace, pod.spec
    if allowance.namespaces and namespace not in allowance.namespaces:
        allowed = ", ".join(sorted(allowance.namespaces))
        yield f"namespace {namespace} is not among those of this agent: {allowed}"
    for index, volume in enumerate(spec.volumes):
        yield from _volume_refusals(index, volume, allowance)
    if allowance.runs_images:
        yield from _image_refusals(pod)
    else:
        yield from _process_refusals(pod, allowance)


def _admitted(spec: PodSpec) -> Iterator[PlacedContainer]:
    """What a pod is admitted for: not what was added while it runs, which must not end it."""
    return (each for each in containers_of(spec) if "ephemeral" not in each.path)


def _image_refusals(pod: Pod) -> Iterator[str]:
    """What a pod in real containers does not get either."""
    context = pod.spec.security_context or PodSecurityContext()
    for sysctl in context.sysctls:
        if sysctl.name not in SAFE_SYSCTLS:
            yield f'forbidden sysctl: "{sysctl.name}" not allowlisted'
        elif pod.spec.host_network and sysctl.name.startswith("net."):
            yield f'forbidden sysctl: "{sysctl.name}" not allowed with host net enabled'
        elif pod.spec.host_ipc and sysctl.name.startswith("kernel.shm"):
            yield f'forbidden sysctl: "{sysctl.name}" not allowed with host ipc enabled'
    if context.windows_options:
        yield "spec.securityContext: windows options are not supported"
    if pod.spec.host_users is False:
        yield "spec.hostUsers: pods get no user namespaces of their own here"
    for placed in _admitted(pod.spec):
        if placed.container.volume_devices:
            yield f"{placed.path} ({placed.container.name}): block devices are not given to pods"


def _process_refusals(pod: Pod, allowance: Allowance) -> Iterator[str]:
    """What a pod asks for and processes do not give."""
    spec = pod.spec
    if spec.runtime_class_name:
        yield f"spec.runtimeClassName: there is no runtime {spec.runtime_class_name!r} here"
    for name, is_asked in (
        ("hostNetwork", spec.host_network),
        ("hostPID", spec.host_pid),
        ("hostIPC", spec.host_ipc),
    ):
        if is_asked:
            yield f"spec.{name}: namespaces of the host are not given to pods"
    context = spec.security_context
    if context is not None:
        yield from _pod_context_refusals(context, allowance)
    for placed in _admitted(spec):
        yield from _container_refusals(pod, placed, allowance)


def _pod_context_refusals(context: PodSecurityContext, allowance: Allowance) -> Iterator[str]:
    where = "spec.securityContext"
    if context.sysctls:
        yield f"{where}.sysctls: kernel parameters are not changed for pods"
    for option in ("se_linux_options", "windows_options"):
        if getattr(context, option):
            yield f"{where}: {option.replace('_', ' ')} are not supported"
    asked = [("fsGroup", context.fs_group)] if context.fs_group is not None else []
    asked += [("supplementalGroups", group) for group in context.supplemental_groups]
    for name, group in dict.fromkeys(asked):
        if not _may_be_in(group, allowance):
            yield f"{where}.{name}: group {_not_given(group, GROUPS_FLAG, allowance)}"


def _volume_refusals(index: int, volume: Volume, allowance: Allowance) -> Iterator[str]:
    where = f"spec.volumes[{index}] ({volume.name})"
    if volume.host_path is not None:
        path = PurePosixPath(volume.host_path.path)
        if ".." in path.parts or not path.is_absolute():
            yield f"{where}: hostPath {path} is not an absolute path without '..'"
        elif not any(path.is_relative_to(allowed) for allowed in allowance.host_paths):
            allowed = ", ".join(allowance.host_paths) or "none"
            yield f"{where}: hostPath {path} is not below a path that is allowed here ({allowed})"
    elif all(getattr(volume, source) is None for source in _FILLED):
        yield f"{where}: only configMap, secret, downwardAPI, projected, emptyDir and hostPath"


def _container_refusals(pod: Pod, placed: PlacedContainer, allowance: Allowance) -> Iterator[str]:
    container, where = placed.container, f"{placed.path} ({placed.container.name})"
    if not container.command:
        yield (
            f"{where}: it has an image and no command; this is a runtime for processes, which "
            "runs commands and no images"
        )
    if container.volume_devices:
        yield f"{where}: block devices are not given to pods"
    context = container.security_context
    if context is not None:
        if context.privileged:
            yield f"{where}: privileged containers are not run"
        if context.capabilities is not None and context.capabilities.add:
            added = ", ".join(context.capabilities.add)
            yield f"{where}: capabilities are not added ({added})"
        if context.proc_mount not in {"", "Default"}:
            yield f"{where}: procMount {context.proc_mount} is not supported"
        if context.read_only_root_filesystem and not allowance.isolates:
            yield f"{where}: readOnlyRootFilesystem cannot be kept without a file system of its own"
        if context.se_linux_options or context.windows_options:
            yield f"{where}: SELinux and Windows options are not supported"
    refusal = _identity_refusal(pod, container, allowance)
    if refusal:
        yield f"{where}: {refusal}"


def _identity_refusal(pod: Pod, container: Container, allowance: Allowance) -> str:
    who = run_as(pod, container, allowance)
    _, asked_group = _asked_for(pod, container)
    if who.user is not None and not _may_be(who.user, allowance):
        return f"runAsUser {_not_given(who.user, USERS_FLAG, allowance)}"
    if who.group is None or _may_be_in(who.group, allowance):
        return ""
    if asked_group is not None:
        return f"runAsGroup {_not_given(who.group, GROUPS_FLAG, allowance)}"
    return (
        f"runAsUser {who.user} comes with group {who.group}, which is not given here: say another "
        f"runAsGroup, or {GROUPS_FLAG} {who.group} would allow it"
    )


def _not_given(number: int, flag: str, allowance: Allowance) -> str:
    if not allowance.is_root:
        return f"{number} is not given here: the agent is not root and gives only its own"
    way = "--user root" if number == ROOT else f"{flag} {number}"
    return f"{number} is not given here: {way} would allow it"


def _may_be(user: int, allowance: Allowance) -> bool:
    if not allowance.is_root:
        return user == allowance.own_user
    if user == ROOT:
        return allowance.gives_root
    return user == allowance.default.user or user in allowance.grants.users


def _may_be_in(group: int, allowance: Allowance) -> bool:
    if not allowance.is_root:
        return group == allowance.own_group or group in allowance.own_groups
    if group == ROOT and allowance.gives_root:
        return True
    return group == allowance.default.group or group in allowance.grants.groups


# The words of --allow-users and --allow-groups


def grants_of(users: Iterable[str], groups: Iterable[str], accounts: Accounts) -> IdGrants:
    """Read what the flags name; ConfigurationError names the flag and the mistake.

    Whoever may be a user may have that user's group, too: the pod could run as that user.
    """
    known_users = {name: number for name, (number, _) in accounts.users.items()}
    user_ranges, named_users = _read(users, known_users, USERS_FLAG, "user")
    group_ranges, named_groups = _read(groups, accounts.groups, GROUPS_FLAG, "group")
    own_groups = {
        number: group
        for number, group in accounts.users.values()
        if number in named_users and group != ROOT
    }
    alone = tuple(range(each, each + 1) for each in sorted(named_users - own_groups.keys()))
    return IdGrants(
        users=GrantedIds(
            ranges=user_ranges, named=named_users, taken=frozenset(known_users.values())
        ),
        groups=GrantedIds(
            ranges=(*group_ranges, *user_ranges, *alone),
            named=named_groups | frozenset(own_groups.values()),
            taken=frozenset(accounts.groups.values()),
        ),
        own_groups=own_groups,
    )


def _read(
    texts: Iterable[str], known: Mapping[str, int], flag: str, kind: str
) -> tuple[tuple[range, ...], frozenset[int]]:
    ranges: list[range] = []
    named: set[int] = set()
    for text in texts:
        if (found := _RANGE.fullmatch(text)) is not None:
            ranges.append(_range(int(found[1]), int(found[2]), f"{flag} {text}"))
        elif _NUMBER.fullmatch(text):
            named.add(_checked(int(text), f"{flag} {text}"))
        elif text in known:
            named.add(_checked(known[text], f"{flag} {text}"))
        else:
            raise ConfigurationError(
                f"{flag}: {text!r} is neither a {kind} of this machine, nor a number, nor a range "
                "as 5000-5999"
            )
    return tuple(ranges), frozenset(named)


def _range(first: int, last: int, where: str) -> range:
    _checked(first, where)
    _checked(last, where)
    if first > last:
        raise ConfigurationError(f"{where}: the range ends before it begins")
    return range(first, last + 1)


def _checked(number: int, where: str) -> int:
    if number == ROOT:
        raise ConfigurationError(f"{where}: root, which is 0, is given by --user alone")
    if number > LARGEST_ID:
        raise ConfigurationError(f"{where}: the largest number is {LARGEST_ID}")
    return number
