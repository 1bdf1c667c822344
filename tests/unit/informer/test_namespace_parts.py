"""Informers of several namespaces: one store, one set of handlers, a reflector for each."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.errors import ConfigurationError, ConnectionRefused, Expired, Forbidden, MisuseError
from reflet.informer.handlers.changes import Change
from reflet.informer.mirror import Mirror
from reflet.informer.namespace_parts import oldest
from reflet.informer.shared_informer import NotSynced
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    added,
    bookmark,
    listing,
    modified,
)
from reflet.testing.virtual_time import VirtualClock
from tests.unit.store.config_maps import config_map, users_of

pytestmark = pytest.mark.virtual_time

SHOP, SHOP2 = config_map("a", "1", users="x"), config_map("a", "20", users="x")
BANK, BANK2 = (config_map("a", version, namespace="bank", users="x") for version in ("2", "9"))
LATER = config_map("b", "12", namespace="bank")
GONE = Expired("too old", code=410, reason="Expired")
FORBIDDEN = Forbidden("no", code=403, reason="Forbidden")


def source(*lists: Any, watches: Any = ()) -> ScriptedSource[ConfigMap]:
    return ScriptedSource[ConfigMap](lists=lists, watches=[*watches, [Quiet.HEALTHY]])


def mirror_of(
    shop: ScriptedSource[ConfigMap], bank: ScriptedSource[ConfigMap], **options: Any
) -> Mirror[ConfigMap]:
    settings = {
        "clock": VirtualClock(),
        "streaming": False,
        "on_error": lambda error: None,
        **options,
    }
    return Mirror({"shop": shop, "bank": bank}, CONFIG_MAPS, **settings)


async def test_objects_of_all_the_namespaces_are_read_as_one() -> None:
    mirror = mirror_of(
        source(listing("5", SHOP)), source(listing("7", BANK)), indexers={"users": users_of}
    )
    async with mirror:
        await mirror.synced(timeout=10)

        assert dict(mirror) == {"shop/a": SHOP, "bank/a": BANK}
        assert (mirror.get("a", "bank"), mirror["shop/a"]) == (BANK, SHOP)
        assert mirror.by_index("users", "x") == [SHOP, BANK]
        assert mirror.list(namespace="bank") == [BANK]
        assert mirror.is_live()
        assert repr(mirror) == "<Mirror configmaps in shop, bank, 2 objects at '5'>"
        with pytest.raises(ConfigurationError, match="of several namespaces: say in which one"):
            mirror.get("a")


async def test_it_is_synced_when_every_namespace_is() -> None:
    late = source(ConnectionRefused("not yet"), listing("7", BANK))
    async with mirror_of(source(listing("5", SHOP)), late) as mirror:
        told: list[Change[ConfigMap]] = []
        registration = mirror.add_handler(told.append)
        with pytest.raises(NotSynced, match="not yet"):
            await mirror.synced(timeout=0.1)
        assert (list(mirror), mirror.last_version) == (["shop/a"], "")
        assert not registration.synced.is_set

        await mirror.synced(timeout=60)
        await registration.synced.wait()

        assert [(change.key, change.initial) for change in told] == [
            ("shop/a", True),
            ("bank/a", True),
        ]


async def test_a_namespace_that_is_refused_holds_back_no_other() -> None:
    refused = source(*[FORBIDDEN] * 50)
    async with mirror_of(source(listing("5", SHOP)), refused) as mirror:
        with pytest.raises(Forbidden):
            await mirror.synced(fail_on=Forbidden)

        assert dict(mirror) == {"shop/a": SHOP}
        assert not mirror.is_synced


async def test_a_list_of_one_namespace_replaces_that_one_alone() -> None:
    again = source(
        listing("5", SHOP, config_map("old", "1")),
        listing("20", SHOP2),
        watches=[[After(5), GONE]],
    )
    async with mirror_of(again, source(listing("7", BANK))) as mirror:
        await mirror.synced()
        told: list[tuple[str, str, bool]] = []
        mirror.add_handler(lambda change: told.append((change.type, change.key, change.stale)))
        await asyncio.sleep(60)

        assert dict(mirror) == {"bank/a": BANK, "shop/a": SHOP2}
        assert told[3:] == [("DELETED", "shop/old", True), ("UPDATED", "shop/a", False)]


async def test_the_last_version_is_the_oldest_and_never_goes_back() -> None:
    bank = source(
        listing("7", BANK),
        watches=[[After(1), modified(BANK2), After(2), added(LATER), Quiet.HEALTHY]],
    )
    shop = source(listing("5", SHOP), watches=[[After(2), bookmark("10"), Quiet.HEALTHY]])
    versions: list[str] = []
    async with mirror_of(shop, bank) as mirror:
        await mirror.synced()
        for _ in range(8):
            versions.append(mirror.last_version)
            await asyncio.sleep(0.5)

    assert list(dict.fromkeys(versions)) == ["5", "9", "10"]


async def test_each_part_is_compared_with_its_own_namespace() -> None:
    shop = source(listing("5", SHOP), listing("5", SHOP))
    bank = source(listing("7", BANK), listing("7", BANK2))
    async with mirror_of(shop, bank) as mirror:
        await mirror.synced()
        first, second = mirror.informer.reflectors

        assert await first.check_consistency()
        found = await second.check_consistency()

        assert found is not None
        assert (found.version, found.different) == ("7", ("bank/a",))
        with pytest.raises(MisuseError, match="several reflectors"):
            _ = mirror.informer.reflector


async def test_everything_is_told_again_once_a_period() -> None:
    mirror = mirror_of(source(listing("5", SHOP)), source(listing("7", BANK)), resync_every=30)
    async with mirror:
        await mirror.synced()
        told: list[str] = []
        mirror.add_handler(lambda change: told.append(change.key))
        await asyncio.sleep(70)

        assert told == ["shop/a", "bank/a"] * 3


async def test_a_server_that_is_away_is_reported_once() -> None:
    def breaking() -> ScriptedSource[ConfigMap]:
        return source(
            listing("5"), watches=[[After(1), ConnectionRefused("away")], ConnectionRefused("away")]
        )

    heard: list[str] = []
    mirror = mirror_of(
        breaking(), breaking(), on_connection=lambda error: heard.append(str(error or "back"))
    )
    async with mirror:
        await mirror.synced()
        heard.clear()
        await asyncio.sleep(300)

    assert heard == ["away", "back"]


async def test_objects_without_a_namespace_are_refused() -> None:
    errors: list[Exception] = []
    cluster_scoped = config_map("node", namespace="")
    mirror = mirror_of(
        source(*[listing("5", cluster_scoped)] * 9), source(listing("7")), on_error=errors.append
    )
    async with mirror:
        with pytest.raises(NotSynced):
            await mirror.synced(timeout=5)

    assert "'node' is not in namespace 'shop'" in str(errors[0].__cause__ or errors[0])


@pytest.mark.parametrize(
    ("sources", "queue", "words"),
    [
        ({}, "ordered", "no namespace is given"),
        ({"shop": source(), "bank": source()}, "delta-fifo", "cannot take several namespaces"),
    ],
)
def test_what_cannot_be_put_together_is_refused_at_once(
    sources: Any, queue: Any, words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Mirror(sources, CONFIG_MAPS, queue=queue)


@pytest.mark.parametrize(
    ("versions", "expected"), [(["9", "10"], "9"), (["12", ""], ""), (["7"], "7")]
)
def test_versions_are_numbers_of_any_length(versions: list[str], expected: str) -> None:
    assert oldest(versions) == expected
