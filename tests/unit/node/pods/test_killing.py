from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

import pytest

from reflet.api.core.pods import Pod
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.pods.killing import (
    Killer,
    grace_after_probe,
    grace_of,
    unless_interrupted,
)
from reflet.node.pods.pod_actions import UnhealthyContainer
from reflet.node.probes.lifecycle_hooks import HookFailed, LifecycleHooks
from reflet.node.probes.probe_spec import ProbeKind
from reflet.node.shim.protocol import ShimUnavailable
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.runtime_status import RuntimeContainerStatus
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.paper_node import PaperHandlers
from tests.unit.node.pod_scenes import EXITED, container, life, pod, seen


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
    """What killing a pod needs."""

    runtime: Runtime = field(default_factory=Runtime)
    events: Events = field(default_factory=Events)
    clock: VirtualClock = field(default_factory=VirtualClock)
    handlers: PaperHandlers = field(default_factory=lambda: PaperHandlers(VirtualClock()))

    def killer(self) -> Killer:
        events = cast("NodeEvents", self.events)
        hooks = LifecycleHooks(self.handlers, events, lambda _: ("10.0.0.1",), clock=self.clock)
        return Killer(cast("ContainerRuntime", self.runtime), hooks, events, clock=self.clock)


def sidecar(name: str) -> dict[str, Any]:
    return container(name, restartPolicy="Always")


SIDECARS: Mapping[str, Any] = MappingProxyType(
    {"initContainers": [sidecar("proxy"), sidecar("log")]}
)


async def ended(
    of: Pod, *lives: RuntimeContainerStatus, grace: float = 30.0, **takes: float
) -> list[Ended]:
    parts = Parts(Runtime({f"{name}-0": seconds for name, seconds in takes.items()}))
    await parts.killer().kill_pod(of, seen(*lives), grace)
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

    await parts.killer().kill_pod(pod(), seen(life("main")), 1)

    assert parts.events.told == [("Normal", "Killing", "Stopping container main", "main")]


@pytest.mark.virtual_time
async def test_an_end_with_a_reason_tells_it_instead() -> None:
    parts = Parts()

    await parts.killer().kill_container(pod(), life("main"), 1, why="main is made anew")

    assert parts.events.told == [("Normal", "Killing", "main is made anew", "main")]


# Hooks

HOOK: dict[str, Any] = {"lifecycle": {"preStop": {"exec": {"command": ["s3cret"]}}}}
SLEEP: dict[str, Any] = {"lifecycle": {"preStop": {"sleep": {"seconds": 3}}}}


@pytest.mark.virtual_time
async def test_a_hook_runs_before_the_signal_and_counts_against_the_grace_period() -> None:
    parts = Parts()
    parts.handlers.takes = 4

    await parts.killer().kill_pod(pod(container(**HOOK)), seen(life()), 10)

    assert [moment for moment, _, _ in parts.handlers.asked] == [0]
    assert parts.runtime.ends == [Ended("main-0", 4, 6)]


@pytest.mark.virtual_time
async def test_after_a_hook_that_takes_all_the_time_two_seconds_are_left() -> None:
    parts = Parts()
    parts.handlers.takes = 99

    await parts.killer().kill_pod(pod(container(**HOOK)), seen(life()), 10)

    assert parts.runtime.ends == [Ended("main-0", 10, 2)]


@pytest.mark.virtual_time
async def test_without_time_there_is_no_hook() -> None:
    parts = Parts()

    await parts.killer().kill_pod(pod(container(**HOOK)), seen(life()), 0)

    assert (parts.handlers.asked, parts.runtime.ends) == ([], [Ended("main-0", 0, 2)])


@pytest.mark.virtual_time
async def test_a_container_that_has_ended_has_no_hook() -> None:
    parts = Parts()

    await parts.killer().kill_pod(pod(container(**HOOK)), seen(life("main", EXITED, 0)), 10)

    assert (parts.handlers.asked, parts.runtime.ends) == ([], [])


@pytest.mark.virtual_time
async def test_a_hook_that_fails_is_told_without_its_command_and_the_container_ends() -> None:
    parts = Parts()
    parts.handlers.exit_codes["main"] = 1

    await parts.killer().kill_pod(pod(container(**HOOK)), seen(life()), 10)

    assert parts.events.told[1:] == [("Warning", "FailedPreStopHook", "PreStopHook failed", "main")]
    assert parts.runtime.ends == [Ended("main-0", 0, 10)]


@pytest.mark.virtual_time
async def test_hooks_of_sidecars_run_at_once_and_their_signals_wait_for_their_turn() -> None:
    parts = Parts(Runtime({"main-0": 5.0}))
    both = pod(container(**SLEEP), initContainers=[sidecar("proxy") | SLEEP, sidecar("log")])

    await parts.killer().kill_pod(both, seen(life("proxy"), life("log"), life()), 30)

    assert parts.runtime.ends == [
        Ended("main-0", 3, 27),
        Ended("log-0", 8, 22),
        Ended("proxy-0", 8, 22),
    ]


@pytest.mark.virtual_time
async def test_a_hook_runs_once_however_often_the_end_is_hastened() -> None:
    parts = Parts()
    parts.handlers.takes = 99
    versions = [
        pod(container(**HOOK), metadata={"deletionGracePeriodSeconds": grace}) for grace in (60, 10)
    ]
    shorter = asyncio.Event()

    def hasten() -> None:
        del versions[0]
        shorter.set()

    loop = asyncio.get_running_loop()
    began = loop.time()
    loop.call_later(5, hasten)
    await parts.killer().kill_leaving_pod(lambda: versions[0], seen(life()), shorter)

    assert len(parts.handlers.asked) == 1
    assert parts.runtime.ends[0] == Ended("main-0", 15, 2)
    assert loop.time() - began == 15


@pytest.mark.virtual_time
async def test_an_end_that_cannot_be_asked_for_is_told_as_what_it_is() -> None:
    class Away(Runtime):
        async def end(self, id_: str, grace: float) -> None:
            raise ShimUnavailable("the shim is away")

    parts = Parts(Away())

    with pytest.raises(ShimUnavailable):
        await parts.killer().kill_pod(pod(), seen(life()), 10)
    with pytest.raises(ShimUnavailable):
        await parts.killer().kill_leaving_pod(pod, seen(life()), asyncio.Event())


@pytest.mark.parametrize(
    ("probe", "deletion", "grace"), [(7, None, 7.0), (None, None, 60.0), (7, 3, 3.0)]
)
def test_a_probe_may_say_how_long_the_end_after_it_takes(
    probe: int | None, deletion: int | None, grace: float
) -> None:
    of = pod(
        container(
            livenessProbe={"tcpSocket": {"port": 1}, "terminationGracePeriodSeconds": probe},
            startupProbe={"tcpSocket": {"port": 1}},
        ),
        metadata={"deletionGracePeriodSeconds": deletion},
        terminationGracePeriodSeconds=60,
    )

    unhealthy = UnhealthyContainer("main", ProbeKind.LIVENESS, "")

    assert grace_after_probe(of, unhealthy) == grace


# What may be interrupted


@pytest.mark.virtual_time
async def test_work_is_dropped_when_that_is_told() -> None:
    told = asyncio.Event()
    asyncio.get_running_loop().call_later(3, told.set)

    was_done = await unless_interrupted(told, asyncio.sleep(10))

    assert (was_done, asyncio.get_running_loop().time()) == (False, 3)
    assert not await unless_interrupted(told, asyncio.sleep(10))
    assert await unless_interrupted(asyncio.Event(), asyncio.sleep(1))


@pytest.mark.virtual_time
async def test_work_that_fails_says_so() -> None:
    async def fail() -> None:
        raise HookFailed("no")

    with pytest.raises(HookFailed):
        await unless_interrupted(asyncio.Event(), fail())
