"""Everything that one pod refers to, for whoever computes with it."""

from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.errors import CacheNotSynced, NotFound
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.podconfig.last_known_objects import objects_of
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects
from tests.unit.managers.pods import pod

pytestmark = pytest.mark.virtual_time


async def test_what_can_be_read_is_in_hand_and_the_rest_keeps_its_error() -> None:
    config_map_server, secret_server = ServedObjects(ConfigMap), ServedObjects(Secret)
    settings = config_map_server.put("shop", "settings")
    secret_server.forbids = lambda verb, place: True
    item = pod("web", "settings", "missing", secrets=["password"])
    async with (
        ConfigMapManager(config_map_server, clock=VirtualClock()) as config_maps,
        SecretManager(secret_server, clock=VirtualClock()) as secrets,
    ):
        config_maps.register_pod(item)
        secrets.register_pod(item)

        objects = await objects_of(item, config_maps, secrets)

    assert objects.config_map("shop", "settings") == settings
    assert isinstance(objects.config_map("shop", "missing"), NotFound)
    assert isinstance(objects.secret("shop", "password"), CacheNotSynced)
