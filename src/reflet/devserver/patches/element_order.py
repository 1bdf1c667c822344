"""The order of a list's items after a strategic merge patch.

Items that the patch names come in the order of the patch, the others in the order in which they
were, and where the two meet, the order in which they were decides.

Owns: that order.  Must not know how items were merged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

Naming = Callable[[Any], str]


def ordered(
    items: Sequence[Any],
    wanted: Sequence[Any],
    before: Sequence[Any],
    name: Naming,
) -> list[Any]:
    """Put ``items`` in order, given the list ``before`` the patch and the order ``wanted``."""
    in_patch = positions(wanted, name)
    in_server = positions(before, name)
    patched = deque(_sorted([item for item in items if name(item) in in_patch], in_patch, name))
    others = deque(_sorted([item for item in items if name(item) not in in_patch], in_server, name))
    result: list[Any] = []
    while patched and others:
        ours, theirs = in_server.get(name(others[0])), in_server.get(name(patched[0]))
        first = others if ours is not None and theirs is not None and ours < theirs else patched
        result.append(first.popleft())
    return [*result, *patched, *others]


def positions(items: Sequence[Any], name: Naming) -> dict[str, int]:
    """Map the name of each item to where it first stands."""
    found: dict[str, int] = {}
    for index, item in enumerate(items):
        found.setdefault(name(item), index)
    return found


def _sorted(items: list[Any], order: dict[str, int], name: Naming) -> list[Any]:
    return sorted(items, key=lambda item: order.get(name(item), len(order)))
