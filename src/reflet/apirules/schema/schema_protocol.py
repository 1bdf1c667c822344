"""What patching needs to know about the place in an object that it changes.

Owns: the interface, which ``reflet.apirules.schema.schemas.Schema`` fits by shape, and the
answer to it where nothing is described.  Must not know where descriptions come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, final


class Schema(Protocol):
    """What may stand at one place of an object, and who may own which part of it."""

    @property
    def shape(self) -> str:
        """``object``, ``map``, ``list``, ``anything``, or the name of a scalar."""
        ...

    @property
    def items(self) -> Schema | None:
        """What stands in a list."""
        ...

    @property
    def values(self) -> Schema | None:
        """What stands behind every key of a map; None for an object with fields."""
        ...

    @property
    def patch_strategy(self) -> str:
        """``merge``, ``replace``, ``retainKeys``, two of them with a comma, or empty."""
        ...

    @property
    def patch_merge_key(self) -> str:
        """The field that tells the items of a merged list apart, in a strategic merge."""
        ...

    @property
    def list_type(self) -> str:
        """``atomic``, ``set``, ``map``, or empty: owned as a whole, by value or by keys."""
        ...

    @property
    def list_map_keys(self) -> Sequence[str]:
        """The fields that tell the items of a ``map`` list apart, when it is applied."""
        ...

    @property
    def map_type(self) -> str:
        """``atomic`` when an object or map is owned as a whole."""
        ...

    @property
    def preserves_unknown(self) -> bool:
        """Whether fields that are not described are kept."""
        ...

    @property
    def default(self) -> object:
        """What a missing field stands for, or None."""
        ...

    def field(self, name: str) -> Schema | None:
        """Give the schema of a field of an object, or of a value of a map."""
        ...


@final
class _Anything:
    """Whatever stands here is kept: maps are owned by key, lists as a whole."""

    shape = "anything"
    items = None
    values = None
    patch_strategy = ""
    patch_merge_key = ""
    list_type = "atomic"
    list_map_keys: Sequence[str] = ()
    map_type = ""
    preserves_unknown = True
    default: object = None

    def field(self, name: str) -> Schema | None:  # noqa: ARG002 - nothing is described
        return None


ANYTHING: Final[Schema] = _Anything()
