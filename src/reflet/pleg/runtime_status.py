"""Pods, containers and sandboxes as a runtime sees them, and what a runtime has to answer.

A list gives the short form of every pod, and the long form is of one pod that is asked for.  A
container may as well be a process.  What the API server is told about all this is
``reflet.api.core.pods``.

Upstream: pkg/kubelet/container/runtime.go, Pod, PodStatus, Status, Runtime
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class RuntimeState(StrEnum):
    """What a container is doing; a sandbox that is ready is running."""

    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RuntimeContainer:
    """A container in a list: enough to see that something changed.

    - *id*: id that the runtime gave
    - *name*: name in the pod's spec
    - *state*: created, running, exited or unknown
    """

    id: str
    name: str = ""
    state: RuntimeState = RuntimeState.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimePod:
    """A pod in a list, with all its containers and sandboxes, those that have ended too."""

    uid: str
    name: str = ""
    namespace: str = ""
    containers: tuple[RuntimeContainer, ...] = ()
    sandboxes: tuple[RuntimeContainer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeContainerStatus:
    """Everything about one container.

    Times are wall times with a zone, for people and servers to read; None means not yet.  So
    does an ``exit_code`` of None.
    """

    id: str
    name: str = ""
    state: RuntimeState = RuntimeState.UNKNOWN
    created_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    exit_code: int | None = None
    signal: int = 0
    reason: str = ""
    message: str = ""
    restart_count: int = 0
    image: str = ""
    image_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSandbox:
    """What holds a pod's containers together: its network, or its group of processes.

    - *id*: id that the runtime gave
    - *ready*: whether it can hold containers
    - *created_at*: when it was made
    """

    id: str
    ready: bool = False
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeStatus:
    """Everything about one pod; with nothing but its uid it means that the runtime has none.

    Where several containers have one name, because it was restarted, the newest comes first.
    """

    uid: str
    name: str = ""
    namespace: str = ""
    ips: tuple[str, ...] = ()
    containers: tuple[RuntimeContainerStatus, ...] = ()
    sandboxes: tuple[RuntimeSandbox, ...] = ()

    def container(self, name: str) -> RuntimeContainerStatus | None:
        """Return the newest container of that name, if there is one.

        - *name*: name of the container
        """
        return next((each for each in self.containers if each.name == name), None)


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
        """Return everything about one pod that was listed or found.

        - *pod*: what ``list_pods`` or ``find_pod`` returned
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeEvent:
    """A runtime says that something happened to a container or sandbox of pod *uid*.

    An empty *uid* means that it does not say whose; *at* is by the runtime's wall clock.

    - *container_id*: id of the container or sandbox
    """

    uid: str
    container_id: str
    at: datetime


class EventedRuntime(PodRuntime, Protocol):
    """A runtime that also says when it is worth looking."""

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[RuntimeEvent]]:
        """What happens from now on, until the runtime ends it; raises RpcUnimplemented, with the
        first event asked for, when the runtime has no events.
        """
        ...
