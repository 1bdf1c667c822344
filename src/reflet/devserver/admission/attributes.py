"""A write as admission sees it, and what admission is: the seam between verbs and whoever admits.

Upstream: apiserver/pkg/admission/interfaces.go, Attributes, MutationInterface, ValidationInterface
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol, final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.request.authentication import UserInfo

Document = dict[str, Any]
Operation = Literal["CREATE", "UPDATE", "DELETE"]

NOBODY: Final = UserInfo("")


class AdmittedTarget(NamedTuple):
    """What is written to, and how: as much as is known before there is an object."""

    kind: ServedKind
    subresource: str
    operation: Operation


@dataclass(frozen=True, slots=True)
class Attributes:
    """One write.

    ``kind`` is the kind that the path names; ``body_kind`` that of the objects, where a
    subresource has one of its own (a Scale, an Eviction).  ``namespace`` of a Namespace is its own
    name.  ``object`` is None for a delete, ``old`` for a create.  ``warnings`` are sent along with
    the answer.
    """

    operation: Operation
    kind: ServedKind
    name: str
    namespace: str
    object: Document | None
    old: Document | None = None
    subresource: str = ""
    body_kind: ServedKind | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False
    user: UserInfo = NOBODY
    warnings: list[str] = field(default_factory=list)

    @property
    def target(self) -> AdmittedTarget:
        """What is written to, and how."""
        return AdmittedTarget(self.kind, self.subresource, self.operation)


class Admission(Protocol):
    """Changes or refuses writes; raises ApiError to refuse.

    Where nobody handles a write nothing is awaited, so that the write stays atomic.
    """

    def handles(self, target: AdmittedTarget, /) -> bool:
        """Whether anybody may want to see writes of this sort."""
        ...

    async def mutate(self, attributes: Attributes, /) -> Document | None:
        """Give the object of a write as it shall be: another one, or the same."""
        ...

    async def validate(self, attributes: Attributes, /) -> None:
        """Look at the object that will be stored."""
        ...


@final
class AdmitsEverything:
    """Lets every write pass as it is.  Is an ``Admission``."""

    def handles(self, _: AdmittedTarget, /) -> bool:
        """Nobody wants to see anything."""
        return False

    async def mutate(self, attributes: Attributes, /) -> Document | None:
        """Give the object as it is."""
        return attributes.object

    async def validate(self, _: Attributes, /) -> None:
        """Refuse nothing."""
