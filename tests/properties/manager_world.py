"""A server, a manager of its objects, and what is to be true of the manager, by other means.

The steps of which stories are made, and the claims; the stories are ``manager_stories``, and other
threads that look on are ``manager_onlookers``.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import CacheNotSynced, NotFound, NotRegistered
from reflet.managers.manager import ConfigMapManager
from reflet.managers.object_changes import ObjectChanges
from reflet.managers.watch_based import DEFAULT_IDLE_RULE, IdleRule
from reflet.managers.watches.stream_plan import StreamLimits
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import FIRST_VERSION, Place, ServedObjects
from tests.unit.managers.pods import pod

Step = tuple[str, Any, Any]

NAMES: Final = ("a", "b", "c", "d", "e", "f")
PODS: Final = ("p", "q", "r", "s")
QUIET: Final = 60.0  # seconds; more than every delay, and than the longest back-off
LIMITS: Final = StreamLimits(namespace_from=3, namespace_until=2, refused_for=120.0)
A_TRY: Final = 2.0  # seconds; more than a request takes
AT_EVERY_TICK: Final = IdleRule(longest=0.0, look_every=1e9)
"""Whatever was not read in the same moment is idle, and only the story looks."""
NOBODY_KNOWS: Final = "nobody knows"
"""The answer of a read that comes too early; None is "not found"."""


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What kind of a server it is, and who looks at the manager.

    *there* are the objects that were made before the story begins, and *gone* those among them that
    were deleted again, which lagging API servers may not know.  *delays* are the seconds that
    answers take, by name, ``*`` for the whole namespace.  *lags* are those of the API servers, and
    *routes* says which is asked, in turns.  With *followed* somebody subscribes, and reads only
    when the story says so.
    """

    there: Sequence[str] = ()
    gone: Collection[str] = ()
    delays: dict[str, float] = field(default_factory=dict)
    streaming: bool = True
    lags: Sequence[int] = (0,)
    routes: Sequence[int] = (0,)
    impatient: bool = False
    opaque: bool = False
    page_size: int = 0
    swallows_cancels: bool = False
    followed: bool = False
    idle: IdleRule = DEFAULT_IDLE_RULE


@dataclass
class Model:
    """What is to be true.

    ``seen`` is the version that each object was seen at: whatever is read later must be true at
    that version or at a later one.
    """

    idle: IdleRule
    pods: dict[str, frozenset[str]] = field(default_factory=dict)
    last_read: dict[str, float] = field(default_factory=dict)
    last_tick: dict[str, float] = field(default_factory=dict)
    immutable: dict[str, Any] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    heard: dict[str, ConfigMap | None] = field(default_factory=dict)

    @property
    def needed(self) -> set[str]:
        return set().union(*self.pods.values()) if self.pods else set()

    def registered(self, name: str, names: frozenset[str] | None, now: float) -> None:
        before = self.needed
        if names is None:
            self.pods.pop(name, None)
        else:
            self.pods[name] = names
        for gone in before - self.needed:
            for known in (self.last_read, self.last_tick, self.immutable, self.seen, self.heard):
                known.pop(gone, None)
        for new in self.needed - before:
            self.last_read[new] = now

    def awake(self, now: float) -> set[str]:
        """The needed names whose streams are open at a moment without delays."""
        last_look = now // self.idle.look_every * self.idle.look_every
        return {
            name
            for name in self.needed - self.immutable.keys()
            if not self.idle.is_idle(
                self.last_read[name], max(last_look, self.last_tick.get(name, 0.0))
            )
        }


class World:
    """A server, a manager, and a model of what the manager should do."""

    def __init__(self, strategy: str, it: Circumstances) -> None:
        self.it = it
        self.server = ServedObjects(streaming=it.streaming, replicas=len(it.lags))
        self.server.opaque = it.opaque
        for name in it.there:
            self.server.put("shop", name)
        self._begun_at = self.server.version
        for replica, versions in enumerate(it.lags):
            self.server.lag(versions, replica=replica)
        for name in sorted(it.gone):
            self.server.delete("shop", name)
        self.server.delays = lambda place: it.delays.get(place[1] or "*", 0.0)
        self.server.route = itertools.cycle(it.routes).__next__
        self.server.impatient = it.impatient
        self.server.page_size = it.page_size
        self.server.swallows_cancels = it.swallows_cancels
        self.server.forbids = self._forbids
        self.manager = ConfigMapManager(
            self.server,
            strategy=strategy,
            clock=VirtualClock(),
            limits=LIMITS,
            streaming=it.streaming,
        )
        store: Any = self.manager._store
        store._idle = it.idle
        self._soon, store._soon = store._soon, self._unless_only_looking
        self.store = store
        self._looks = 0
        self.model = Model(it.idle)
        self.changes: ObjectChanges[ConfigMap] | None = None
        self.forbidden = False
        self.has_onlookers = False
        self.wrong: list[str] = []
        self._restored = False

    def _forbids(self, verb: str, place: Place) -> bool:
        return self.forbidden and place[1] is None

    # What happens

    async def live(self, story: Sequence[Step]) -> None:
        """Live through a story, come to rest, and leave nothing behind."""
        async with self.manager:
            if self.it.followed:
                self.changes = self.manager.subscribe()
            try:
                for step in story:
                    await self.do(step)
                await self.rest()
                for name in tuple(self.model.pods):
                    await self.do(("unregister", name, None))
                await asyncio.sleep(QUIET)
                assert self.server.streams == []
                assert len(self.manager.plan()) == 0
                assert len(self.store) == 0
            finally:
                # A manager that is closed waits for the end of its tasks.
                self.server.swallows_cancels = False
        assert self.server.streams == []

    async def do(self, step: Step) -> None:
        now = asyncio.get_running_loop().time()
        match step:
            case ("register", name, names):
                self.manager.register_pod(pod(name, *sorted(names)))
                self.model.registered(name, names, now)
            case ("unregister", name, _):
                self.manager.unregister_pod(pod(name))
                self.model.registered(name, None, now)
            case ("put", name, immutable):
                # To be told of an immutable object freezes it, at some later moment.
                self.server.put("shop", name, immutable=immutable and not self.it.followed)
            case ("delete", name, _):
                if ("shop", name) in self.server.objects:
                    self.server.delete("shop", name)
            case ("read", name, _):
                await self.read(name)
            case ("hear", _, _):
                await self.hear()
            case ("pass", seconds, _):
                await asyncio.sleep(seconds)
            case ("tick", _, _):
                self.tick()
            case ("only", name, _):
                await self.read(name)
                self.tick()  # nobody else reads anything
            case ("bookmark", _, _):
                self.server.bookmark_everywhere()
            case ("lag", replica, versions):
                self.server.lag(versions, replica=replica)
            case ("rest", _, _):
                await self.rest()
            case ("forbid", forbidden, _):
                self.forbidden = forbidden
            case ("outage", seconds, _):
                self.server.go_away()
                await asyncio.sleep(seconds)
                self.server.come_back()
            case ("compact", _, _):
                self.server.compact()
            case ("restore", versions, _):
                self.server.restore(versions)
                self._restored = True
                await asyncio.sleep(QUIET)  # a version that exists again tells nobody what happened
            case _:
                pytest.fail(f"no such step: {step}")
        if not self.has_onlookers:
            self.look()
        assert self.wrong == []

    def tick(self) -> None:
        """It is time to look for idle objects."""
        now = asyncio.get_running_loop().time()
        if self.changes is None:
            for name in self.model.needed - self.model.immutable.keys():
                if self.store._entries["shop", name].synced:
                    self.model.last_tick[name] = now
        self.store.stop_if_idle()

    # What is seen

    async def read(self, name: str) -> ConfigMap | None:
        """Read as tasks do; None when there is no object, or none yet."""
        self._reads(name)
        found: ConfigMap | None = None
        try:
            found = await self.manager.get("shop", name)
        except NotRegistered:
            assert name not in self.model.needed
            return None
        except CacheNotSynced:
            return None
        except NotFound:
            pass
        self._reads(name)  # it may have waited
        self.saw(name, found)
        if found is not None and found.immutable:
            self.model.immutable.setdefault(name, found)
        return found

    def _reads(self, name: str) -> None:
        if name in self.model.needed:
            self.model.last_read[name] = asyncio.get_running_loop().time()

    def look(self) -> None:
        """Look at everything that is in memory."""
        for name in self.model.needed:
            self.saw(name, self.peek(name))

    def peek(self, name: str) -> ConfigMap | str | None:
        """Read as threads do, without counting as a reader: nothing follows from it."""
        entry = self.store._entries.get(("shop", name))
        if entry is None:
            return NOBODY_KNOWS
        last_access = entry.last_access
        self._looks += 1
        try:
            return self.manager.peek("shop", name)
        except NotFound:
            return None
        except (CacheNotSynced, NotRegistered):
            return NOBODY_KNOWS
        finally:
            self._looks -= 1
            entry.last_access = last_access

    def _unless_only_looking(self, step: Any, entry: Any) -> None:
        if not self._looks:
            self._soon(step, entry)

    def saw(self, name: str, found: ConfigMap | str | None, not_before: int | None = None) -> None:
        """Claim that an answer may be given to a reader who has seen all that was seen."""
        if isinstance(found, str) or self._restored:
            return
        if name in self.model.immutable:
            if found != self.model.immutable[name]:
                self.wrong.append(f"{name} is immutable, and {found} is another")
            return
        seen = self.seen(name)
        true = self._true_since(name, found, seen if not_before is None else not_before)
        if true is None:
            # Not raised: who shows something to readers may take that for an error of theirs.
            self.wrong.append(f"{name} was seen at {seen}, and then {found}")
        else:
            self.model.seen[name] = max(seen, true)

    def seen(self, name: str) -> int:
        """The version that an object was seen at; at the beginning no server knows less."""
        return self.model.seen.get(name, self._begun_at)

    def _true_since(self, name: str, found: ConfigMap | None, not_before: int) -> int | None:
        """The first version, *not_before* or later, at which an answer was true; None if never."""
        begun, state = FIRST_VERSION, None
        for event in self.server.between(("shop", name), 0, self.server.version):
            happened = self.server.number(event.object.metadata.resource_version)
            if state == found and happened > not_before:
                break
            begun, state = happened, None if event.type == "DELETED" else event.object
        return max(begun, not_before) if state == found else None

    async def hear(self) -> None:
        """Take whatever a subscriber has not taken yet; that is of what is needed only."""
        if self.changes is None:
            return
        assert {name for _, name in self.changes._waiting} <= self.model.needed
        while self.changes._waiting:
            change = await anext(self.changes)
            self.model.heard[change.name] = change.object

    # What is claimed at a quiet point

    async def settle(self) -> None:
        """Let everything come to rest, with nothing forbidden but what is."""
        for replica in range(len(self.server.replicas)):
            self.server.lag(0, replica=replica)
        await asyncio.sleep(QUIET)
        self.server.bookmark_everywhere()
        await asyncio.sleep(QUIET)
        if self._restored:
            self._restored = False
            self.model.seen.clear()
            self._begun_at = FIRST_VERSION
        self.look()
        assert self.wrong == []

    async def rest(self) -> None:
        """Come to a quiet point, and claim that all is as it should be."""
        await self.settle()
        await self.claim_freshness()
        await asyncio.sleep(QUIET)
        if len(self.manager.plan()) != len(self.server.streams):
            await asyncio.sleep(A_TRY)  # what was refused before is tried again just now
        self.claim_streams()
        await self.claim_news()
        assert len(self.manager.plan()) == len(self.server.streams)

    async def claim_freshness(self) -> None:
        for name in sorted(self.awake()):
            found = self.server.objects.get(("shop", name))
            assert await self.read(name) == found

    async def claim_news(self) -> None:
        """The last that a subscriber was told is what is read."""
        await self.hear()
        assert self.changes is None or self.model.heard == {
            name: None if isinstance(found := self.peek(name), str) else found
            for name in self.model.needed
        }

    def awake(self) -> set[str]:
        if self.changes is not None:
            return self.model.needed - self.model.immutable.keys()
        return self.model.awake(asyncio.get_running_loop().time())

    def claim_streams(self) -> None:
        """Exactly what is needed is open."""
        assert all(namespace == "shop" for namespace, _ in self.server.streams)
        opened = [name for _, name in self.server.streams]
        awake = self.awake()
        if self.manager.strategy == "watch":
            assert sorted(map(str, opened)) == sorted(awake)
            return
        if self.it.opaque:
            return  # nobody can tell which of two streams has come further: both stay
        assert len(opened) <= max(len(awake), 1)
        if len(awake) < LIMITS.namespace_until:
            assert sorted(map(str, opened)) == sorted(awake)
        elif len(awake) >= LIMITS.namespace_from and not self.forbidden:
            refused = any("forbidden" in stream.reason for stream in self.manager.plan().streams)
            assert refused or opened == [None]
