"""Whatever fails, and however slow they are: in the end every handler knows what the server has."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.changes import Change, filtered
from reflet.informer.options import QueueKind
from reflet.informer.reflector.reflector import WATCH_SILENCE
from reflet.informer.shared_informer import SharedInformer
from reflet.testing import virtual_time
from reflet.testing.virtual_time import VirtualClock
from tests.properties.history_server import Fault, HistoryServer, Trouble

LONG_ENOUGH = WATCH_SILENCE + 300.0
"""Seconds after the last fault: a stream that went silent just before, and any back-off."""

faults = st.lists(
    st.builds(Fault, st.sampled_from(Trouble), st.one_of(st.none(), st.integers(0, 4))), max_size=12
)
histories = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.3, 2.0, 40.0]),
        st.sampled_from(["put", "put", "delete", "compact"]),
        st.sampled_from("abcd"),
    ),
    max_size=25,
)


class Follower:
    """Believes what it is told, and complains of what cannot be.

    Who hears a part of it may hear that something went that it never knew.
    """

    def __init__(self, *, pause: float = 0.0, hears_all: bool = True) -> None:
        self.view: dict[str, ConfigMap] = {}
        self.complaints: list[str] = []
        self._pause = pause
        self._hears_all = hears_all

    async def __call__(self, change: Change[ConfigMap]) -> None:
        await asyncio.sleep(self._pause)
        known = self.view.get(change.key)
        match change.type:
            case "ADDED" if known is not None:
                self.complaints.append(f"{change.key} was added and is known")
            case "UPDATED" if known != change.old:
                self.complaints.append(f"{change.key} was updated from a state that is not known")
            case "DELETED" if known is None and change.old is not None and self._hears_all:
                self.complaints.append(f"{change.key} was deleted and is not known")
            case _:
                pass
        if change.type == "DELETED":
            self.view.pop(change.key, None)
            return
        if known is not None and version(known) > version(change.object):
            self.complaints.append(f"{change.key} went back")
        self.view[change.key] = change.object


def version(item: ConfigMap) -> int:
    return int(item.metadata.resource_version)


def is_even(item: ConfigMap) -> bool:
    return version(item) % 2 == 0


def odd_ones(item: ConfigMap) -> tuple[str, ...]:
    """An index function that cannot digest the even ones."""
    if is_even(item):
        raise ValueError("even")
    return ("True",)


async def happen(history: list[tuple[float, str, str]], server: HistoryServer) -> None:
    for pause, what, name in history:
        await asyncio.sleep(pause)
        match what:
            case "put":
                server.put(name)
            case "delete":
                server.delete(name)
            case _:
                server.compact()


@settings(max_examples=100, deadline=None)
@given(
    history=histories,
    troubles=faults,
    queue=st.sampled_from(["ordered", "delta-fifo"]),
    resync_every=st.sampled_from([0.0, 15.0]),
    moment=st.integers(0, 25),
    poison=st.sampled_from([0, 3]),
)
def test_every_handler_ends_with_what_the_server_has(
    history: list[tuple[float, str, str]],
    troubles: list[Fault],
    queue: QueueKind,
    resync_every: float,
    moment: int,
    poison: int,
) -> None:
    """But for the versions that cannot be digested, every *poison*-th of all."""

    def is_poison(item: ConfigMap) -> bool:
        return poison > 0 and version(item) % poison == 0

    def picky(item: ConfigMap) -> ConfigMap:
        if is_poison(item):
            raise ValueError("poison")
        return item

    async def scene() -> None:
        server = HistoryServer(troubles)
        informer: SharedInformer[ConfigMap] = SharedInformer(
            server,
            name="test",
            queue=queue,
            clock=VirtualClock(),
            resync_every=resync_every,
            backlog_limit=2,
            indexers={"even": lambda item: (str(is_even(item)),), "odd": odd_ones},
            transform=picky,
            on_error=lambda error: None,
        )
        followers = {"quick": Follower(), "slow": Follower(pause=1.7), "late": Follower()}
        half = Follower(hears_all=False)
        informer.add_handler(followers["quick"], resync_every=resync_every)
        slow = informer.add_handler(followers["slow"])
        informer.add_handler(filtered(is_even, half))
        async with informer:
            await happen(history[:moment], server)
            informer.add_handler(followers["late"])
            await happen(history[moment:], server)
            server.heal()
            await asyncio.sleep(LONG_ENOUGH)

            expected: dict[str, Any] = {
                key: item for key, item in server.objects.items() if not is_poison(item)
            }
            assert informer.store.snapshot() == (expected, str(server.version))
            assert {name: follower.view for name, follower in followers.items()} == dict.fromkeys(
                followers, expected
            )
            assert half.view == {key: item for key, item in expected.items() if is_even(item)}
            assert informer.store.index_keys("even", "True") == sorted(half.view)
            assert informer.store.index_keys("odd", "True") == sorted(expected.keys() - half.view)
            assert [follower.complaints for follower in (*followers.values(), half)] == [[]] * 4
            assert slow.synced.is_set
        assert server.open_watches == 0

    virtual_time.run(scene())
