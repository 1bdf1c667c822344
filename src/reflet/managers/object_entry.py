"""One object that somebody refers to, as readers see it.

Owns: the answer that a read gets, who refers to the object, and who waits for it.  Must not
know where the answer comes from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic

from reflet.managers.object_kinds import C


class ObjectEntry(Generic[C]):
    """Loading until it is synced; then it is live, idle or frozen.

    ``object`` and ``synced`` may be read from any thread.  ``version`` is that of the object,
    or that at which it was known that there is none.  ``known`` says that there has been an
    answer once: an idle entry has one, which is not shown.  ``failure`` is why there is none.

    *changed* is called when a read gives another answer than before.
    """

    __slots__ = (
        "_changed",
        "_waiters",
        "failure",
        "frozen",
        "idle",
        "known",
        "last_access",
        "name",
        "namespace",
        "object",
        "references",
        "synced",
        "version",
    )

    def __init__(
        self, namespace: str, name: str, *, now: float, changed: Callable[[ObjectEntry[C]], None]
    ) -> None:
        self.namespace = namespace
        self.name = name
        self.references: dict[str, int] = {}
        self.object: C | None = None
        self.version = ""
        self.known = False
        self.synced = False
        self.frozen = False
        self.idle = False
        self.last_access = now
        self.failure: Exception | None = None
        self._changed = changed
        self._waiters: list[asyncio.Future[None]] | None = None  # hardly ever any

    def __repr__(self) -> str:
        return f"<ObjectEntry {self.namespace}/{self.name} {self.state} at {self.version!r}>"

    @property
    def state(self) -> str:
        """``loading``, ``live``, ``idle`` or ``frozen``."""
        if self.frozen:
            return "frozen"
        if self.idle:
            return "idle"
        return "live" if self.synced else "loading"

    # References

    def refer(self, referrer: str) -> None:
        """Count a reference."""
        self.references[referrer] = self.references.get(referrer, 0) + 1

    def release(self, referrer: str) -> bool:
        """Take a reference back; whether none is left.

        One that was never counted is ignored.  The kubelet would count it as less than nothing,
        and keep the object for ever.
        """
        count = self.references.get(referrer, 0)
        if count > 1:
            self.references[referrer] = count - 1
        elif count == 1:
            del self.references[referrer]
        return not self.references

    # The answer

    def show(self, found: C | None, version: str) -> None:
        """The answer from now on; *version* is that at which it is true."""
        before = self.object
        changed = not self.known or _differ(before, found)
        self.object = found
        self.version = found.metadata.resource_version if found is not None else version
        self.known = self.synced = True  # after the object: other threads look at this first
        self.failure = None
        self.wake()
        if changed:
            self._changed(self)

    def hide(self) -> None:
        """Nobody keeps the answer fresh any more, so it is none."""
        self.synced = self.frozen

    # Waiting

    def is_awaited(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._waiters)

    async def wait(self, seconds: float) -> bool:
        """Wait for an answer, or for being woken; whether that was in time."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._waiters is None:
            self._waiters = []
        self._waiters.append(waiter)
        try:
            # Unlike asyncio.timeout, this prefers an arrival to a deadline at the same moment.
            done, _ = await asyncio.wait((waiter,), timeout=seconds)
            return bool(done)
        finally:
            waiters = self._waiters
            if waiters and waiter in waiters:
                waiters.remove(waiter)

    def wake(self) -> None:
        """Let whoever waits look again."""
        waiters, self._waiters = self._waiters, None
        for waiter in waiters or ():
            if not waiter.done():
                waiter.set_result(None)


def _differ(before: C | None, after: C | None) -> bool:
    if before is None or after is None:
        return before is not after
    old, new = before.metadata, after.metadata
    return (old.resource_version, old.uid) != (new.resource_version, new.uid)
