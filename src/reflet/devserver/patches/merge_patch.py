"""Carries out a merge patch (RFC 7386), with the real server's habits.

Owns: that recursion.  Must not know bodies, kinds or objects' fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_patch(document: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the patch merged in: maps merge, null deletes, all else replaces."""
    merged = dict(document)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged


def _merged(current: Any, value: Any) -> Any:
    if not isinstance(current, dict):
        return _without_nulls(value)
    # A list in place of a map keeps the nulls inside, unlike one in place of anything else.
    return merge_patch(current, value) if isinstance(value, dict) else value


def _without_nulls(value: Any) -> Any:
    """Drop keys without a value; a null in a list is an item."""
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
