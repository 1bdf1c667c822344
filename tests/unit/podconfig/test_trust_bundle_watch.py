"""Trust bundles: when they are asked for, and what is told when they cannot be had."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from reflet.api.codec import Listing
from reflet.api.meta import ListMeta
from reflet.api.options import ListOptions
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.errors import Forbidden, RefletError, TransportError
from reflet.podconfig.trust_bundle_watch import (
    ASK_AGAIN,
    SYNC_TIMEOUT,
    TrustBundles,
    list_trust_bundles,
)
from reflet.resolution.volumes.trust_bundles import TrustBundle
from reflet.testing.scripted_source import After, Quiet, ScriptedSource, bookmark
from reflet.testing.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

BUNDLES = Resource(
    group="certificates.k8s.io",
    version="v1beta1",
    plural="clustertrustbundles",
    kind="ClusterTrustBundle",
    namespaced=False,
)
OTHER = Resource(group="example.com", version="v1", plural="others", kind="ClusterTrustBundle")


def forbidden() -> Forbidden:
    return Forbidden("no bundles for you", code=403, reason="Forbidden")


def listing(*names: str) -> Listing[AnyObject]:
    items = tuple(AnyObject.from_dict({"metadata": {"name": name}}) for name in names)
    return Listing(metadata=ListMeta(resource_version="1"), items=items)


class BundleSource(ScriptedSource[AnyObject]):
    """The resource itself, which can be listed by whoever looks once."""

    resource = BUNDLES

    async def list(self) -> Listing[AnyObject]:
        return await self.page(ListOptions())


class PaperClient:
    """A server of which it is noted how often its resources were asked for."""

    def __init__(self, *served: Resource, lists: Any = (), watches: Any = ()) -> None:
        self.served: tuple[Resource, ...] | RefletError = served
        self.looks = 0
        self.source = BundleSource(lists=lists, watches=watches)

    async def resources(self, *, refresh: bool = False) -> tuple[Resource, ...]:
        self.looks += 1
        if isinstance(self.served, RefletError):
            raise self.served
        return self.served

    def resource(self, _: Resource, *, raw: bool) -> Any:
        assert raw
        return self.source


def bundles_of(client: PaperClient) -> TrustBundles:
    return TrustBundles(cast("Client", client), clock=VirtualClock())


async def test_a_server_that_has_none_is_asked_again_after_a_while() -> None:
    client = PaperClient(OTHER)
    clock = VirtualClock()
    async with TrustBundles(cast("Client", client), clock=clock) as bundles:
        first = [await bundles.read() for _ in range(3)]
        looks = client.looks
        await clock.sleep(ASK_AGAIN)
        await bundles.read()

    assert (first, looks, client.looks) == ([None, None, None], 1, 2)


async def test_a_server_that_does_not_answer_is_an_error_and_asked_again_at_once() -> None:
    client = PaperClient()
    client.served = TransportError("away")
    async with bundles_of(client) as bundles:
        answers = [await bundles.read(), await bundles.read()]

    assert [str(each) for each in answers] == ["away", "away"]
    assert client.looks == 2


class Reader:
    """Reads, and reads again whenever it is told to."""

    def __init__(self, bundles: TrustBundles) -> None:
        self._bundles = bundles
        self._told = asyncio.Event()
        bundles.on_change = self._told.set
        self.answers: list[str] = []

    async def run(self) -> None:
        while True:
            self._told.clear()
            answer = str(await self._bundles.read())
            if answer not in self.answers[-1:]:
                self.answers.append(answer)
            await self._told.wait()


async def answers_in_an_hour(client: PaperClient, then: Callable[[], None]) -> list[str]:
    async with bundles_of(client) as bundles:
        reader = Reader(bundles)
        reading = asyncio.create_task(reader.run())
        await asyncio.sleep(2 * ASK_AGAIN)
        then()
        await asyncio.sleep(3600)
        reading.cancel()
        await asyncio.wait({reading})
    return reader.answers


@pytest.mark.parametrize("at_first", [TransportError("away"), ()])
async def test_whoever_wants_them_is_told_to_look_again(at_first: Any) -> None:
    end = bookmark("1", ends_initial_events=True)
    client = PaperClient(watches=[[end, Quiet.HEALTHY]])
    client.served = at_first

    def serve() -> None:
        client.served = (BUNDLES,)

    answers = await answers_in_an_hour(client, serve)

    assert answers == ["away" if at_first else "None", "()"]


async def test_whoever_waited_for_the_first_list_is_told_of_an_empty_one() -> None:
    end = bookmark("1", ends_initial_events=True)
    client = PaperClient(BUNDLES, watches=[[After(60), end, Quiet.HEALTHY]])

    answers = await answers_in_an_hour(client, lambda: None)

    assert answers == ["ClusterTrustBundle informer has not yet synced", "()"]


async def test_whoever_may_not_read_them_is_told_why() -> None:
    client = PaperClient(BUNDLES, lists=[forbidden()] * 10, watches=[forbidden()] * 10)
    clock = VirtualClock()
    async with TrustBundles(cast("Client", client), clock=clock) as bundles:
        began = clock.monotonic()
        answer = await bundles.read()
        waited = clock.monotonic() - began

    assert isinstance(answer, RefletError)
    assert "ClusterTrustBundle informer has not yet synced" in str(answer)
    assert "no bundles for you" in str(answer)
    assert waited < SYNC_TIMEOUT


async def test_whoever_is_cancelled_while_it_opens_leaves_one_watch() -> None:
    client = PaperClient(BUNDLES)
    async with bundles_of(client) as bundles:
        reading = asyncio.create_task(bundles.read())
        await client.source.until_quiet()
        reading.cancel()
        await asyncio.wait({reading})
        answer = await bundles.read()

    assert str(answer) == "ClusterTrustBundle informer has not yet synced"
    assert client.source.requests == ["stream at ''"]


async def test_a_single_look_lists_them() -> None:
    some = PaperClient(OTHER, BUNDLES, lists=[listing("a")])
    none, refused = PaperClient(), PaperClient(BUNDLES, lists=[forbidden()])

    assert await list_trust_bundles(cast("Client", some)) == (TrustBundle(name="a"),)
    assert await list_trust_bundles(cast("Client", none)) is None
    assert isinstance(await list_trust_bundles(cast("Client", refused)), Forbidden)
