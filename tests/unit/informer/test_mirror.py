"""A collection in memory, as a program first meets it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import ALL_NAMESPACES, CONFIG_MAPS, NODES, Resource
from reflet.client.resource_client import ResourceClient
from reflet.errors import ConfigurationError, ConnectionRefused, Forbidden, NotFound
from reflet.informer.mirror import Mirror, NotMirrored
from reflet.informer.shared_informer import NotSynced
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    bookmark,
    deleted,
    listing,
    modified,
)
from reflet.testing.virtual_time import VirtualClock
from tests.unit.client.scripted_transport import ScriptedTransport
from tests.unit.store.config_maps import config_map, names, users_of

pytestmark = pytest.mark.virtual_time

A1, A2 = config_map("a", "1", users="x"), config_map("a", "2", users="x")
B1, BANK = config_map("b", "1"), config_map("a", "1", namespace="bank")


def mirror_of(
    *items: ConfigMap,
    watch: Any = (),
    namespace: str | None = "shop",
    resource: Resource = CONFIG_MAPS,
    **options: Any,
) -> Mirror[ConfigMap]:
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", *items)], watches=[[*watch, Quiet.HEALTHY]]
    )
    settings = {"clock": VirtualClock(), "streaming": False, **options}
    return Mirror(source, resource, namespace=namespace, **settings)


async def test_objects_are_read_by_name() -> None:
    async with mirror_of(A1, B1) as mirror:
        await mirror.synced(timeout=10)

        assert (mirror.get("a"), mirror["b"], mirror.get("c")) == (A1, B1, None)
        assert ("a" in mirror, "c" in mirror, len(mirror)) == (True, False, 2)


@pytest.mark.parametrize("kind", [NotFound, KeyError])
async def test_a_missing_object_is_not_found_and_no_key(kind: type[Exception]) -> None:
    async with mirror_of() as mirror:
        await mirror.synced()

        with pytest.raises(kind, match=r'^configmaps "c" not found$'):
            _ = mirror["c"]


@pytest.mark.parametrize(
    ("namespace", "resource", "expected"),
    [
        ("shop", CONFIG_MAPS, {"a": A1, "b": B1, "bank/a": BANK}),
        (None, CONFIG_MAPS, {"shop/a": A1, "shop/b": B1, "bank/a": BANK}),
    ],
)
async def test_a_mirror_is_a_mapping_by_name(
    namespace: str | None, resource: Resource, expected: dict[str, ConfigMap]
) -> None:
    async with mirror_of(A1, B1, BANK, namespace=namespace, resource=resource) as mirror:
        await mirror.synced()

        assert list(mirror) == mirror.keys() == list(expected)
        assert mirror.values() == list(expected.values())
        assert mirror.items() == list(expected.items())
        assert dict(mirror) == expected
        assert all(name in mirror for name in mirror)


async def test_a_mirror_of_all_namespaces_is_asked_with_the_namespace() -> None:
    async with mirror_of(A1, BANK, namespace=None) as mirror:
        await mirror.synced()

        assert mirror.get("a", "bank") == mirror.get("a", namespace="bank") == BANK
        assert mirror["shop/a"] == A1
        with pytest.raises(ConfigurationError, match="say in which one 'a' is"):
            mirror.get("a")
        with pytest.raises(NotFound, match=r'^configmaps "z" not found$'):
            _ = mirror["shop/z"]


async def test_resources_without_namespaces_have_names_only() -> None:
    node = config_map("node", namespace="")
    async with mirror_of(node, namespace=None, resource=NODES) as mirror:
        await mirror.synced()

        assert (mirror["node"], list(mirror)) == (node, ["node"])


async def test_objects_are_listed_by_selector_namespace_and_index() -> None:
    mirror = mirror_of(A1, B1, BANK, namespace=None, indexers={"users": users_of})
    async with mirror:
        await mirror.synced()

        assert names(mirror.list()) == names(mirror.values()) == ["a", "a", "b"]
        assert names(mirror.list("app=a", namespace="shop")) == ["a"]
        assert names(mirror.by_index("users", "x")) == ["a"]


async def test_changes_are_iterated_until_the_loop_is_left() -> None:
    watch = [After(1), [modified(A2), deleted(B1)]]
    async with mirror_of(A1, B1, watch=watch) as mirror:
        seen = []
        async for change in mirror.changes():
            seen.append((change.type, change.object.metadata.name))
            if change.type == "DELETED":
                break

        assert len(mirror.informer._handlers) == 0
    assert seen == [("ADDED", "a"), ("ADDED", "b"), ("UPDATED", "a"), ("DELETED", "b")]


async def test_handlers_are_told_until_they_are_removed() -> None:
    heard: list[str] = []
    async with mirror_of(A1, watch=[After(1), modified(A2)]) as mirror:
        registration = mirror.add_handler(lambda change: heard.append(change.type), name="mine")
        await registration.synced.wait()
        mirror.remove_handler(registration)
        await asyncio.sleep(5)

    assert (heard, registration.name) == (["ADDED"], "mine")


async def test_a_mirror_says_how_far_it_is_and_whether_it_lives() -> None:
    mirror = mirror_of(A1, watch=[After(50), bookmark("7")])
    before = (mirror.last_version, mirror.is_synced, mirror.is_live())
    async with mirror:
        await asyncio.sleep(100)
        during = (mirror.last_version, mirror.is_synced, mirror.is_live(), mirror.is_live(10))
    after = (mirror.is_synced, mirror.is_live())

    assert before == ("", False, False)
    assert during == ("7", True, True, False)
    assert after == (True, False)


def refused(*errors: Exception) -> Mirror[ConfigMap]:
    """A mirror whose lists are refused."""
    source = ScriptedSource[ConfigMap](lists=errors)
    return Mirror(source, CONFIG_MAPS, namespace="shop", clock=VirtualClock(), streaming=False)


FORBIDDEN = Forbidden("configmaps is forbidden", code=403, reason="Forbidden")
REFUSED = ConnectionRefused("nobody listens")


@pytest.mark.parametrize(
    ("error", "text"),
    [(FORBIDDEN, "configmaps is forbidden"), (REFUSED, "nobody listens")],
)
async def test_a_mirror_that_is_not_filled_in_time_says_why(error: Exception, text: str) -> None:
    async with refused(*[error] * 99) as mirror:
        with pytest.raises(NotSynced, match=rf"configmaps in shop \({text}\)$") as caught:
            await mirror.synced(timeout=30)

    assert caught.value.__cause__ is error


async def test_what_waiting_does_not_mend_ends_the_wait_at_once() -> None:
    loop = asyncio.get_running_loop()
    async with refused(REFUSED, FORBIDDEN) as mirror:
        with pytest.raises(Forbidden, match="configmaps is forbidden"):
            await mirror.synced(timeout=3600, fail_on=(Forbidden, NotFound))

    assert loop.time() < 60


async def test_what_was_met_before_ends_the_wait_too() -> None:
    async with refused(FORBIDDEN) as mirror:
        await asyncio.sleep(0.1)

        with pytest.raises(Forbidden):
            await mirror.synced(timeout=1, fail_on=Forbidden)


async def test_a_mirror_that_is_filled_in_the_end_has_not_failed() -> None:
    source = ScriptedSource[ConfigMap](lists=[REFUSED, FORBIDDEN, listing("1", A1)])
    mirror = Mirror(source, CONFIG_MAPS, clock=VirtualClock(), streaming=False)
    async with mirror:
        await mirror.synced(timeout=60)

        await mirror.synced(timeout=1, fail_on=Forbidden)
        assert mirror.informer.failure is None


async def test_it_asks_for_what_is_selected() -> None:
    source = ScriptedSource(lists=[listing("1", A1)])
    mirror = Mirror(
        source,
        CONFIG_MAPS,
        clock=VirtualClock(),
        streaming=False,
        label_selector="app=a",
        field_selector="metadata.name=a",
    )
    async with mirror:
        await mirror.synced()

    options = source.asked[0]
    assert (str(options.label_selector), str(options.field_selector)) == (
        "app=a",
        "metadata.name=a",
    )


async def test_it_says_what_it_is() -> None:
    assert repr(mirror_of()) == "<Mirror configmaps in shop, 0 objects at ''>"


def test_what_is_not_mirrored_is_not_found_and_no_key_and_says_so_without_quotes() -> None:
    error = NotMirrored.of(CONFIG_MAPS, "settings")

    assert isinstance(error, NotFound)
    assert isinstance(error, KeyError)
    assert str(error) == 'configmaps "settings" not found'
    assert (error.code, error.reason, error.kind, error.name) == (
        404,
        "NotFound",
        "configmaps",
        "settings",
    )


@pytest.mark.parametrize(
    ("of_the_source", "given", "expected"),
    [
        ("shop", None, "shop"),
        ("shop", "bank", "bank"),
        ("shop", ALL_NAMESPACES, None),
        (None, None, None),
        (ALL_NAMESPACES, None, None),
    ],
)
def test_no_namespace_means_that_of_the_source(
    of_the_source: str | None, given: str | None, expected: str | None
) -> None:
    client = ResourceClient(ScriptedTransport(), CONFIG_MAPS, ConfigMap, namespace=of_the_source)

    assert Mirror(client, CONFIG_MAPS, namespace=given).namespace == expected
