"""What typed clients make of parts of objects, on the development server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from reflet.cluster import Cluster, connect
from reflet.testing.pytest_plugin import RunningServer
from tests.subresource_scenes import SCENES


@pytest.mark.parametrize("scene", SCENES)
async def test_a_part_of_an_object_comes_as_what_it_is(
    server: RunningServer, scene: Callable[[Cluster], Awaitable[None]]
) -> None:
    async with connect(kubeconfig=str(server.kubeconfig)) as cluster:
        await scene(cluster)
