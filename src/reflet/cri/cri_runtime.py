"""The pods of a container runtime, for the pod status cache: ``pleg``'s EventedRuntime over CRI.

Asks; what the answers mean is decided in ``conversions``.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_manager.go, GetPods, GetPod, GetPodStatus
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from reflet.cri.conversions import (
    POD_UID_LABEL,
    container_status,
    ips_of,
    moment,
    newest_first,
    pods_of,
    sandbox_status,
)
from reflet.cri.messages.containers import (
    Container,
    ContainerFilter,
    ContainerStatus,
    ContainerStatusResponse,
)
from reflet.cri.messages.sandboxes import PodSandbox, PodSandboxFilter, PodSandboxStatus
from reflet.cri.messages.service import ContainerEventResponse, PodSandboxStatusResponse
from reflet.cri.termination_messages import termination_message
from reflet.errors import RpcError, RpcNotFound
from reflet.pleg.runtime_status import RuntimeEvent, RuntimePod, RuntimeStatus


class PodService(Protocol):
    """Those calls of a ``RuntimeService`` that tell of pods."""

    async def list_pod_sandbox(
        self, filter_: PodSandboxFilter | None = None
    ) -> tuple[PodSandbox, ...]:
        """The sandboxes that *filter_* lets through, in no order."""
        ...

    async def list_containers(
        self, filter_: ContainerFilter | None = None
    ) -> tuple[Container, ...]:
        """The containers that *filter_* lets through, in no order."""
        ...

    async def pod_sandbox_status(self, pod_sandbox_id: str) -> PodSandboxStatusResponse:
        """Everything about one sandbox."""
        ...

    async def container_status(self, container_id: str) -> ContainerStatusResponse:
        """Everything about one container."""
        ...

    def get_container_events(
        self,
    ) -> AbstractAsyncContextManager[AsyncIterator[ContainerEventResponse]]:
        """Events from now on."""
        ...


class CriRuntime:
    """What runs in the runtime behind *service*.  Fits where an ``EventedRuntime`` is asked for.

    ::

        async with CriClient(endpoint) as cri, EventedPleg(CriRuntime(cri.runtime), cache) as pleg:
            …
    """

    def __init__(self, service: PodService) -> None:
        self._service = service

    async def list_pods(self) -> Sequence[RuntimePod]:
        """Every pod with a sandbox or container, the newest first."""
        sandboxes = await self._service.list_pod_sandbox()
        return pods_of(sandboxes, await self._service.list_containers())

    async def find_pod(self, uid: str, /) -> RuntimePod | None:
        """One pod, None when the runtime has nothing of it."""
        labels = {POD_UID_LABEL: uid}
        sandboxes = await self._service.list_pod_sandbox(PodSandboxFilter(label_selector=labels))
        containers = await self._service.list_containers(ContainerFilter(label_selector=labels))
        found = pods_of(sandboxes, containers)
        # Sandboxes that no kubelet made may have no labels, and are found by their metadata.
        found = found or [*await self.list_pods()]
        return next((pod for pod in found if pod.uid == uid), None)

    async def pod_status(self, pod: RuntimePod, /) -> RuntimeStatus:
        """Everything about a pod; what was removed since it was listed is left out.

        - *pod*: what ``list_pods`` or ``find_pod`` returned
        """
        sandboxes = [await self._sandbox(each.id) for each in pod.sandboxes]
        found = [status for status in sandboxes if status is not None]
        containers = [await self._container(each.id) for each in pod.containers]
        statuses = [
            container_status(status, message=termination_message(status))
            for status in containers
            if status is not None
        ]
        return RuntimeStatus(
            uid=pod.uid,
            name=pod.name,
            namespace=pod.namespace,
            # Only the newest sandbox has the pod's addresses, also when it is gone by now.
            ips=ips_of(found) if sandboxes and sandboxes[0] is not None else (),
            containers=newest_first(statuses),
            sandboxes=tuple(map(sandbox_status, found)),
        )

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[RuntimeEvent]]:
        """What happens from now on."""
        async with self._service.get_container_events() as events:
            yield (_event(event) async for event in events)

    async def _sandbox(self, sandbox: str) -> PodSandboxStatus | None:
        try:
            answer = await self._service.pod_sandbox_status(sandbox)
        except RpcNotFound:
            return None
        if answer.status is None:
            raise RpcError("Internal", "pod sandbox status is nil", method="PodSandboxStatus")
        return answer.status

    async def _container(self, container: str) -> ContainerStatus | None:
        try:
            answer = await self._service.container_status(container)
        except RpcNotFound:
            return None
        if answer.status is None:
            raise RpcError("Internal", "container status is nil", method="ContainerStatus")
        return answer.status


def _event(event: ContainerEventResponse) -> RuntimeEvent:
    sandbox = event.pod_sandbox_status
    whose = sandbox.metadata if sandbox is not None else None
    return RuntimeEvent(
        uid=whose.uid if whose is not None else "",
        container_id=event.container_id,
        at=moment(event.created_at),
    )
