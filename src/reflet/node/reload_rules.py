"""What a pod wants done when its configuration changes while it runs.

Owns: the annotation, and which containers a change concerns.  Kubernetes itself does nothing but
refresh files, and so do we unless the pod says otherwise.  Only computes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, TypeAlias

from reflet.api.pods import Pod
from reflet.processes.endings import signal_number
from reflet.resolution.places import containers_of

ANNOTATION: Final = "reflet.dev/on-change"
"""``none``, ``restart`` or ``signal:NAME``."""


@dataclass(frozen=True, slots=True)
class FilesOnly:
    """Refresh the files, as the kubelet does; *mistake* is what is wrong with the annotation."""

    mistake: str = ""


@dataclass(frozen=True, slots=True)
class Restart:
    """Start the containers anew that use what changed, variables included."""


@dataclass(frozen=True, slots=True)
class SendSignal:
    """Send a signal to the containers that mount what changed."""

    number: int


Reload: TypeAlias = FilesOnly | Restart | SendSignal


def reload_of(pod: Pod) -> Reload:
    """What the pod's annotation asks for; one that cannot be read asks for nothing."""
    text = pod.metadata.annotations.get(ANNOTATION, "").strip()
    if text in {"", "none"}:
        return FilesOnly()
    if text == "restart":
        return Restart()
    kind, _, name = text.partition(":")
    if kind == "signal":
        try:
            return SendSignal(signal_number(name))
        except ValueError as error:
            return FilesOnly(f"{ANNOTATION}: {error}")
    return FilesOnly(f"{ANNOTATION}: {text!r} is none of none, restart and signal:NAME")


def users_of(pod: Pod, volumes: Collection[str]) -> tuple[str, ...]:
    """The containers that see changes of these volumes; a sub-path never shows one."""
    return tuple(
        placed.container.name
        for placed in containers_of(pod.spec)
        if any(
            mount.name in volumes and not mount.sub_path and not mount.sub_path_expr
            for mount in placed.container.volume_mounts
        )
    )
