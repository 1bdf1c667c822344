"""What an informer cannot do, and why.

Owns: the errors of informers and of sets of them.  Must not know informers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from reflet.api.resources import Resource
from reflet.api.status import not_found
from reflet.errors import NotFound, RefletError


class InformerStopped(RefletError):
    """The informer has stopped, and an informer lives once."""


class InformerStarted(RefletError):
    """The informer runs already, so this setting comes too late."""


class NotSynced(RefletError, TimeoutError):
    """The present state did not arrive in time; ``names`` are the informers that still wait.

    ``__cause__`` is why, Forbidden for one, where that is known; of several informers it is that
    of the first.
    """

    def __init__(self, waiting: Mapping[str, Exception | None], timeout: float | None) -> None:
        self.names = tuple(waiting)
        self.timeout = timeout
        after = "" if timeout is None else f" after {timeout:g} s"
        whom = ", ".join(
            name if why is None else f"{name} ({why})" for name, why in waiting.items()
        )
        super().__init__(f"not synced{after}: {whom}")
        self.__cause__ = next((why for why in waiting.values() if why is not None), None)


class NotMirrored(NotFound, KeyError):
    """A mirror has no object of that name: NotFound to some, KeyError to who sees a mapping."""

    @classmethod
    def of(cls, resource: Resource, name: str) -> Self:
        """The error for an object of *resource*."""
        facts = not_found(resource.plural, name, resource.group)
        return cls(
            facts.message,
            code=facts.code,
            reason=facts.reason,
            group=facts.group,
            kind=facts.kind,
            name=facts.name,
        )

    def __str__(self) -> str:
        return self.message  # a KeyError's own words stand in quotes
