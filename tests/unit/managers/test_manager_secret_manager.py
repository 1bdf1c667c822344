"""The Secrets of registered pods."""

from __future__ import annotations

import pytest

from reflet.api.core.config import Secret
from reflet.errors import CacheNotSynced, NotFound
from reflet.managers.manager import SecretManager
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects
from tests.unit.managers.pods import pod

pytestmark = pytest.mark.virtual_time


async def test_the_secrets_of_a_pod_are_kept_and_its_config_maps_are_not() -> None:
    server = ServedObjects(Secret)
    item = server.put("shop", "password")
    async with SecretManager(server, clock=VirtualClock()) as secrets:
        secrets.register_pod(pod("web", "settings", secrets=["password", "missing"]))

        assert await secrets.get("shop", "password") == item
        assert sorted(server.streams) == [("shop", "missing"), ("shop", "password")]
        with pytest.raises(NotFound, match=r'^secret "missing" not found$'):
            await secrets.get("shop", "missing")


async def test_a_secret_that_does_not_come_is_named_by_its_kind() -> None:
    server = ServedObjects(Secret)
    server.go_away()
    text = r"^failed to sync secret cache: timed out waiting for the condition$"
    async with SecretManager(server, clock=VirtualClock()) as secrets:
        secrets.register_pod(pod("web", secrets=["password"]))

        with pytest.raises(CacheNotSynced, match=text):
            await secrets.get("shop", "password")
