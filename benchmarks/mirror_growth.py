"""How the mirror's costs grow with the collection: who is looked at, and the rows.

Owns: the line-ups and what counts as the cost.  Must not know how figures are taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.growth import Row, rows_of
from benchmarks.mirror_contestants import CONTESTANTS, MEMORY, OURS_TLS

# Whoever has a cache: without one, an event cannot cost more the more there is.
EVENTS: Final = (OURS_TLS, "official", "cloudcoil", "go_json", "go_protobuf")
# Whoever can hold more than one page.
SYNC: Final = (OURS_TLS, "official", "lightkube", "kubernetes_asyncio", "go_json")
HELD: Final = {"ConfigMap": "ConfigMaps of 1 KiB", "Pod": "pods of 5.6 kB"}


def rows(
    events: Mapping[str, Any], sync: Mapping[str, Any], memory: Mapping[str, Any]
) -> list[Row]:
    """An event, a first list and memory, each by the number of objects."""
    return [
        *rows_of(
            "CPU for a watch event",
            events,
            lambda _objects, each: each["cpu_microseconds"].median,
            titles=_titles(EVENTS),
            by="objects in the cache",
            unit="µs",
            ours=_is_ours,
        ),
        *rows_of(
            "CPU of the first sync",
            sync,
            lambda _objects, each: each["cpu_seconds"].median * 1000,
            titles=_titles(SYNC),
            by="objects",
            unit="ms",
            ours=_is_ours,
        ),
        *(
            each
            for kind, what in HELD.items()
            for each in rows_of(
                f"memory for {what}",
                memory[kind],
                lambda objects, each: each["bytes_per_object"].median * objects / 1e6,
                titles=_titles(MEMORY),
                by="objects",
                unit="MB",
                ours=_is_ours,
            )
        ),
    ]


def _titles(names: Sequence[str]) -> dict[str, str]:
    return {name: CONTESTANTS[name].title for name in names}


def _is_ours(name: str) -> bool:
    return name.startswith("ours")
