"""What an informer cannot do, and why.

Owns: the errors of informers and of sets of them.  Must not know informers.
"""

from __future__ import annotations

from collections.abc import Sequence

from reflet.errors import RefletError


class InformerStopped(RefletError):
    """The informer has stopped, and an informer lives once."""


class InformerStarted(RefletError):
    """The informer runs already, so this setting comes too late."""


class NotSynced(RefletError, TimeoutError):
    """The present state did not arrive in time; ``names`` are the informers that still wait."""

    def __init__(self, names: Sequence[str], timeout: float | None) -> None:
        self.names = tuple(names)
        self.timeout = timeout
        after = "" if timeout is None else f" after {timeout:g} s"
        super().__init__(f"not synced{after}: {', '.join(names)}")
