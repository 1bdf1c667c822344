"""A container runtime that fails in every way, over a real socket: the cache converges, and nobody
is asked in a hot loop.

In virtual time: minutes of an outage take milliseconds, and requests are counted.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reflet.cri import CriClient, CriRuntime
from reflet.cri.messages.service import ContainerEventType
from reflet.errors import RpcError
from reflet.pleg import EventedPleg, Pleg, StatusCache
from reflet.runtime.metrics import MemoryMetrics
from tests.cri_scenes import Pods
from tests.cri_server import Call, CriServer, framed

pytestmark = pytest.mark.virtual_time


class Node:
    """A runtime with pods, and a cache that follows it by relists or by events."""

    def __init__(self, folder: Path, *uids: str) -> None:
        self.pods = Pods()
        self.pods.run(*uids)
        self.server = CriServer(folder / "runtime.sock", **self.pods.answers())
        self.cache = StatusCache()
        self.metrics = MemoryMetrics()

    @asynccontextmanager
    async def evented(self) -> AsyncIterator[EventedPleg]:
        async with CriClient(self.server.endpoint) as cri:
            runtime = CriRuntime(cri.runtime)
            async with EventedPleg(runtime, self.cache, metrics=self.metrics) as pleg:
                yield pleg

    @asynccontextmanager
    async def generic(self) -> AsyncIterator[Pleg]:
        async with (
            CriClient(self.server.endpoint) as cri,
            Pleg(CriRuntime(cri.runtime), self.cache, metrics=self.metrics) as pleg,
        ):
            yield pleg

    def known(self) -> dict[str, str]:
        """Each pod in the cache, with the state of its container."""
        return {
            uid: self.cache.get(uid).status.containers[0].state.value for uid in self.cache.uids()
        }

    def truth(self) -> dict[str, str]:
        """Each pod of the runtime, with the state of its container."""
        return {
            each.labels["io.kubernetes.pod.uid"]: each.state.name.lower()
            for each in self.pods.containers.values()
        }


async def test_a_runtime_that_restarts_is_followed_again(tmp_path: Path) -> None:
    node = Node(tmp_path, "a", "b")
    async with node.evented() as pleg:
        async with node.server:
            await asyncio.sleep(5)
        before = node.known()
        await asyncio.sleep(60)
        while_away = node.known()
        streams = node.metrics.counted("reflet_pleg_event_stream_failures_total")
        node.pods.exit("a")
        node.pods.remove("b")
        async with node.server:
            await asyncio.sleep(35)
            after = node.known()
            node.pods.notify("a", ContainerEventType.STOPPED)
            await asyncio.sleep(5)
            is_streaming = pleg.is_streaming

    assert before == while_away == {"a": "running", "b": "running"}
    assert after == {"a": "exited"}
    assert streams < 15
    assert is_streaming


async def test_a_runtime_that_is_away_for_long_is_unhealthy_as_the_kubelet_says(
    tmp_path: Path,
) -> None:
    node = Node(tmp_path, "a")
    async with node.evented() as pleg:
        async with node.server:
            await asyncio.sleep(5)
        await asyncio.sleep(240)
        unhealthy = pleg.why_unhealthy()
        async with node.server:
            await asyncio.sleep(5)
            healthy = pleg.healthy()

    assert unhealthy is not None
    assert unhealthy.startswith("pleg was last seen active 4m")
    assert unhealthy.endswith("threshold is 3m0s")
    assert healthy


async def test_a_runtime_that_hangs_is_asked_once_until_its_deadline(tmp_path: Path) -> None:
    node = Node(tmp_path, "a")
    async with node.server, node.generic() as pleg:
        await asyncio.sleep(3)
        node.server.answers["ListContainers"] = Call.hang
        asked = node.server.count("ListContainers")
        await asyncio.sleep(600)
        times = node.server.count("ListContainers") - asked
        unhealthy = pleg.why_unhealthy() or ""
        node.server.answers |= node.pods.answers()
        await asyncio.sleep(125)
        healthy = pleg.healthy()

    assert times <= 6  # every two minutes, and one second
    assert unhealthy.startswith("pleg was last seen active 10m")
    assert healthy


async def test_a_status_that_hangs_is_an_error_of_its_pod_alone(tmp_path: Path) -> None:
    node = Node(tmp_path, "a")
    hang = node.pods.answers()["ContainerStatus"]
    node.server.answers["ContainerStatus"] = Call.hang
    async with node.server, node.generic() as pleg:
        await asyncio.sleep(130)
        error = node.cache.get("a").error
        healthy = pleg.healthy()
        node.server.answers["ContainerStatus"] = hang
        await asyncio.sleep(125)
        later = node.cache.get("a").error

    assert isinstance(error, RpcError)
    assert error.code == "DeadlineExceeded"
    assert healthy
    assert later is None


@pytest.mark.parametrize("half", [b"", framed(b"\x0a\x05shor"), framed(b"answer")[:-2], b"\0"])
async def test_half_answers_change_nothing_and_are_not_asked_for_in_a_hot_loop(
    tmp_path: Path, half: bytes
) -> None:
    node = Node(tmp_path, "a")

    async def answer(call: Call) -> None:
        await call.send_raw(half)
        call.request.peer.cut()

    async with node.server, node.evented() as pleg:
        await asyncio.sleep(3)
        node.server.answers["ListContainers"] = answer
        node.pods.exit("a")
        node.pods.notify("a", ContainerEventType.STOPPED)
        asked = len(node.server.calls)
        await asyncio.sleep(60)
        calls = len(node.server.calls) - asked
        broken = node.known()
        node.server.answers |= node.pods.answers()
        await asyncio.sleep(35)
        repaired = node.known()
        healthy = pleg.healthy()

    assert broken == {"a": "running"}
    assert repaired == {"a": "exited"}
    assert calls < 60 * 4  # relists every second, of two calls each, and looks that fail
    assert healthy


async def test_a_stream_that_ends_at_once_is_not_opened_in_a_hot_loop(tmp_path: Path) -> None:
    node = Node(tmp_path, "a")

    async def end(call: Call) -> None:
        call.end()

    node.server.answers["GetContainerEvents"] = end
    async with node.server, node.evented() as pleg:
        await asyncio.sleep(600)
        streams = node.server.count("GetContainerEvents")
        relists = node.server.count("ListContainers")
        is_streaming = pleg.is_streaming

    assert streams < 40
    assert relists < 700
    assert not is_streaming


async def test_a_runtime_without_events_is_relisted_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = Node(tmp_path, "a")
    node.server.answers["GetContainerEvents"] = RpcError("Unimplemented", "no such method")
    async with node.server, node.evented():
        await asyncio.sleep(30)
        node.pods.exit("a")
        await asyncio.sleep(2)
        known = node.known()

    assert known == {"a": "exited"}
    assert sum("Fall back to Generic PLEG" in record.message for record in caplog.records) == 1


async def test_lost_events_are_made_up_for_within_five_minutes(tmp_path: Path) -> None:
    node = Node(tmp_path, "a", "b")
    async with node.server, node.evented():
        await asyncio.sleep(5)
        node.pods.exit("a")
        node.pods.remove("b")
        await asyncio.sleep(301)
        known = node.known()

    assert known == {"a": "exited"}


async def test_repeated_and_reordered_events_change_nothing_that_is_true(tmp_path: Path) -> None:
    node = Node(tmp_path, "a", "b")
    async with node.server, node.evented() as pleg:
        await asyncio.sleep(5)
        pleg.events.take_all()
        node.pods.exit("a")
        kinds = [*ContainerEventType] * 100
        random.Random(7).shuffle(kinds)
        asked = len(node.server.calls)
        for kind in kinds:
            node.pods.notify("a", kind)
        await asyncio.sleep(5)
        told = [f"{event.type} {event.container_id}" for event in pleg.events.take_all()]
        calls = len(node.server.calls) - asked

    assert told == ["ContainerDied web-of-a"]
    assert node.known() == {"a": "exited", "b": "running"}
    assert calls < len(kinds)  # one look has four, so nearly all were taken together


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_happens_the_cache_becomes_what_the_runtime_has(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    node = Node(tmp_path, "p0")
    async with node.server, node.evented() as pleg:
        for step in range(1, 60):
            _something_happens(node, chance, step)
            await asyncio.sleep(chance.choice((0, 0.05, 1, 20)))
            pleg.events.take_all()
        node.server.answers |= node.pods.answers()
        await asyncio.sleep(430)  # a deadline, and the relist of every five minutes
        known = node.known()
        healthy = pleg.healthy()

    assert known == node.truth()
    assert healthy


def _something_happens(node: Node, chance: random.Random, step: int) -> None:
    """Pods come, end and go, and the runtime says so, or not, or lies, or breaks."""
    pods = node.pods
    running = [uid for uid, state in node.truth().items() if state == "running"]
    match chance.randrange(8):
        case 0 | 1:
            pods.run(f"p{step}")
            uid = f"p{step}"
        case 2 if running:
            uid = chance.choice(running)
            pods.exit(uid)
        case 3 if running:
            uid = chance.choice(running)
            pods.remove(uid)
        case 4:
            node.server.cut()
            return
        case 5:
            method = chance.choice(("ListContainers", "ContainerStatus", "GetContainerEvents"))
            fault = chance.choice((Call.hang, RpcError("Internal", "broken")))
            node.server.answers[method] = fault
            return
        case 6:
            node.server.answers |= pods.answers()
            return
        case _:
            pods.end_streams()
            return
    for _ in range(chance.choice((0, 1, 1, 3))):
        pods.notify(uid, chance.choice([*ContainerEventType]))
