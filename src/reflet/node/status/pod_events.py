"""Events of a pod that are told before its containers start: what it does without, what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import WARNING
from reflet.node.status.node_events import NodeEvents
from reflet.resolution.environment.variables import Environment


def tell_skipped_names(events: NodeEvents, pod: Pod, environment: Environment) -> None:
    """Say which keys a container does without, as the kubelet does whenever it makes variables."""
    for skipped in environment.events:
        events.of_pod(pod, WARNING, skipped.event_reason, skipped.kubelet)


def tell_failed_mounts(events: NodeEvents, pod: Pod, errors: Mapping[str, str]) -> None:
    """Say which volumes could not be written."""
    for name, error in errors.items():
        message = f'MountVolume.SetUp failed for volume "{name}" : {error}'
        events.of_pod(pod, WARNING, "FailedMount", message)


def tell_left_out(events: NodeEvents, pod: Pod, left_out: Sequence[str]) -> None:
    """Say what the pod asks for and does without."""
    if left_out:
        events.of_pod(pod, WARNING, "NotSupported", "; ".join(left_out))
