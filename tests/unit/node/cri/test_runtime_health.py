from __future__ import annotations

import asyncio

import pytest

from reflet.cri.messages.service import RuntimeCondition
from reflet.errors import RpcUnavailable
from reflet.node.cri.runtime_health import RuntimeHealth
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.cri.paper_cri import READY, PaperCri
from tests.unit.node.paper_node import passing

pytestmark = pytest.mark.virtual_time


async def test_a_runtime_that_was_never_ready_is_told_so() -> None:
    health = RuntimeHealth(PaperCri().runtime, clock=VirtualClock())

    assert health.problem() == "container runtime status check may not have completed yet"
    await health.look()
    assert health.problem() is None


async def test_a_network_that_is_not_ready_is_told_in_the_kubelets_words() -> None:
    cri = PaperCri()
    cri.conditions = (
        READY[0],
        RuntimeCondition(type="NetworkReady", reason="NoCni", message="no plugin"),
    )
    health = RuntimeHealth(cri.runtime, clock=VirtualClock())

    await health.look()

    words = "NetworkReady=false reason:NoCni message:no plugin"
    assert health.problem() == f"container runtime network not ready: {words}"
    assert health.network_problem == health.problem()


async def test_a_network_that_gets_ready_at_the_start_is_seen_at_once() -> None:
    cri = PaperCri()
    cri.conditions = (READY[0],)
    health = RuntimeHealth(cri.runtime, clock=VirtualClock())
    running = asyncio.create_task(health.run())
    await passing(1)
    before = health.problem()
    cri.conditions = READY
    await passing(0.5)
    now = health.problem()
    running.cancel()
    await asyncio.wait((running,))

    assert before is not None
    assert now is None


async def test_a_runtime_that_does_not_answer_for_a_while_is_down() -> None:
    cri = PaperCri()
    health = RuntimeHealth(cri.runtime, clock=VirtualClock())
    await health.look()
    cri.failures["status"] = RpcUnavailable("Unavailable", "gone")

    await passing(20)
    await health.look()
    soon = health.problem()
    await passing(20)
    await health.look()

    assert soon is None
    assert health.problem() == "container runtime is down"
