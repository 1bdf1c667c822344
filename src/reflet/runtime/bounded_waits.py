"""Waiting for an event, but not for ever.

Owns: the wait that ends with the event or with a time by somebody's clock, whichever comes first.
Must not know what is waited for.

Why not ``asyncio.timeout``: it counts by the event loop.  Where a clock is given, a wait by
another one would pass at another pace than all that is measured by it.
"""

from __future__ import annotations

import asyncio

from reflet.runtime.clock import Clock


async def came_within(event: asyncio.Event, seconds: float | None, *, clock: Clock) -> bool:
    """Wait for an event, but not longer; whether it came.  None waits for ever.

    An event that is set already came, however short the time.
    """
    if event.is_set():
        return True
    if seconds is None:
        return await event.wait()
    loop = asyncio.get_running_loop()
    is_waiting = True

    def end(timer: asyncio.Task[None]) -> None:
        if is_waiting and not timer.cancelled():
            limit.reschedule(loop.time())

    timer = loop.create_task(clock.sleep(seconds), name="end of a wait")
    try:
        async with asyncio.timeout(None) as limit:
            timer.add_done_callback(end)
            await event.wait()
            is_waiting = False
    except TimeoutError:
        return event.is_set()
    finally:
        is_waiting = False
        timer.cancel()
    return True
