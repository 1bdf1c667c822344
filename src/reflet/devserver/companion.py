"""Whoever lives beside a server and does what controllers would, as the server sees them.

The server leaves to them what the real one leaves to its controllers, and does it itself where
nobody plays.  They are clients: nothing here knows who they are.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol


class Controllers(Protocol):
    """What the server need not do itself."""

    @property
    def collects_garbage(self) -> bool:
        """Whether objects go with their owners."""

    @property
    def ends_namespaces(self) -> bool:
        """Whether namespaces that are going are emptied and released."""


class Companion(Controllers, Protocol):
    """Somebody who lives beside a server, from after it has loaded to before it stops."""

    def beside(self, server: Any, /) -> AbstractAsyncContextManager[object]:
        """Live beside a server that runs, for as long as the context is open."""


class _Nobody:
    collects_garbage = False
    ends_namespaces = False


NOBODY: Final[Controllers] = _Nobody()
