"""What a pod asks for that a runtime of plain processes does not give.

Owns: the rules, and the words in which a pod is refused.  Only compares a pod with what the
agent allows; must not know how a process is started, nor read the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod, PodSecurityContext
from reflet.api.core.volumes import Volume
from reflet.node.pods.granted_ids import GROUPS_FLAG, NOBODY_ELSE, ROOT, USERS_FLAG, IdGrants
from reflet.resolution.places import PlacedContainer, containers_of

REFUSED: Final = "ProcessRuntimeRefused"
"""The reason of the status and of the event of a pod that is not run."""

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
    and see only *shared* of the machine.
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


def left_out_of(pod: Pod) -> tuple[str, ...]:
    """Say what the pod asks for and does without, although it runs."""
    said: list[str] = []
    if pod.spec.share_process_namespace:
        said.append("the containers do not see each other's processes")
    for placed in containers_of(pod.spec):
        container = placed.container
        if container.lifecycle.get("stopSignal"):
            said.append(
                f"the stopSignal of container {container.name} is not used: it is told to end "
                "with SIGTERM"
            )
        if container.stdin or container.tty:
            said.append(f"container {container.name} has neither input nor terminal")
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
    for field, is_asked in (
        ("hostNetwork", spec.host_network),
        ("hostPID", spec.host_pid),
        ("hostIPC", spec.host_ipc),
    ):
        if is_asked:
            yield f"spec.{field}: namespaces of the host are not given to pods"
    if spec.runtime_class_name:
        yield f"spec.runtimeClassName: there is no runtime {spec.runtime_class_name!r} here"
    context = spec.security_context
    if context is not None:
        yield from _pod_context_refusals(context, allowance)
    for index, volume in enumerate(spec.volumes):
        yield from _volume_refusals(index, volume, allowance)
    for placed in containers_of(spec):
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
    for field, group in dict.fromkeys(asked):
        if not _may_be_in(group, allowance):
            yield f"{where}.{field}: group {_not_given(group, GROUPS_FLAG, allowance)}"


def _volume_refusals(index: int, volume: Volume, allowance: Allowance) -> Iterator[str]:
    where = f"spec.volumes[{index}] ({volume.name})"
    if volume.host_path is not None:
        path = PurePosixPath(volume.host_path.path)
        if ".." in path.parts or not path.is_absolute():
            yield f"{where}: hostPath {path} is not an absolute path without '..'"
        elif not any(path.is_relative_to(allowed) for allowed in allowance.host_paths):
            allowed = ", ".join(allowance.host_paths) or "none"
            yield f"{where}: hostPath {path} is not below a path that is allowed here ({allowed})"
    elif all(getattr(volume, field) is None for field in _FILLED):
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
