"""The ConfigMaps of registered pods."""

from __future__ import annotations

import pytest

from reflet.managers.manager import ConfigMapManager
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects
from tests.unit.managers.pods import pod

pytestmark = pytest.mark.virtual_time


async def test_the_config_maps_of_a_pod_are_kept_and_its_secrets_are_not() -> None:
    server = ServedObjects()
    item = server.put("shop", "settings")
    async with ConfigMapManager(server, clock=VirtualClock()) as config_maps:
        config_maps.register_pod(pod("web", "settings", secrets=["password"]))

        assert await config_maps.get("shop", "settings") == item
        assert server.streams == [("shop", "settings")]
