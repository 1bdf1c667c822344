"""Other threads, which look at the entries of a manager at every moment at which they change."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from reflet.api.core.config import ConfigMap
from reflet.managers import watch_based
from reflet.managers.object_entry import ObjectEntry
from tests.properties.manager_world import World

FIELDS: Final = frozenset({"object", "state"})
FIELDS_READ: Final = 2
"""The fields that a look reads before it knows its answer."""


class Onlookers:
    """Other threads, which look at an entry at every moment at which it is written to.

    Between any two steps of a thread another one may do something.  So they look after each write
    to a field of an entry; and each time that an entry is to show something, somebody is looking
    already and has read none, one or more of its fields.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._turns = itertools.cycle(range(FIELDS_READ + 1))
        self._write: Callable[[], None] | None = None
        self._left = 0

    def written(self, entry: ObjectEntry[ConfigMap]) -> None:
        self._world.saw(entry.name, self._world.peek(entry.name))

    def about_to_show(self, entry: ObjectEntry[ConfigMap], show: Callable[[], None]) -> None:
        self._write, self._left = show, next(self._turns)
        not_before = self._world.seen(entry.name)
        found = self._world.peek(entry.name)
        self._show()
        self._world.saw(entry.name, found, not_before)

    def read(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._show()

    def _show(self) -> None:
        write, self._write = self._write, None
        if write is not None:
            write()


@contextmanager
def onlookers(world: World) -> Iterator[None]:
    """Let other threads look at every entry that the manager of *world* makes."""
    threads = Onlookers(world)
    world.has_onlookers = True

    class SeenEntry(ObjectEntry[ConfigMap]):
        __slots__ = ()

        def __getattribute__(self, name: str) -> Any:
            value = super().__getattribute__(name)
            if name in FIELDS:
                threads.read()
            return value

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if name in FIELDS:
                threads.written(self)

        def show(self, found: ConfigMap | None, version: str) -> None:
            show = super().show
            threads.about_to_show(self, lambda: show(found, version))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch_based, "ObjectEntry", SeenEntry)
        yield
