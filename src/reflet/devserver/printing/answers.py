"""What a verb answers with, before it is known in which form the client wants it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.storage.stored import Stored

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectAnswer:
    """One object of a kind, in the version in which it is kept.

    ``encoded`` is its JSON where there is one already.
    """

    kind: ServedKind
    document: Document
    encoded: bytes | None = None
    code: int = 200

    @classmethod
    def of(cls, kind: ServedKind, stored: Stored, code: int = 200) -> ObjectAnswer:
        """Answer with a stored object."""
        return cls(kind, stored.object, stored.encoded, code)


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """Objects of a kind, and what is to be said about the list."""

    kind: ServedKind
    items: Sequence[Stored]
    metadata: Document


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """A document that is no object of a served kind: a Status, a Scale, a review."""

    document: Document
    code: int = 200


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """Plain text, whatever form the client wants."""

    text: bytes
    code: int = 200


Answer: TypeAlias = ObjectAnswer | ListAnswer | DocumentAnswer | TextAnswer
