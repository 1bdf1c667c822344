"""Waits until the storage has reached a revision.

Owns: how long the server hopes for a revision that it has not made yet.  Must not know who asks
or what is done with the state.
"""

from __future__ import annotations

import asyncio
from typing import Final

from reflet.apirules import refusals
from reflet.devserver.storage.changes import Change
from reflet.devserver.storage.storage import Storage

PATIENCE: Final = 3.0  # seconds, as the real server


async def reached(storage: Storage, revision: int, *, patience: float = PATIENCE) -> None:
    """Return as soon as a revision is there, at once if it is; raise Timeout if it stays away.

    The refusal is the real server's "Too large resource version".
    """
    if storage.revision >= revision:
        return
    arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def look(change: Change) -> None:
        if change.revision >= revision and not arrived.done():
            arrived.set_result(None)

    unsubscribe = storage.subscribe(look)
    try:
        async with asyncio.timeout(patience):
            await arrived
    except TimeoutError:
        raise refusals.too_large_version(revision, storage.revision) from None
    finally:
        unsubscribe()
