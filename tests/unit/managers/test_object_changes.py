"""Being told when an object that a registered pod uses has changed."""

from __future__ import annotations

import asyncio

import pytest

from reflet.api.core.config import ConfigMap
from reflet.managers.object_changes import ObjectChange, ObjectChanges

pytestmark = pytest.mark.virtual_time


def described(namespace: str, name: str) -> ObjectChange[ConfigMap] | None:
    return None if name == "gone" else ObjectChange(namespace, name, None, ())


async def test_an_object_that_changed_twice_is_told_once() -> None:
    changes = ObjectChanges(described)
    for name in ("a", "b", "a"):
        changes.tell("shop", name)

    assert [(await anext(changes)).name, (await anext(changes)).name] == ["a", "b"]
    assert "0 waiting" in repr(changes)


async def test_what_nobody_refers_to_is_not_told() -> None:
    changes = ObjectChanges(described)
    changes.tell("shop", "gone")
    changes.tell("shop", "a")

    assert (await anext(changes)).name == "a"


async def test_a_reader_waits_for_what_comes() -> None:
    changes = ObjectChanges(described)
    reading = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(1)

    changes.tell("shop", "a")

    assert (await reading).name == "a"


async def test_closing_ends_the_iteration() -> None:
    with ObjectChanges(described) as changes:
        reading = asyncio.ensure_future(anext(changes, None))
        await asyncio.sleep(1)
    changes.tell("shop", "a")

    assert await reading is None
    assert [change async for change in changes] == []


async def test_what_is_forgotten_waits_no_more() -> None:
    changes = ObjectChanges(described)
    for number in range(1000):
        changes.tell("shop", f"job-{number}")
        changes.forget("shop", f"job-{number}")
    changes.forget("shop", "never told")
    changes.tell("shop", "a")

    assert ", 1 waiting" in repr(changes)
    assert (await anext(changes)).name == "a"
