from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from reflet.runtime.tasks import Opened, entered


class Door:
    """A context that remembers how it was left."""

    def __init__(self) -> None:
        self.left: list[str] = []

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[int]:
        try:
            yield 42
        except ValueError as error:
            self.left.append(str(error))
            raise
        else:
            self.left.append("well")


async def test_it_gives_what_was_opened_and_leaves_what_came_with_it() -> None:
    door = Door()

    async def opens() -> tuple[str, AbstractAsyncContextManager[int]]:
        context = door.opened()
        return str(await context.__aenter__()), context

    async with Opened(opens) as value:
        assert (value, door.left) == ("42", [])

    assert door.left == ["well"]


async def test_an_error_of_the_block_reaches_what_is_left() -> None:
    door = Door()

    async def opens() -> tuple[int, AbstractAsyncContextManager[int]]:
        context = door.opened()
        return await context.__aenter__(), context

    with pytest.raises(ValueError, match="wrong"):
        async with Opened(opens):
            raise ValueError("wrong")

    assert door.left == ["wrong"]


async def test_it_can_be_entered_once() -> None:
    async def opens() -> tuple[int, AbstractAsyncContextManager[int]]:
        context = Door().opened()
        return await context.__aenter__(), context

    once = Opened(opens)
    async with once:
        pass

    with pytest.raises(RuntimeError):
        await once.__aenter__()


async def test_what_fails_after_the_entrance_leaves_the_context() -> None:
    door = Door()

    async def fails(value: int) -> str:
        raise ValueError(f"no {value}")

    with pytest.raises(ValueError, match="no 42"):
        await entered(door.opened(), fails)

    assert door.left == ["no 42"]
