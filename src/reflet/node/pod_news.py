"""Which news of a pod its worker has to act on.

Owns: telling them from the echo of what the agent itself said.  Only compares.
"""

from __future__ import annotations

from reflet.api.pods import Pod
from reflet.node.pod_statuses import TERMINAL


def concerns_us(before: Pod, now: Pod) -> bool:
    """Whether a new state of a pod is more than what we said about it ourselves."""
    old, new = before.metadata, now.metadata
    return (
        before.spec != now.spec
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.deletion_timestamp != new.deletion_timestamp
        or old.deletion_grace_period_seconds != new.deletion_grace_period_seconds
        or (now.status.phase in TERMINAL and before.status.phase not in TERMINAL)
        or _gates(before) != _gates(now)
    )


def _gates(pod: Pod) -> dict[str, str]:
    """The readiness gates that others have answered for, and their answers."""
    gates = {each.condition_type for each in pod.spec.readiness_gates}
    if not gates:
        return {}
    return {each.type: each.status for each in pod.status.conditions if each.type in gates}
