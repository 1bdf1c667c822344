"""What a client misses that is away, and how it is to be told."""

from __future__ import annotations

from typing import Final

from tests.mirror_scenes import Scene

NEXT_DELAY: Final = 26.0  # seconds; the longest delay that a fault of half a minute leads to
MANY: Final = 1200


def many_names() -> tuple[str, ...]:
    return tuple(f"object-{number:04}" for number in range(MANY))


def something_happens(made: Scene) -> None:
    """What a client misses that is away: a deletion, a change, something new, and a new life."""
    made.collection.delete("apple")
    made.collection.put("banana")
    made.collection.put("damson", "garden")
    made.collection.delete("cherry")
    made.collection.put("cherry")


def assert_told_of_the_deletion(made: Scene) -> None:
    for witness in made.witnesses:
        assert witness.told_of("shop/apple") == ["ADDED", "DELETED"]
