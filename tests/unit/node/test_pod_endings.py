from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

import pytest

from reflet.api.pods import Pod
from reflet.node.pod_endings import end_container, end_pod, grace_of
from reflet.node.worker_parts import WorkerParts
from reflet.podstatus.runtime_status import RuntimeContainerStatus
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.pods import EXITED, container, life, pod, seen


@dataclass
class Ended:
    """An end that was asked of the runtime: of what, when, and with how many seconds left."""

    id: str
    at: float
    left: float


@dataclass
class Runtime:
    """Ends containers, each in the seconds that it *takes*, but never later than it may."""

    takes: Mapping[str, float] = field(default_factory=dict)
    ends: list[Ended] = field(default_factory=list)

    async def end(self, id_: str, grace: float) -> None:
        self.ends.append(Ended(id_, asyncio.get_running_loop().time(), grace))
        await asyncio.sleep(min(grace, self.takes.get(id_, 0.0)))


@dataclass
class Events:
    """Remembers what was told of pods."""

    told: list[tuple[str, str, str, str]] = field(default_factory=list)

    def of_pod(
        self, pod: Pod, type_: str, reason: str, message: str, *, container: str = ""
    ) -> None:
        self.told.append((type_, reason, message, container))


@dataclass
class Parts:
    """What ending a pod needs of a worker."""

    runtime: Runtime = field(default_factory=Runtime)
    events: Events = field(default_factory=Events)
    clock: VirtualClock = field(default_factory=VirtualClock)

    def as_parts(self) -> WorkerParts:
        return cast("WorkerParts", self)


def sidecar(name: str) -> dict[str, Any]:
    return container(name, restartPolicy="Always")


SIDECARS: Mapping[str, Any] = MappingProxyType(
    {"initContainers": [sidecar("proxy"), sidecar("log")]}
)


async def ended(
    of: Pod, *lives: RuntimeContainerStatus, grace: float = 30.0, **takes: float
) -> list[Ended]:
    parts = Parts(Runtime({f"{name}-0": seconds for name, seconds in takes.items()}))
    await end_pod(parts.as_parts(), of, seen(*lives), grace)
    return parts.runtime.ends


# How long


@pytest.mark.parametrize(
    ("asked", "own", "seconds"),
    [(5, 60, 5.0), (None, 60, 60.0), (None, None, 30.0), (0, 60, 0.0), (None, 0, 0.0)],
)
def test_a_deletion_says_how_long_an_end_may_take_and_else_the_pod_does(
    asked: int | None, own: int | None, seconds: float
) -> None:
    leaving = pod(metadata={"deletionGracePeriodSeconds": asked}, terminationGracePeriodSeconds=own)

    assert grace_of(leaving) == seconds


# In which order


@pytest.mark.virtual_time
async def test_containers_are_ended_at_the_same_time() -> None:
    both = pod(container("a"), container("b"))

    ends = await ended(both, life("a"), life("b"), a=9, b=9)

    assert ends == [Ended("a-0", 0, 30), Ended("b-0", 0, 30)]


@pytest.mark.virtual_time
async def test_sidecars_are_ended_after_the_containers_and_from_the_last() -> None:
    ends = await ended(
        pod(**SIDECARS), life("proxy"), life("log"), life("main"), main=4, log=2, proxy=1
    )

    assert [(each.id, each.at) for each in ends] == [("main-0", 0), ("log-0", 4), ("proxy-0", 6)]


@pytest.mark.virtual_time
async def test_all_share_one_grace_period() -> None:
    ends = await ended(
        pod(**SIDECARS), life("proxy"), life("log"), life("main"), grace=10, main=4, log=2
    )

    assert [each.left for each in ends] == [10, 6, 4]


@pytest.mark.virtual_time
async def test_who_comes_after_the_grace_period_gets_two_seconds_as_from_the_kubelet() -> None:
    ends = await ended(
        pod(**SIDECARS), life("proxy"), life("log"), life("main"), grace=3, main=99, log=99
    )

    assert [(each.at, each.left) for each in ends] == [(0, 3), (3, 2), (3, 2)]


@pytest.mark.virtual_time
async def test_an_init_container_that_still_runs_is_ended_with_the_containers() -> None:
    steps = pod(initContainers=[sidecar("proxy"), container("setup")])

    ends = await ended(steps, life("proxy"), life("setup"), setup=2)

    assert [each.id for each in ends] == ["setup-0", "proxy-0"]


@pytest.mark.virtual_time
async def test_what_has_ended_already_is_left_alone() -> None:
    assert await ended(pod(**SIDECARS), life("main", EXITED, 0), life("log", EXITED, 1)) == []


@pytest.mark.virtual_time
async def test_what_runs_and_is_no_longer_in_the_pod_is_ended_too() -> None:
    ends = await ended(pod(), life("main"), life("debugger"))

    assert {each.id for each in ends} == {"main-0", "debugger-0"}


# What is told


@pytest.mark.virtual_time
async def test_every_end_is_told_as_the_kubelet_tells_it() -> None:
    parts = Parts()

    await end_pod(parts.as_parts(), pod(), seen(life("main")), 1)

    assert parts.events.told == [("Normal", "Killing", "Stopping container main", "main")]


@pytest.mark.virtual_time
async def test_an_end_with_a_reason_tells_it_instead() -> None:
    parts = Parts()

    await end_container(parts.as_parts(), pod(), life("main"), 1, why="main is made anew")

    assert parts.events.told == [("Normal", "Killing", "main is made anew", "main")]
