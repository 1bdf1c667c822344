"""The kubelet's own tables of what CRI's answers mean for a pod."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.cri.conversions import container_status, moment, pods_of
from reflet.cri.messages.containers import ContainerMetadata, ContainerState, ContainerStatus
from reflet.cri.messages.images import ImageSpec
from reflet.cri.messages.sandboxes import PodSandbox, PodSandboxMetadata
from reflet.pleg.relist import Pleg
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeSandbox, RuntimeState
from reflet.pleg.status_cache import StatusCache
from reflet.testing.virtual_time import ManualClock
from tests.pod_runtime import FakeRuntime, pod

RECORDED = json.loads((Path(__file__).parent / "data" / "cri_statuses.json").read_text())
TIMES = ("created_at", "started_at", "finished_at")


@pytest.mark.parametrize("case", RECORDED["container_statuses"])
def test_a_container_is_converted(case: str) -> None:
    recorded = RECORDED["container_statuses"][case]
    given, expected = dict(recorded["input"]), dict(recorded["expected"])
    status = ContainerStatus(
        id="dummyid",
        metadata=ContainerMetadata(name="cname", attempt=3),
        image=ImageSpec(image="fimage"),
        state=ContainerState[given.pop("state")],
        **given,
    )
    times: dict[str, Any] = {name: moment(expected.pop(name)) for name in TIMES if name in expected}
    state = RuntimeState(expected.pop("state"))

    assert container_status(status) == RuntimeContainerStatus(
        # The kubelet has the name from a label, which is not there; we fall back on the metadata.
        id="dummyid",
        name="cname",
        image="fimage",
        state=state,
        **times,
        **expected,
    )


def test_pods_are_sorted() -> None:
    recorded: dict[str, Any] = RECORDED["pods_sorted"]
    sandboxes = [
        PodSandbox(
            id=str(index),
            created_at=created_at,
            metadata=PodSandboxMetadata(name="foo", namespace="bar", uid=str(index)),
        )
        for index, created_at in enumerate(recorded["created_at"])
    ]

    assert [int(each.uid) for each in pods_of(sandboxes, [])] == recorded["expected"]


@pytest.mark.parametrize("case", RECORDED["kept_ips"])
async def test_addresses_are_kept_after_the_end(case: str) -> None:
    recorded = RECORDED["kept_ips"][case]
    runtime, cache = FakeRuntime(pod("p", {"c": "running"})), StatusCache()
    pleg = Pleg(runtime, cache, clock=ManualClock())
    runtime.ips["p"] = tuple(recorded["known"])
    await pleg.relist()
    runtime.ips["p"] = tuple(recorded["ips"])
    runtime.sandboxes["p"] = tuple(
        RuntimeSandbox(id=str(index), ready=ready) for index, ready in enumerate(recorded["ready"])
    )
    pleg.request_reinspection("p")
    await pleg.relist()

    assert cache.get("p").status.ips == tuple(recorded["expected"])
