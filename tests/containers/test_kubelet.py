"""A real kubelet on this machine, and how the same pods fare on it and on ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.containers.comparison_scenes import scenes
from tests.containers.containerd import Containerd
from tests.containers.node_comparison import Side, differences, observe
from tests.containers.nodes import Kubelet, RefletNode, find_kubelet
from tests.containers.programs import ProgramsMissing
from tests.containers.registry import Registry
from tests.real.binaries import BinariesMissing
from tests.real.kube_server import KubeServer

pytestmark = pytest.mark.time_limit(300)

# What is otherwise on our node, by scene and place; docs/explanation/differences.md lists it.
KNOWN: Final = [
    re.compile(pattern)
    for pattern in (
        r"[\w-]+: status\.(\w*[cC]ontainerStatuses\.\w+\.)?(resources|allocatedResources)",
        r"[\w-]+: status\.(initContainerStatuses|containerStatuses)\.\w+\.(user|volumeMounts)",
        r"no-such-program: status\..*\.startedAt",
        # How often a probe is asked before the container is gone is a matter of moments.
        r"probes: (events\..*(BackOff|Unhealthy).*|status\..*(restartCount|lastState).*)",
    )
]


@pytest.fixture(scope="module")
def kube() -> Iterator[KubeServer]:
    try:
        find_kubelet()
    except (ProgramsMissing, BinariesMissing) as error:
        pytest.skip(str(error))
    with KubeServer() as server:
        yield server


def test_a_pod_gets_its_configuration_from_a_real_kubelet(kube: KubeServer) -> None:
    chosen = [scene for scene in scenes("nobody") if scene.name == "environment"]

    with Containerd() as runtime, Kubelet(kube, runtime, name="real"):
        seen = observe([Side(kube, "real")], chosen, patience=60)

    log = seen["environment"][0]["log"]
    assert isinstance(log, dict)
    greeting = "GREETING=hello environment, $(LEVEL) is info, $(NOBODY)"
    assert {"PASSWORD=s3cr3t", "S_LEVEL=info", greeting} <= {*log}


def test_pods_fare_on_ours_as_on_a_real_kubelet(kube: KubeServer) -> None:
    with (
        Registry() as registry,
        Containerd() as theirs,
        Containerd() as ours,
        Kubelet(kube, theirs, name="kubelet"),
        RefletNode(kube, ours, name="reflet"),
    ):
        for runtime in (theirs, ours):
            runtime.trust(registry)
        every = scenes(f"{registry.address}/shop/nobody:1")
        seen = observe([Side(kube, "kubelet"), Side(kube, "reflet")], every, patience=120)

    found = [
        difference
        for scene, (first, second) in seen.items()
        for difference in differences(scene, first, second)
        if not any(known.fullmatch(f"{scene}: {difference.path}") for known in KNOWN)
    ]
    assert [difference.row() for difference in found] == []
