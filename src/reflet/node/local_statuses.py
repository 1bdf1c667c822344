"""The statuses of pods that no API server knows.

Owns: the latest status of each, for the agent's own page.  Must not know where pods come from.
"""

from __future__ import annotations

from reflet.api.pod_status import PodStatus
from reflet.api.pods import Pod


class LocalStatuses:
    """Remembers statuses, and has nobody to tell.  Is a ``StatusSink``."""

    def __init__(self) -> None:
        self.latest: dict[str, PodStatus] = {}

    def report(self, pod: Pod, status: PodStatus, /) -> None:
        """Remember it."""
        self.latest[pod.metadata.uid] = status

    async def finish(self, pod: Pod, /) -> None:
        """Forget the pod."""
        self.forget(pod.metadata.uid)

    def forget(self, uid: str, /) -> None:
        """Forget the pod."""
        self.latest.pop(uid, None)
