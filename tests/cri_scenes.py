"""Sandboxes and containers as a runtime lists them, and a runtime that has them.

Owns: examples of messages, and ``Pods``, which answers lists and statuses from one picture.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from reflet.cri.conversions import (
    CONTAINER_NAME_LABEL,
    POD_NAME_LABEL,
    POD_NAMESPACE_LABEL,
    POD_UID_LABEL,
)
from reflet.cri.messages.containers import (
    Container,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
    ContainerStatusRequest,
    ContainerStatusResponse,
    ListContainersRequest,
    ListContainersResponse,
)
from reflet.cri.messages.images import ImageSpec
from reflet.cri.messages.sandboxes import (
    ListPodSandboxRequest,
    ListPodSandboxResponse,
    PodSandbox,
    PodSandboxMetadata,
    PodSandboxNetworkStatus,
    PodSandboxState,
    PodSandboxStatus,
    PodSandboxStatusRequest,
)
from reflet.cri.messages.service import (
    ContainerEventResponse,
    ContainerEventType,
    PodSandboxStatusResponse,
)
from reflet.cri.wire import CriMessage
from tests.cri_server import Answer, Call, CriServer

IMAGE = ImageSpec(image="busybox:1")
SECOND = 1_000_000_000


def labels(uid: str, container: str = "") -> dict[str, str]:
    """What the kubelet writes on a sandbox, or on a container of it."""
    found = {
        POD_NAME_LABEL: f"name-of-{uid}",
        POD_NAMESPACE_LABEL: "shop",
        POD_UID_LABEL: uid,
    }
    return {**found, CONTAINER_NAME_LABEL: container} if container else found


def sandbox(
    sandbox_id: str,
    uid: str,
    *,
    at: int = 1,
    attempt: int = 0,
    state: PodSandboxState = PodSandboxState.READY,
) -> PodSandbox:
    """A sandbox of pod *uid*, made at second *at*."""
    return PodSandbox(
        id=sandbox_id,
        metadata=PodSandboxMetadata(
            name=f"name-of-{uid}", uid=uid, namespace="shop", attempt=attempt
        ),
        state=state,
        created_at=at * SECOND,
        labels=labels(uid),
    )


def container(
    container_id: str,
    uid: str,
    name: str = "web",
    *,
    at: int = 2,
    state: ContainerState = ContainerState.RUNNING,
    sandbox_id: str = "",
) -> Container:
    """A container of pod *uid*, made at second *at*."""
    return Container(
        id=container_id,
        pod_sandbox_id=sandbox_id or f"sandbox-of-{uid}",
        metadata=ContainerMetadata(name=name),
        image=IMAGE,
        image_ref="sha256:1",
        state=state,
        created_at=at * SECOND,
        labels=labels(uid, name),
    )


@dataclass
class Pods:
    """What a runtime has now; ``show`` puts pods in, with one container each unless told."""

    sandboxes: dict[str, PodSandbox] = field(default_factory=dict)
    containers: dict[str, Container] = field(default_factory=dict)
    exit_code: int = 0
    log_path: str = ""
    annotations: dict[str, str] = field(default_factory=dict)
    streams: set[asyncio.Queue[CriMessage | None]] = field(default_factory=set)

    def run(self, *uids: str) -> None:
        """Each of these runs, with one container."""
        for uid in uids:
            self.add(sandbox(f"sandbox-of-{uid}", uid), container(f"web-of-{uid}", uid))

    def add(self, *parts: PodSandbox | Container) -> None:
        """These are there, instead of what had their ids."""
        for part in parts:
            if isinstance(part, PodSandbox):
                self.sandboxes[part.id] = part
            else:
                self.containers[part.id] = part

    def exit(self, uid: str, code: int = 0) -> None:
        """The container of this pod has ended."""
        self.exit_code = code
        self.add(container(f"web-of-{uid}", uid, state=ContainerState.EXITED))

    def remove(self, uid: str) -> None:
        """Nothing is left of this pod."""
        self.sandboxes.pop(f"sandbox-of-{uid}")
        self.containers.pop(f"web-of-{uid}")

    def notify(self, uid: str, kind: ContainerEventType, *, whose: str | None = None) -> None:
        """Send an event of this pod's container to all who listen; *whose* is what it says."""
        said = uid if whose is None else whose
        event = ContainerEventResponse(
            container_id=f"web-of-{uid}",
            container_event_type=kind,
            created_at=3 * SECOND,
            pod_sandbox_status=_sandbox_status(sandbox(f"sandbox-of-{said}", said))
            if said
            else None,
        )
        for stream in self.streams:
            stream.put_nowait(event)

    def end_streams(self) -> None:
        """End all streams of events."""
        for stream in self.streams:
            stream.put_nowait(None)

    def answers(self) -> dict[str, Answer]:
        """What a ``CriServer`` answers from this picture, whatever it is then."""
        return {
            "ListPodSandbox": self._list_sandboxes,
            "ListContainers": self._list_containers,
            "PodSandboxStatus": self._sandbox_status,
            "ContainerStatus": self._container_status,
            "GetContainerEvents": self._events,
        }

    async def _list_sandboxes(self, call: Call) -> None:
        asked = call.message(ListPodSandboxRequest).filter
        wanted = asked.label_selector if asked is not None else {}
        found = tuple(each for each in self.sandboxes.values() if has(each.labels, wanted))
        await _reply(call, ListPodSandboxResponse(items=found))

    async def _list_containers(self, call: Call) -> None:
        asked = call.message(ListContainersRequest).filter
        wanted = asked.label_selector if asked is not None else {}
        found = tuple(each for each in self.containers.values() if has(each.labels, wanted))
        await _reply(call, ListContainersResponse(containers=found))

    async def _sandbox_status(self, call: Call) -> None:
        found = self.sandboxes.get(call.message(PodSandboxStatusRequest).pod_sandbox_id)
        if found is None:
            call.end("NotFound", "no such sandbox")
            return
        await _reply(call, PodSandboxStatusResponse(status=_sandbox_status(found)))

    async def _container_status(self, call: Call) -> None:
        found = self.containers.get(call.message(ContainerStatusRequest).container_id)
        if found is None:
            call.end("NotFound", "no such container")
            return
        status = ContainerStatus(
            id=found.id,
            metadata=found.metadata,
            state=found.state,
            created_at=found.created_at,
            started_at=found.created_at + SECOND,
            finished_at=found.created_at + 2 * SECOND,
            exit_code=self.exit_code,
            image=found.image,
            image_ref=found.image_ref,
            labels=found.labels,
            annotations=self.annotations,
            log_path=self.log_path,
        )
        await _reply(call, ContainerStatusResponse(status=status))

    async def _events(self, call: Call) -> None:
        stream: asyncio.Queue[CriMessage | None] = asyncio.Queue()
        self.streams.add(stream)
        try:
            while (message := await stream.get()) is not None:
                await call.send(message)
            call.end()
        finally:
            self.streams.discard(stream)


def has(found: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether labels have all that is wanted."""
    return wanted.items() <= found.items()


async def _reply(call: Call, message: CriMessage) -> None:
    await call.send(message)
    call.end()


def _sandbox_status(found: PodSandbox) -> PodSandboxStatus:
    return PodSandboxStatus(
        id=found.id,
        metadata=found.metadata,
        state=found.state,
        created_at=found.created_at,
        network=PodSandboxNetworkStatus(ip="10.0.0.7"),
        labels=found.labels,
    )


@contextmanager
def serving(path: Path, **answers: Answer) -> Iterator[CriServer]:
    """A runtime in a thread of its own, for a command that has the event loop of the test's."""
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    server = CriServer(path, **answers)

    async def serve() -> None:
        async with server:
            done = asyncio.Event()
            ready.set_result((asyncio.get_running_loop(), done))
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="runtime")
    thread.start()
    loop, done = ready.result(timeout=30)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
