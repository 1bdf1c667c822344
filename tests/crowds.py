"""Many who connect just as a listener ends."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack
from typing import Final, TypeVar

Listener = TypeVar("Listener")

CROWD: Final = 20
LAST_TURNS: Final = 5  # of the event loop, for what was scheduled before the end


async def harm_done(
    listening: AbstractAsyncContextManager[Listener],
    place: Callable[[Listener], tuple[str, int]],
    *,
    rounds: int,
) -> list[object]:
    """What the event loop complains of when a listener ends *rounds* turns after a crowd came."""
    harm: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: harm.append(context))
    with ExitStack() as crowd:
        async with listening as listener:
            await asyncio.sleep(0)  # it waits for somebody to come
            for _ in range(CROWD):  # the system says yes before the listener does
                crowd.enter_context(socket.create_connection(place(listener)))
            for _ in range(rounds):
                await asyncio.sleep(0)
        for _ in range(LAST_TURNS):
            await asyncio.sleep(0)
    return harm
