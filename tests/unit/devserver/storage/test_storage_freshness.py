from __future__ import annotations

import asyncio

import pytest

from reflet.devserver.storage.storage import FRESH_TIMEOUT, Storage, wait_until_fresh
from reflet.errors import Timeout
from tests.unit.devserver.watch_scene import config_map, key

pytestmark = pytest.mark.virtual_time


async def test_a_revision_that_is_there_is_not_waited_for() -> None:
    await wait_until_fresh(Storage(), 1)

    assert asyncio.get_running_loop().time() == 0


async def test_a_revision_that_arrives_ends_the_wait() -> None:
    storage = Storage()

    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(wait_until_fresh(storage, 3))
        await asyncio.sleep(1)
        storage.create(key("a"), config_map("a"))
        await asyncio.sleep(1)
        assert not waiting.done()
        storage.create(key("b"), config_map("b"))

    assert asyncio.get_running_loop().time() == 2


async def test_a_revision_that_stays_away_is_refused_as_the_real_server_does() -> None:
    storage = Storage()

    with pytest.raises(Timeout, match=r"^Timeout: Too large resource version: 99, current: 1$"):
        await wait_until_fresh(storage, 99)

    assert asyncio.get_running_loop().time() == FRESH_TIMEOUT == 3


async def test_nobody_waits_on_after_the_wait() -> None:
    storage = Storage()

    with pytest.raises(Timeout):
        await wait_until_fresh(storage, 99)

    assert not storage._subscribers
