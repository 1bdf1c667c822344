"""From a container whose environment and files are known to what is to be started.

Owns: its arguments, its variables, whom it runs as, and why it cannot be started at all.  Only
computes, but for the home of a user.  Must not know how processes are started.
"""

from __future__ import annotations

import hashlib
import pwd
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from reflet.api.codec import encode
from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.node.pods.admission import Allowance, RunAs, root_refusal, run_as
from reflet.node.pods.mount_layout import ROOT_VARIABLE, MountLayout, mount_layout
from reflet.node.status.container_statuses import CONFIG_ERROR, Waiting
from reflet.resolution.expansion import (
    LARGEST_EXPANSION,
    OversizedExpansion,
    expand_all,
    expanded_size,
)
from reflet.resolution.variables import Environment

USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedStart:
    """Everything that is known of a start before its folders are made."""

    container: Container
    who: RunAs
    layout: MountLayout
    variables: Mapping[str, str] = field(repr=False)

    def arguments(self, root: str) -> tuple[str, ...]:
        """The command and its arguments, with variables put in."""
        return expand_all(self.words, self.environment(root).get)

    @property
    def words(self) -> tuple[str, ...]:
        """The command and its arguments as they are written."""
        return (*self.container.command, *self.container.args)

    def environment(self, root: str) -> dict[str, str]:
        """The variables of the process."""
        return {**self.variables, ROOT_VARIABLE: root}


def prepare_start(
    pod: Pod, container: Container, environment: Environment, allowance: Allowance
) -> PreparedStart | Waiting:
    """Prepare a start, or say why the container waits."""
    if environment.error is not None:
        return Waiting(CONFIG_ERROR, environment.error)
    who = run_as(pod, container, allowance)
    refusal = root_refusal(pod, container, who, allowance)
    if refusal is not None:
        return Waiting(CONFIG_ERROR, refusal)
    values = environment.values
    layout = mount_layout(container, values, has_root=allowance.isolates)
    if layout.error is not None:
        return Waiting(CONFIG_ERROR, layout.error)
    usual = {
        "PATH": USUAL_PATH,
        "HOSTNAME": pod.spec.hostname or pod.metadata.name,
        "HOME": home_of(allowance.own_user if who.user is None else who.user),
    }
    start = PreparedStart(container=container, who=who, layout=layout, variables=usual | values)
    size = expanded_size(start.words, start.environment("").get)
    if size > LARGEST_EXPANSION:
        return Waiting(CONFIG_ERROR, f"command and args have {OversizedExpansion(size)}")
    return start


def fingerprint_of(container: Container) -> str:
    """What a container is made from, apart from its image, which plays no part here."""
    return hashlib.sha256(encode(replace(container, image=""))).hexdigest()[:16]


def gate_group(pod: Pod, allowance: Allowance) -> int | None:
    """The group that may enter the pod's folder.

    None when all runs as the agent itself, or has its volumes mounted elsewhere.
    """
    if not allowance.is_root or allowance.isolates or not pod.spec.containers:
        return None
    return run_as(pod, pod.spec.containers[0], allowance).group


def home_of(user: int) -> str:
    """The home of a user, the root folder for one that has none."""
    try:
        return pwd.getpwuid(user).pw_dir or "/"
    except KeyError:
        return "/"
