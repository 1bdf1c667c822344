"""Informers that live together."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS, SECRETS, Resource
from reflet.errors import ConnectionRefused, Forbidden
from reflet.informer.handlers.changes import Change
from reflet.informer.informer_set import InformerSet
from reflet.informer.shared_informer import InformerStopped, NotSynced
from reflet.testing.scripted_source import ScriptedSource, listing
from reflet.testing.virtual_time import VirtualClock
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time


class Server:
    """Has one object of everything, but for the resources that it refuses."""

    def __init__(self, *, refusing: Mapping[Resource, Exception] | None = None) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.sources: list[ScriptedSource[ConfigMap]] = []
        self._refusing = refusing or {}

    def source_for(self, resource: Resource, namespace: str | None) -> ScriptedSource[ConfigMap]:
        self.asked.append((resource.plural, namespace))
        refusal = self._refusing.get(resource)
        source = ScriptedSource[ConfigMap](
            lists=[listing("1", config_map("a", "1"))] if refusal is None else [refusal] * 99
        )
        self.sources.append(source)
        return source

    def informers(self, **options: Any) -> InformerSet:
        settings = {"clock": VirtualClock(), "streaming": False, "on_error": lambda error: None}
        return InformerSet(self.source_for, **{**settings, **options})


async def test_who_asks_for_the_same_gets_the_same() -> None:
    informers = Server().informers()

    first = informers.informer(CONFIG_MAPS, namespace="shop", label_selector="a=b,c=d")
    second = informers.informer(CONFIG_MAPS, namespace="shop", label_selector="c=d, a=b")

    assert first is second
    assert len(informers) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"resource": SECRETS, "namespace": "shop"},
        {"resource": CONFIG_MAPS},
        {"resource": CONFIG_MAPS, "namespace": "shop", "label_selector": "a=b"},
        {"resource": CONFIG_MAPS, "namespace": "shop", "field_selector": "metadata.name=x"},
    ],
)
async def test_who_asks_for_something_else_gets_something_else(other: dict[str, Any]) -> None:
    server = Server()
    informers = server.informers()

    first = informers.informer(CONFIG_MAPS, namespace="shop")

    assert informers.informer(**other) is not first
    assert len(server.asked) == 2


async def test_an_informer_is_named_after_its_collection() -> None:
    informer = (
        Server()
        .informers()
        .informer(
            CONFIG_MAPS, namespace="shop", label_selector="a=b", field_selector="metadata.name=x"
        )
    )

    assert informer.name == "configmaps in shop with a=b and metadata.name=x"


async def test_they_start_and_stop_together() -> None:
    server = Server()
    informers = server.informers()
    both = [informers.informer(CONFIG_MAPS), informers.informer(SECRETS)]

    async with informers:
        await informers.wait_synced(timeout=10)
        held = [len(informer.store) for informer in both]

    assert held == [1, 1]
    assert [informer.is_stopped for informer in both] == [True, True]
    assert [source.open_watches for source in server.sources] == [0, 0]


async def test_the_last_one_stops_first() -> None:
    stopped: list[str] = []
    informers = Server().informers()

    async def stays(name: str, change: Change[ConfigMap]) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            stopped.append(name)

    for resource in (CONFIG_MAPS, SECRETS):
        informer = informers.informer(resource)
        informer.add_handler(functools.partial(stays, resource.plural))
    async with informers:
        await informers.wait_synced()
        await asyncio.sleep(1)

    assert stopped == ["secrets", "configmaps"]


async def test_one_that_is_asked_for_later_starts_at_once() -> None:
    informers = Server().informers()
    async with informers:
        late = informers.informer(CONFIG_MAPS)
        await informers.wait_synced(timeout=10)

        assert late.synced.is_set


FORBIDDEN = Forbidden("secrets is forbidden", code=403, reason="Forbidden")


async def test_those_that_are_not_synced_in_time_are_named_and_say_why() -> None:
    informers = Server(refusing={SECRETS: FORBIDDEN}).informers()
    informers.informer(CONFIG_MAPS)
    informers.informer(SECRETS, namespace="shop")

    async with informers:
        with pytest.raises(NotSynced, match=r"secrets in shop \(secrets is forbidden\)$") as caught:
            await informers.wait_synced(timeout=10)

    assert (caught.value.names, caught.value.__cause__) == (("secrets in shop",), FORBIDDEN)


async def test_what_waiting_does_not_mend_ends_the_wait_while_others_are_late() -> None:
    late = ConnectionRefused("nobody listens")
    informers = Server(refusing={CONFIG_MAPS: late, SECRETS: FORBIDDEN}).informers()
    informers.informer(CONFIG_MAPS)
    informers.informer(SECRETS)

    async with informers:
        with pytest.raises(Forbidden):
            await informers.wait_synced(timeout=3600, fail_on=Forbidden)

    assert asyncio.get_running_loop().time() < 10


async def test_an_empty_set_is_synced() -> None:
    async with Server().informers() as informers:
        await informers.wait_synced(timeout=0)


async def test_nothing_can_be_asked_of_a_set_that_has_stopped() -> None:
    informers = Server().informers()
    async with informers:
        pass

    with pytest.raises(InformerStopped):
        informers.informer(CONFIG_MAPS)
