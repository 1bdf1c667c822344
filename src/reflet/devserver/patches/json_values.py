"""Comparing and copying JSON values as JSON has them, not as Python does: ``true`` is not 1.

Also the depth that no document may pass.
"""

from __future__ import annotations

import json
from typing import Any, Final

from reflet.apirules.schema.yaml_reading import DEEPEST, TOO_DEEP
from reflet.errors import DecodeError

_CONTAINERS: Final = (dict, list)


def same(left: Any, right: Any) -> bool:
    """Tell whether two values are the same JSON; 1 and 1.0 are not, and true is not 1."""
    if left is right:
        return True
    if type(left) is not type(right):
        return (
            isinstance(left, dict)
            and isinstance(right, dict)
            and same(dict(left.items()), dict(right.items()))
        )
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            same(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def equivalent(left: Any, right: Any) -> bool:
    """Tell whether two values mean the same: like :func:`same`, and 1 is 1.0."""
    if left is right:
        return True
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            equivalent(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equivalent, left, right))
    return bool(left == right)


def identity(value: Any) -> str:
    """Give a text that two values share exactly when they are the same JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def copied(value: Any, depth: int = 0) -> Any:
    """Copy a value through and through; DecodeError when it is deeper than allowed."""
    if isinstance(value, dict):
        if depth >= DEEPEST:
            raise DecodeError(TOO_DEEP)
        return {key: copied(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        if depth >= DEEPEST:
            raise DecodeError(TOO_DEEP)
        return [copied(item, depth + 1) for item in value]
    return value


def check_depth(value: Any) -> None:
    """Raise DecodeError when a value is deeper than allowed, however deep it is."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(DEEPEST + 1):
        if not level:
            return
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, _CONTAINERS)
        ]
    raise DecodeError(TOO_DEEP)
