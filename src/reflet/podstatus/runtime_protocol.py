"""What a runtime has to answer for its pods to be followed.

Owns: the protocol.  Must not know any runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from reflet.podstatus.runtime_status import RuntimePod, RuntimeStatus


class PodRuntime(Protocol):
    """Runs pods, and says what they are doing.

    The answers describe a moment between the question and the answer: what is remembered from
    before the question must not be given.  Whatever a method raises is taken as "cannot tell
    now", and it is asked again later.  Calls come one at a time, and have no deadline but the
    runtime's own.
    """

    async def list_pods(self) -> Sequence[RuntimePod]:
        """Return every pod that has a container or sandbox, running or not."""
        ...

    async def find_pod(self, uid: str, /) -> RuntimePod | None:
        """Return one pod as ``list_pods`` would, None when it would not."""
        ...

    async def pod_status(self, pod: RuntimePod, /) -> RuntimeStatus:
        """Return everything about one pod that was listed or found."""
        ...
