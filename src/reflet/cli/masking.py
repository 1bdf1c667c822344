"""What a secret looks like on a screen.

Owns: the mask, and the places of an object where a secret can stand.  Must not know how an
object is printed.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def mask(size: int) -> str:
    """Stand-in for a secret of *size* bytes."""
    return f"‹secret {size} B›"


def masked(document: dict[str, Any]) -> dict[str, Any]:
    """A copy of an object or list in which no Secret shows its values.

    kubectl keeps the whole manifest in an annotation, so that is masked too.
    """
    if isinstance(document.get("items"), list):
        items = [masked(item) if isinstance(item, dict) else item for item in document["items"]]
        return {**document, "items": items}
    if document.get("kind") != "Secret":
        return document
    result = dict(document)
    for bag in ("data", "stringData"):
        values = document.get(bag)
        if isinstance(values, dict):
            result[bag] = {key: mask(_size(value, bag)) for key, value in values.items()}
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and LAST_APPLIED in (metadata.get("annotations") or {}):
        applied = metadata["annotations"][LAST_APPLIED]
        annotations = {**metadata["annotations"], LAST_APPLIED: mask(len(str(applied).encode()))}
        result["metadata"] = {**metadata, "annotations": annotations}
    return result


def _size(value: object, bag: str) -> int:
    text = str(value).encode()
    if bag == "data":
        try:
            return len(base64.b64decode(text, validate=True))
        except binascii.Error:
            return len(text)
    return len(text)
