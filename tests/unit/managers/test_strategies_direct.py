"""The strategy ``get``: every read is a request."""

from __future__ import annotations

import pytest

from reflet.api.core.config import Secret
from reflet.errors import CacheNotSynced, ConfigurationError, NotFound
from reflet.managers.object_changes import ObjectChanges
from reflet.managers.strategies import DirectObjects
from tests.served_objects import ServedObjects


async def test_every_read_asks_the_server_and_references_mean_nothing() -> None:
    server = ServedObjects(Secret)
    first = server.put("shop", "a")
    async with DirectObjects(server, Secret, word="secret") as objects:
        objects.add_reference("shop", "b", "pod")
        objects.delete_reference("shop", "b", "pod")
        read = [await objects.get("shop", "a")]
        second = server.put("shop", "a")
        read.append(await objects.get("shop", "a"))
        with pytest.raises(NotFound, match=r'^secret "b" not found$'):
            await objects.get("shop", "b")

    assert read == [first, second]
    assert server.requests == ["get shop/a at ''"] * 2 + ["get shop/b at ''"]


def test_nothing_is_in_memory_and_nobody_notices_changes() -> None:
    objects = DirectObjects(ServedObjects(Secret), Secret, word="secret")
    changes: ObjectChanges[Secret] = ObjectChanges(lambda namespace, name: None)

    with pytest.raises(CacheNotSynced, match="keeps nothing"):
        objects.peek("shop", "a")
    with pytest.raises(ConfigurationError, match="use watch or auto"):
        objects.follow(changes)
    assert len(objects.plan()) == 0
