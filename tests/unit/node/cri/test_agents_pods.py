from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reflet.cri.messages.containers import Container
from reflet.cri.messages.sandboxes import PodSandbox, PodSandboxStatus
from reflet.cri.messages.service import ContainerEventResponse
from reflet.node.cri.agents_pods import OwnedPods
from reflet.node.cri.runtime_labels import NODE
from tests.unit.node.cri.paper_cri import PaperCri


def event(container: str, node: str | None) -> ContainerEventResponse:
    sandbox = None if node is None else PodSandboxStatus(labels={NODE: node})
    return ContainerEventResponse(container_id=container, pod_sandbox_status=sandbox)


class Eventful(PaperCri):
    @asynccontextmanager
    async def get_container_events(self) -> AsyncIterator[AsyncIterator[ContainerEventResponse]]:
        async def told() -> AsyncIterator[ContainerEventResponse]:
            for each in (event("mine", "me"), event("theirs", "them"), event("gone", None)):
                yield each

        yield told()


async def test_pods_of_others_are_not_seen() -> None:
    cri = Eventful()
    for whose in ("me", "them"):
        cri.sandboxes[whose] = PodSandbox(id=whose, labels={NODE: whose})
        cri.containers[whose] = Container(id=whose, labels={NODE: whose})
    owned = OwnedPods(cri.runtime, "me")

    async with owned.get_container_events() as events:
        told = [each.container_id async for each in events]

    assert [each.id for each in await owned.list_pod_sandbox()] == ["me"]
    assert [each.id for each in await owned.list_containers()] == ["me"]
    assert told == ["mine", "gone"]
