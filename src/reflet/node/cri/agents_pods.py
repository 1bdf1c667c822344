"""The pods of one agent among all that a runtime has.

A kubelet takes every pod of its runtime for its own, and ends those that it does not know.  An
agent that is tried beside one, or beside another agent, must not: it asks for what it has labelled.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from reflet.cri.cri_client import RuntimeService
from reflet.cri.messages.containers import Container, ContainerFilter, ContainerStatusResponse
from reflet.cri.messages.sandboxes import PodSandbox, PodSandboxFilter
from reflet.cri.messages.service import ContainerEventResponse, PodSandboxStatusResponse
from reflet.node.cri.runtime_labels import NODE


class OwnedPods:
    """Those calls of *service* that tell of pods, as if the runtime had only those of *node*."""

    def __init__(self, service: RuntimeService, node: str) -> None:
        self.service = service
        self.node = node

    async def list_pod_sandbox(
        self, filter_: PodSandboxFilter | None = None
    ) -> tuple[PodSandbox, ...]:
        """The sandboxes that *filter_* lets through, in no order."""
        asked = filter_ or PodSandboxFilter()
        selector = {**asked.label_selector, NODE: self.node}
        return await self.service.list_pod_sandbox(replace(asked, label_selector=selector))

    async def list_containers(
        self, filter_: ContainerFilter | None = None
    ) -> tuple[Container, ...]:
        """The containers that *filter_* lets through, in no order."""
        asked = filter_ or ContainerFilter()
        selector = {**asked.label_selector, NODE: self.node}
        return await self.service.list_containers(replace(asked, label_selector=selector))

    async def pod_sandbox_status(self, pod_sandbox_id: str) -> PodSandboxStatusResponse:
        """Everything about one sandbox."""
        return await self.service.pod_sandbox_status(pod_sandbox_id)

    async def container_status(self, container_id: str) -> ContainerStatusResponse:
        """Everything about one container."""
        return await self.service.container_status(container_id)

    @asynccontextmanager
    async def get_container_events(
        self,
    ) -> AsyncIterator[AsyncIterator[ContainerEventResponse]]:
        """Events of these pods from now on."""
        async with self.service.get_container_events() as events:
            yield self._own(events)

    async def _own(
        self, events: AsyncIterator[ContainerEventResponse]
    ) -> AsyncIterator[ContainerEventResponse]:
        async for event in events:
            sandbox = event.pod_sandbox_status
            # One without a sandbox is of a pod that is gone: whoever knew it wants to know.
            if sandbox is None or sandbox.labels.get(NODE) == self.node:
                yield event
