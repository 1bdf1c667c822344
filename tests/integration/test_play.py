"""What plays beside the development server, over its sockets: pods, nodes, and staying alive."""

from __future__ import annotations

import asyncio
import logging

import pytest

from reflet.api import ConfigMap, DeleteOptions, Pod
from reflet.devserver import Fault
from reflet.play import Outcome, Play
from reflet.testing.virtual_time import VirtualClock
from tests.integration.play_scenes import is_ready, playing, pod, state_of, until, until_gone


async def test_a_pod_is_bound_runs_and_is_ready() -> None:
    async with playing(Play("pods")) as (_, cluster):
        await cluster.resource(Pod).create(pod("web"))

        found = await until(cluster, "pods", "web", is_ready)

    assert found.spec["nodeName"] == "play-0"
    assert (found.status["phase"], found.status["hostIP"]) == ("Running", "192.168.0.2")
    assert found.status["podIP"].startswith("10.244.")


@pytest.mark.virtual_time
async def test_an_image_that_crashes_twice_is_ready_after_the_kubelets_back_off() -> None:
    clock = VirtualClock()
    crashes = Outcome("crasher:*", "exit 1, exit 1, run")
    async with playing(Play("pods", outcomes=[crashes], clock=clock)) as (_, cluster):
        began = clock.monotonic()
        await cluster.resource(Pod).create(pod("web", image="crasher:1"))

        waiting = await until(
            cluster, "pods", "web", lambda found: "CrashLoopBackOff" in str(state_of(found))
        )
        found = await until(cluster, "pods", "web", is_ready)

    assert waiting.status["containerStatuses"][0]["restartCount"] == 1
    assert found.status["containerStatuses"][0]["restartCount"] == 2
    assert clock.monotonic() - began >= 9  # 10 seconds, to the second


@pytest.mark.virtual_time
async def test_a_pod_says_by_an_annotation_what_becomes_of_it() -> None:
    async with playing(Play("pods", clock=VirtualClock())) as (_, cluster):
        await cluster.resource(Pod).create(pod("task", "exit 3 after 1h", restartPolicy="Never"))

        found = await until(
            cluster, "pods", "task", lambda found: found.status.get("phase") == "Failed"
        )

    assert state_of(found)["terminated"]["exitCode"] == 3


async def test_a_container_waits_for_its_configuration() -> None:
    reference = [{"configMapRef": {"name": "settings"}}]
    async with playing(Play("pods")) as (_, cluster):
        await cluster.resource(Pod).create(pod("web", container={"envFrom": reference}))
        waiting = await until(cluster, "pods", "web", lambda found: "waiting" in state_of(found))

        await cluster.resource(ConfigMap).create({"metadata": {"name": "settings"}})

        await until(cluster, "pods", "web", is_ready)
    assert state_of(waiting)["waiting"] == {
        "reason": "CreateContainerConfigError",
        "message": 'configmap "settings" not found',
    }


async def test_a_pod_that_fits_nowhere_is_bound_when_a_node_comes_that_can_take_it() -> None:
    async with playing(Play("pods")) as (_, cluster):
        await cluster.resource(Pod).create(pod("web", nodeSelector={"disk": "ssd"}))
        stuck = await until(
            cluster, "pods", "web", lambda found: bool(found.status.get("conditions"))
        )

        node = {
            "name": "fast",
            "labels": {"disk": "ssd"},
            "annotations": {"reflet.dev/play": "node"},
        }
        await cluster.resource("nodes", raw=True).create({"metadata": node})

        found = await until(cluster, "pods", "web", is_ready)
    assert stuck.status["conditions"][0]["reason"] == "Unschedulable"
    assert found.spec["nodeName"] == "fast"


async def test_a_pod_is_gone_at_once_and_one_with_a_finalizer_when_it_is_released() -> None:
    async with playing(Play("pods")) as (_, cluster):
        pods = cluster.resource(Pod)
        await pods.create(pod("plain"))
        await pods.create(pod("held", metadata={"finalizers": ["example.com/hold"]}))
        for name in ("plain", "held"):
            await until(cluster, "pods", name, is_ready)

        await pods.delete("plain")
        await pods.delete("held", DeleteOptions(grace_period_seconds=5))

        await until_gone(cluster, "pods", "plain")
        ended = await until(
            cluster, "pods", "held", lambda found: found.status["phase"] == "Failed"
        )
        assert ended.metadata.finalizers == ("example.com/hold",)
        await pods.patch("held", {"metadata": {"finalizers": None}})
        await until_gone(cluster, "pods", "held")


async def test_play_goes_on_after_a_restart_a_lost_history_and_refusals() -> None:
    async with playing(Play("pods")) as (server, cluster):
        await server.restart()
        server.faults.add(Fault(action="expire", verb="watch", times=3))
        server.faults.add(Fault(action="status", status=500, verb="update", times=2))

        await cluster.resource(Pod).create(pod("web"))

        await until(cluster, "pods", "web", is_ready)


class _Told(logging.Handler):
    """Wakes who waits for a warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.event = asyncio.Event()
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.words.append(record.getMessage())
        self.event.set()


async def test_what_cannot_be_decided_is_told_and_does_not_end_play(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = _Told()
    monkeypatch.setattr(logging.getLogger("reflet.controllers.reconciler"), "handlers", [told])
    async with playing(Play("pods")) as (_, cluster):
        pods = cluster.resource(Pod)
        await pods.create(pod("odd", "dance"))
        await told.event.wait()
        await pods.patch("odd", {"metadata": {"annotations": {"reflet.dev/play": "run"}}})

        await until(cluster, "pods", "odd", is_ready)
    assert told.words[0].startswith("play pods: default/odd failed")
    assert "'dance' in the script 'dance' is no step" in told.words[0]


async def test_each_namespace_gets_its_account_and_the_authority_again_when_they_go() -> None:
    async with playing(Play("serviceaccounts")) as (_, cluster):
        await until(cluster, "serviceaccounts", "default", lambda _: True)
        first = await until(cluster, "configmaps", "kube-root-ca.crt", lambda _: True)

        await cluster.resource(ConfigMap).delete("kube-root-ca.crt")

        uid = first.metadata.uid
        await until(
            cluster, "configmaps", "kube-root-ca.crt", lambda found: found.metadata.uid != uid
        )


async def test_nobody_plays_unless_asked() -> None:
    async with playing(Play()) as (_, cluster):
        await cluster.resource(Pod).create(pod("web"))

        assert "nodeName" not in (await cluster.resource("pods", raw=True).get("web")).spec
