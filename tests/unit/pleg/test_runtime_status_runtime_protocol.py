from __future__ import annotations

from reflet.pleg.runtime_status import PodRuntime
from tests.pod_runtime import FakeRuntime, pod


async def test_a_runtime_fits_by_its_shape_alone() -> None:
    runtime: PodRuntime = FakeRuntime(pod("p"))

    assert await runtime.list_pods() == [await runtime.find_pod("p")]
