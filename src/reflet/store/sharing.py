"""Objects that say the same share the memory in which it is said.

Most objects of a collection have the namespace, and many the labels, of others: that is a fifth
of the memory of a small object.  Objects share when they come; an update brings its own, because
looking at the memory of the state before costs more time than the rest of the store together.
"""

from __future__ import annotations

from typing import Any, Final, cast

from reflet.api.frozen import EMPTY, ReadOnlyMapping
from reflet.api.meta import ObjectMeta

MOST_REMEMBERED: Final = 1024
"""Different labels that are remembered at a time: objects that have their own gain nothing."""

# A frozen struct hides these; what is set here equals what was there, so nobody can tell.
_namespace: Final[Any] = ObjectMeta.__dict__["namespace"]
_labels: Final[Any] = cast("ReadOnlyMapping", ObjectMeta.__dict__["labels"]).member
_set_namespace: Final = _namespace.__set__
_get_labels: Final = _labels.__get__
_set_labels: Final = _labels.__set__


class Sharing:
    """What the objects of one collection have in common, as far as it is remembered."""

    __slots__ = ("_labels", "_namespaces")

    def __init__(self) -> None:
        self._namespaces: dict[str, str] = {}
        self._labels: dict[tuple[tuple[str, str], ...], Any] = {}

    def share(self, metadata: object) -> None:
        """Let a new object share what it has in common with those before it."""
        if type(metadata) is not ObjectMeta:
            return
        namespace = metadata.namespace
        _set_namespace(metadata, self._namespaces.setdefault(namespace, namespace))
        labels = _get_labels(metadata)
        if labels is EMPTY:
            return
        known = self._labels
        if len(known) >= MOST_REMEMBERED:
            known.clear()
        _set_labels(metadata, known.setdefault(tuple(labels.items()), labels))
