from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest

from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.errors import NotRegistered
from reflet.informer.mirror import Mirror
from reflet.node.pods.configurations import Configurations
from reflet.podconfig.pod_wakeups import PodWakeups
from reflet.podconfig.service_account_tokens import ServiceAccountTokens
from reflet.testing.virtual_time import VirtualClock
from tests.unit.podconfig.scenes import FILES, LINKED, Served, TokenDesk, served, web_pod
from tests.unit.resolution.scenes import pod_with

pytestmark = pytest.mark.virtual_time

POD_IP = {
    "name": "IP",
    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}},
}
TOKEN = {
    "name": "token",
    "projected": {
        "sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}]
    },
}


@dataclass
class Stage:
    objects: Served
    configurations: Configurations


@asynccontextmanager
async def opened(
    strategy: str = "watch", *, skip_invalid_names: bool = False
) -> AsyncIterator[Stage]:
    clock = VirtualClock()
    desk: Any = TokenDesk(clock)
    async with (
        served(strategy=strategy) as objects,
        PodWakeups(objects.config_maps, objects.secrets, clock=clock) as wakeups,
    ):
        configurations = Configurations(
            objects.config_maps,
            objects.secrets,
            wakeups,
            services=cast("Mirror[Service]", ()),
            node=lambda: None,
            tokens=ServiceAccountTokens(desk, clock=clock),
            addresses=lambda: ("10.0.0.1",),
            pod_addresses=lambda _: ("10.0.0.1",),
            mounted=lambda _: {},
            skip_invalid_names=skip_invalid_names,
            clock=clock,
        )
        yield Stage(objects, configurations)
        await configurations.close()


async def value_of(configurations: Configurations, of: Pod, name: str) -> str:
    return (await configurations.resolve(of)).environments["web"].values[name]


async def test_a_registered_pod_is_resolved_from_what_is_kept_for_it() -> None:
    async with opened() as stage:
        await stage.configurations.register(web_pod(), lambda: None)
        resolved = await stage.configurations.resolve(web_pod())

    assert resolved.environments["web"].values == {"TEXT": "one"}
    assert resolved.volumes["keys"].files["text"].data == b"hunter2"


@pytest.mark.parametrize("skip", [False, True])
async def test_keys_that_are_no_names_are_skipped_only_by_an_agent_that_was_told_so(
    skip: bool,
) -> None:
    numbered = {"prefix": "1", "configMapRef": {"name": "settings"}}
    whole = {**LINKED, "env": [], "envFrom": [numbered]}
    pod = pod_with(whole, metadata={"uid": "u-1"}, volumes=list(FILES))
    async with opened(skip_invalid_names=skip) as stage:
        await stage.configurations.register(pod, lambda: None)
        environment = (await stage.configurations.resolve(pod)).environments["web"]

    assert ("1text" in environment.values, len(environment.events)) == (not skip, int(skip))


async def test_a_pod_that_is_not_registered_is_not_resolved() -> None:
    async with opened() as stage:
        with pytest.raises(NotRegistered):
            await stage.configurations.resolve(web_pod())


async def test_a_pod_is_woken_when_something_of_its_own_changes() -> None:
    woken: list[str] = []
    async with opened() as stage:
        await stage.configurations.register(web_pod(), lambda: woken.append("woken"))
        await stage.configurations.resolve(web_pod())
        woken.clear()
        stage.objects.config_map_server.put("shop", "unrelated", text="x")
        await asyncio.sleep(5.0)
        before = list(woken)
        stage.objects.config_map_server.put("shop", "settings", text="two")
        await asyncio.sleep(5.0)

        assert (before, woken) == ([], ["woken"])
        assert await value_of(stage.configurations, web_pod(), "TEXT") == "two"


async def test_a_pod_that_is_registered_again_is_brought_up_to_date_and_woken_once() -> None:
    woken: list[str] = []
    other = {**LINKED, "env": [{"name": "OTHER", "value": "x"}]}
    async with opened() as stage:
        for pod in (web_pod(), pod_with(other, metadata={"uid": "u-1"}, volumes=list(FILES))):
            await stage.configurations.register(pod, lambda: woken.append("woken"))
        resolved = await stage.configurations.resolve(web_pod())
        woken.clear()
        stage.objects.config_map_server.put("shop", "settings", text="two")
        await asyncio.sleep(5.0)

        assert (len(stage.configurations), woken) == (1, ["woken"])
    assert resolved.environments["web"].values == {"OTHER": "x"}


@pytest.mark.parametrize("strategy", ["watch", "get"])
async def test_a_pod_that_is_unregistered_is_neither_kept_nor_woken(strategy: str) -> None:
    woken: list[str] = []
    async with opened(strategy) as stage:
        await stage.configurations.register(web_pod(), lambda: woken.append("woken"))
        await stage.configurations.resolve(web_pod())
        await stage.configurations.unregister(web_pod())
        await stage.configurations.unregister(web_pod())
        woken.clear()
        stage.objects.config_map_server.put("shop", "settings", text="two")
        await asyncio.sleep(300.0)

        assert (len(stage.configurations), woken) == (0, [])
        assert stage.objects.config_map_server.streams == []


async def test_a_pod_knows_its_address_before_the_server_does() -> None:
    pod = pod_with({"env": [POD_IP]}, metadata={"uid": "u-1"})
    async with opened() as stage:
        await stage.configurations.register(pod, lambda: None)

        assert await value_of(stage.configurations, pod, "IP") == "10.0.0.1"


async def test_the_address_of_its_sandbox_is_newer_than_the_one_that_the_server_knows() -> None:
    known = {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}
    pod = pod_with({"env": [POD_IP]}, metadata={"uid": "u-1"}, status=known)
    async with opened() as stage:
        await stage.configurations.register(pod, lambda: None)

        assert await value_of(stage.configurations, pod, "IP") == "10.0.0.1"


async def test_a_token_says_when_it_should_be_replaced() -> None:
    pod = pod_with({}, metadata={"uid": "u-1"}, volumes=[TOKEN], serviceAccountName="web")
    async with opened() as stage:
        await stage.configurations.register(pod, lambda: None)
        await stage.configurations.resolve(pod)
        due = stage.configurations.refresh_due(pod)

        assert due is not None
        assert 0 < due < 3600
        assert stage.configurations.refresh_due(web_pod()) is None


async def test_nothing_is_kept_after_the_end() -> None:
    async with opened() as stage:
        await stage.configurations.register(web_pod(), lambda: None)
        await stage.configurations.resolve(web_pod())
        await stage.configurations.close()
        await asyncio.sleep(5.0)

        assert len(stage.configurations) == 0
        assert stage.objects.secret_server.streams == []
