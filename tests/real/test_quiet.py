"""A real API server on which nothing happens: that is no fault, and nobody should say so.

Streams that began as a WatchList get no bookmark before something is written, and those of
Events never get one.  Time passes thirty times as fast here; ``make soak`` lets five real minutes
pass as well.
"""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.cluster import Cluster, settings_from
from reflet.managers.manager import ConfigMapManager
from reflet.runtime.metrics import MemoryMetrics
from reflet.transport.config.kubeconfig import Overrides
from tests.faults.hurry import RATE, HurriedClock, HurriedCluster
from tests.real.kube_server import KubeServer
from tests.unit.managers.pods import pod

SECONDS: Final = 300.0
OBJECTS: Final = [f"settings-{number}" for number in range(20)]


async def test_quiet_streams_are_left_alone(
    kube: KubeServer, namespace: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_from(Overrides(kubeconfig=str(kube.write_kubeconfig(tmp_path / "config"))))
    cluster = HurriedCluster(settings, silence_rate=RATE)

    await nobody_complains(
        cluster, kube, namespace, caplog, seconds=SECONDS / RATE, clock=HurriedClock()
    )


@pytest.mark.skipif("REFLET_QUIET_SECONDS" not in os.environ, reason="five minutes: make soak")
@pytest.mark.time_limit(1000)
async def test_quiet_streams_are_left_alone_for_real_minutes(
    kube: KubeServer, namespace: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_from(Overrides(kubeconfig=str(kube.write_kubeconfig(tmp_path / "config"))))
    seconds = float(os.environ["REFLET_QUIET_SECONDS"])

    await nobody_complains(Cluster(settings), kube, namespace, caplog, seconds=seconds)


async def nobody_complains(
    cluster: Cluster,
    kube: KubeServer,
    namespace: str,
    caplog: pytest.LogCaptureFixture,
    *,
    seconds: float,
    **options: Any,
) -> None:
    """Mirror events and watch single objects while nothing is written."""
    for name in OBJECTS:
        made = kube.request(
            "POST", f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": name}}
        )
        assert made.code == 201, made
    caplog.set_level(logging.INFO)
    metrics = MemoryMetrics()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(cluster)
        options["metrics"] = metrics
        events = await stack.enter_async_context(
            cluster.mirror("events", namespace=namespace, **options)
        )
        manager = await stack.enter_async_context(ConfigMapManager(cluster, **options))
        manager.register_pod(pod("quiet", *OBJECTS, namespace=namespace))
        await events.synced(timeout=30)
        for name in OBJECTS:
            await manager.get(namespace, name)
        await asyncio.sleep(seconds)
        live = events.is_live()

    assert live
    assert [record.getMessage() for record in caplog.records] == []
    for resource in ("events", "configmap"):
        silent = metrics.counted("reflet_reflector_watches_total", resource=resource, end="silent")
        assert silent == 0
