"""Which of two resourceVersions is the newer.

Hardly anything needs to know: only moving between two streams, a write that is to be seen at
once, and a cached answer that must not go back.  Pure.

Upstream: apimachinery/pkg/util/resourceversion/resourceversion.go, CompareResourceVersion
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def number_of(version: str) -> int | None:
    """The version as a number; None for what is none.

    Kubernetes promises that the versions of one resource are growing numbers; other servers of
    the same API may not.
    """
    return int(version) if version.isascii() and version.isdigit() else None


def is_at_least(version: str, other: str) -> bool:
    """Whether *version* is *other* or newer; false when nobody can tell."""
    mine, its = number_of(version), number_of(other)
    if mine is None or its is None:
        return version == other
    return mine >= its


def newest(versions: Iterable[str]) -> str:
    """The newest of some versions; empty when none can be compared."""
    numbers = [number for version in versions if (number := number_of(version)) is not None]
    return str(max(numbers)) if numbers else ""


def rank(version: str) -> float:
    """A number to compare versions by, where one that is no number comes after all others."""
    number = number_of(version)
    return math.inf if number is None else number
