from __future__ import annotations

import pytest

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.options import ListOptions, WatchOptions
from reflet.errors import Expired, RefletError
from reflet.informer.reflector.health import ServerHealth
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.requests import ReflectorRequests, Selection
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.scripted_source import ScriptedSource, listing
from reflet.testing.virtual_time import ManualClock

A, B = (ConfigMap(metadata=ObjectMeta(name=name)) for name in "ab")


class Scene:
    """Requests to a scripted source, and the health beside them."""

    def __init__(
        self,
        *lists: Listing[ConfigMap] | Exception,
        selection: Selection | None = None,
        chance: float = 0.0,
    ) -> None:
        self.source = ScriptedSource[ConfigMap](lists=lists)
        clock = ManualClock()
        clock.advance(100)
        self.health = ServerHealth(
            "test",
            clock=clock,
            metrics=ReflectorMetrics(MemoryMetrics(), "test"),
            on_connection=None,
        )
        self.requests = ReflectorRequests(
            self.source,
            selection or Selection(),
            description="ConfigMap",
            clock=clock,
            chance=lambda: chance,
            health=self.health,
        )


async def test_a_list_collects_pages_at_the_version_of_the_first() -> None:
    scene = Scene(listing("7", A, continue_="more"), listing("9", B))

    listed = await scene.requests.list("0")

    assert (listed.items, listed.version, listed.paginated) == ([A, B], "7", True)
    assert scene.source.requests == ["list at '0'", "page 'more'"]
    assert scene.health.last_progress == 100


async def test_a_token_that_expires_on_the_way_begins_the_list_anew() -> None:
    expired = Expired("too old", code=410, reason="Expired")
    scene = Scene(listing("7", A, continue_="more"), expired, listing("9", B))

    listed = await scene.requests.list("5")

    assert (listed.items, listed.version) == ([B], "9")
    assert scene.source.requests == ["list at '5'", "page 'more'", "list at '5'"]


async def test_a_server_that_goes_in_circles_is_noticed() -> None:
    scene = Scene(listing("7", A, continue_="more"), listing("7", B, continue_="more"))

    with pytest.raises(RefletError, match="the same continue token twice"):
        await scene.requests.list("0")


async def test_objects_of_a_list_share_what_they_have_in_common() -> None:
    def decoded(name: str) -> ConfigMap:  # with a text of its own, as a decoder makes it
        return ConfigMap(metadata=ObjectMeta(name=name, namespace=b"shop".decode()))

    scene = Scene(listing("7", decoded("a"), continue_="more"), listing("7", decoded("b")))

    first, second = (await scene.requests.list("0")).items

    assert first.metadata.namespace is second.metadata.namespace


async def test_a_refused_list_raises_and_is_no_sign_of_life() -> None:
    scene = Scene(Expired("too old", code=410, reason="Expired"))

    with pytest.raises(Expired):
        await scene.requests.list("5")

    assert scene.health.last_progress is None


async def test_a_table_is_not_a_list() -> None:
    table = Listing[ConfigMap](api_version="meta.k8s.io/v1", kind="Table")
    scene = Scene(table)

    with pytest.raises(RefletError) as raised:
        await scene.requests.list("0")

    assert str(raised.value) == (
        "unsupported list gvk: meta.k8s.io/v1, Kind=Table, type: ConfigMap"
    )


@pytest.mark.parametrize(
    ("minimum", "chance", "timeout"),
    [(300, 0.0, 300), (300, 0.5, 450), (300, 0.9999, 599), (1800, 0.5, 2700), (5, 0.0, 300)],
)
async def test_watches_ask_for_a_random_time_from_the_minimum_to_twice_as_long(
    minimum: float, chance: float, timeout: int
) -> None:
    scene = Scene(selection=Selection(minimum_watch_timeout=minimum), chance=chance)

    await (await scene.requests.watch("7")).close()

    assert scene.source.asked == [
        WatchOptions(resource_version="7", timeout_seconds=timeout, allow_bookmarks=True)
    ]


async def test_a_streaming_list_asks_for_initial_events_not_older_than_the_version() -> None:
    scene = Scene()

    await (await scene.requests.watch("7", initial_events=True)).close()

    assert scene.source.asked == [
        WatchOptions(
            resource_version="7",
            resource_version_match="NotOlderThan",
            send_initial_events=True,
            timeout_seconds=300,
        )
    ]


async def test_selectors_go_with_every_request() -> None:
    selection = Selection(label_selector="app=web", field_selector="metadata.name=a")
    scene = Scene(listing("7"), selection=selection)

    await scene.requests.list("7", match="Exact")
    await (await scene.requests.watch("7")).close()

    assert scene.source.asked == [
        ListOptions(
            label_selector="app=web",
            field_selector="metadata.name=a",
            resource_version="7",
            resource_version_match="Exact",
            limit=500,
        ),
        WatchOptions(
            label_selector="app=web",
            field_selector="metadata.name=a",
            resource_version="7",
            timeout_seconds=300,
        ),
    ]
