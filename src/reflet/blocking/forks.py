"""What becomes of readers in the child of a fork.

Owns: that nobody there reads a memory which no thread keeps fresh, at no cost for reads in the
parent.  Must not know what is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, NoReturn
from weakref import WeakKeyDictionary

from reflet.errors import MisuseError


class LeftBehind:
    """Stands in the child of a fork for what only the parent keeps fresh: any use is refused."""

    def __init__(self, kept: object, error: Callable[[], MisuseError]) -> None:
        self._kept = kept
        self._error = error

    def __repr__(self) -> str:
        return f"{repr(self._kept)[:-1]}, left behind by a fork>"

    def _refuse(self, *_: object) -> NoReturn:
        raise self._error()

    __getattr__ = __getitem__ = __contains__ = __len__ = __iter__ = _refuse


_READERS: Final[WeakKeyDictionary[object, tuple[str, Callable[[], MisuseError]]]] = (
    WeakKeyDictionary()
)


def refuse_in_child(reader: object, attribute: str, error: Callable[[], MisuseError]) -> None:
    """Let *reader* find a LeftBehind in its *attribute* after a fork; reads raise *error* there."""
    _READERS[reader] = (attribute, error)


def _leave_behind() -> None:
    for reader, (attribute, error) in list(_READERS.items()):
        setattr(reader, attribute, LeftBehind(getattr(reader, attribute), error))
    _READERS.clear()  # a fork of this process finds nothing to do for them


os.register_at_fork(after_in_child=_leave_behind)
