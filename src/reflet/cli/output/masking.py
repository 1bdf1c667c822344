"""What a secret looks like on a screen, and the places of an object where one can stand."""

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

    kubectl keeps the whole manifest in an annotation, so that is masked too.  The items of a
    SecretList are Secrets whether they say so or not.
    """
    if document.get("kind") == "Secret":
        return _masked_secret(document)
    if isinstance(document.get("items"), list):
        mask_item = _masked_secret if document.get("kind") == "SecretList" else masked
        items = [mask_item(item) if isinstance(item, dict) else item for item in document["items"]]
        return {**document, "items": items}
    return document


def _masked_secret(document: dict[str, Any]) -> dict[str, Any]:
    result = dict(document)
    for bag in ("data", "stringData"):
        values = document.get(bag)
        if isinstance(values, dict):
            result[bag] = {
                key: mask(_size(value, encoded=bag == "data")) for key, value in values.items()
            }
        elif values is not None:  # not a Secret as it should be, but perhaps a secret
            result[bag] = mask(_size(values))
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(annotations, dict) and LAST_APPLIED in annotations:
        masked_annotations = {
            **annotations,
            LAST_APPLIED: mask(_size(annotations[LAST_APPLIED])),
        }
        result["metadata"] = {**document["metadata"], "annotations": masked_annotations}
    return result


def _size(value: object, *, encoded: bool = False) -> int:
    text = ("" if value is None else str(value)).encode(errors="surrogatepass")
    if encoded:
        try:
            return len(base64.b64decode(text, validate=True))
        except binascii.Error:
            return len(text)
    return len(text)
