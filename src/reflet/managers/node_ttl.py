"""How long objects stay fresh, as the node's annotation says.

Owns: reading that annotation.  Must not know where the node comes from, nor what is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from reflet.api.nodes import Node
from reflet.errors import RefletError

TTL_ANNOTATION: Final = "node.alpha.kubernetes.io/ttl"
"""Seconds; the cluster sets it by its size, from 0 to 300."""

_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_LARGEST: Final = 1 << 63  # what the kubelet's numbers can hold


def ttl_of(node: Node | None) -> float | None:
    """The seconds that the node's annotation says; None when it says none, or no whole number."""
    text = "" if node is None else node.metadata.annotations.get(TTL_ANNOTATION, "")
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    seconds = int(text)
    return float(seconds) if -_LARGEST <= seconds < _LARGEST else None


def ttl_from(node: Callable[[], Node | None]) -> Callable[[], float | None]:
    """Ask *node* whenever the seconds are asked for; a node that cannot be read says none."""

    def ttl() -> float | None:
        try:
            return ttl_of(node())
        except RefletError:
            return None

    return ttl
