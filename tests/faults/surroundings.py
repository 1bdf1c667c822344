"""What everybody who lives through the chaos is given, and what is asked of each.

Owns: the face of an inhabitant, and what it may know of its server.  Must not know who lives
there, what goes wrong, nor which server it is.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

from reflet.api.resources import Resource
from reflet.runtime.clock import Clock
from reflet.transport.config.settings import ConnectionSettings
from tests.faults.hurry import HurriedCluster
from tests.witnesses import State

NAMES: Final = tuple("abcdefgh")
"""The names of the objects that are written."""

Truth = Mapping[str, Mapping[str, State]]
"""What the server has: the full name of a resource, then the key of an object.

Of what the chaos itself does not write, pods for one, the content is the whole document.
"""


class Office(Protocol):
    """The server, for writes that never fail."""

    async def create(self, resource: Resource, namespace: str, document: Mapping[str, Any]) -> str:
        """Create an object, and give its uid."""
        ...

    async def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Mapping[str, Any],
        *,
        subresource: str = "",
    ) -> None:
        """Change an object by a merge patch; nothing happens when there is none."""
        ...

    async def remove(
        self, resource: Resource, namespace: str, name: str, *, grace: int | None = None
    ) -> None:
        """Delete an object, a pod within *grace* seconds; nothing happens when there is none."""
        ...


@dataclass(frozen=True)
class Surroundings:
    """What an inhabitant is given.

    *scope* is the namespace that mirrors mirror, ``*`` for all; *namespaces* are those in which
    anything is written; *folder* is for what it keeps on disk.  *client* leads by one of the
    *roads*.  *counts* is for what is told in the end.
    """

    client: HurriedCluster
    roads: Sequence[ConnectionSettings]
    clock: Clock
    scope: str
    namespaces: Sequence[str]
    office: Office
    folder: Path
    counts: Counter[str]


class Inhabitant(Protocol):
    """Somebody who follows a server while the context is open."""

    name: str
    reflectors: int
    """How many streams it may have at a time, at most."""
    requests: Sequence[Counter[str]]
    """What it asked by connections of its own, besides the one that it was given."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    async def stir(self, chance: random.Random) -> None:
        """Do something of its own in the middle of it all."""
        ...

    def disagreements(self, truth: Truth) -> list[str]:
        """Where it is not what the server has; empty in the end."""
        ...

    def troubles(self) -> list[str]:
        """What it saw that must never be: a version that went back, for one."""
        ...

    def forget(self) -> None:
        """Let go of what only this test remembers, so that memory can be measured."""
        ...

    def left(self) -> list[str]:
        """What is still there of it after its end."""
        ...
