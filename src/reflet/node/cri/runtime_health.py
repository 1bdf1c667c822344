"""Whether the container runtime and its network are ready, in the kubelet's words.

Upstream: pkg/kubelet/kubelet.go, updateRuntimeUp; pkg/kubelet/runtime.go, runtimeErrors;
pkg/kubelet/kubelet_node_status.go, fastNodeStatusUpdate
"""

from __future__ import annotations

from typing import Final

from reflet.cri.cri_client import RuntimeService
from reflet.cri.messages.service import RuntimeCondition
from reflet.errors import RpcError
from reflet.runtime.clock import Clock

LOOK_EVERY: Final = 5.0  # seconds
LOOK_FAST: Final = 0.1  # seconds between looks at a runtime that is about to be ready
FAST_FOR: Final = 120.0  # seconds; the kubelet's nodeReadyGracePeriod
THRESHOLD: Final = 30.0  # seconds without an answer after which the runtime counts as down


class RuntimeHealth:
    """Asks a runtime how it is while ``run`` runs.

    ``network_problem`` is what the last answer said of the network, None when it was ready.
    """

    def __init__(self, service: RuntimeService, *, clock: Clock) -> None:
        self._service = service
        self._clock = clock
        self._ready_at: float | None = None
        self._problem: str | None = None
        self.network_problem: str | None = None

    async def run(self) -> None:
        """Look again and again, until cancelled; at the start, often until it is ready."""
        fast_until = self._clock.monotonic() + FAST_FOR
        while True:
            await self.look()
            is_fast = self.problem() is not None and self._clock.monotonic() < fast_until
            await self._clock.sleep(LOOK_FAST if is_fast else LOOK_EVERY)

    async def look(self) -> None:
        """Ask once."""
        try:
            status = (await self._service.status()).status
        except RpcError:
            return  # told once it has been so for a while
        conditions = {} if status is None else {each.type: each for each in status.conditions}
        network, ready = conditions.get("NetworkReady"), conditions.get("RuntimeReady")
        self.network_problem = None
        if network is None or not network.status:
            self.network_problem = f"container runtime network not ready: {_words(network)}"
        self._problem = self.network_problem
        if ready is None or not ready.status:
            self._problem = f"container runtime not ready: {_words(ready)}"
            return
        self._ready_at = self._clock.monotonic()

    def problem(self) -> str | None:
        """What is wrong with the runtime, None when nothing is."""
        if self._ready_at is None:
            return self._problem or "container runtime status check may not have completed yet"
        if self._clock.monotonic() - self._ready_at > THRESHOLD:
            return "container runtime is down"
        return self._problem


def _words(condition: RuntimeCondition | None) -> str:
    if condition is None:
        return "it does not say"
    truth = str(condition.status).lower()
    return f"{condition.type}={truth} reason:{condition.reason} message:{condition.message}"
