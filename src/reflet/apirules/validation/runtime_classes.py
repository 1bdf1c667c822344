"""The rules of runtime classes.

Upstream: pkg/apis/node/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reflet.apirules.validation import names
from reflet.apirules.validation.containers import check_resources
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE, check_labels
from reflet.apirules.validation.pods import check_tolerations

Document = Mapping[str, Any]


def check_runtime_class(document: Document, errors: FieldErrors) -> None:
    """Check a runtime class, apart from its metadata."""
    handler = document.get("handler", "")
    if not handler:
        errors.required("handler")
    else:
        errors.each_invalid("handler", handler, names.dns_label(handler))
    overhead = document.get("overhead") or {}
    check_resources({"limits": overhead.get("podFixed") or {}}, "overhead", errors)
    scheduling = document.get("scheduling") or {}
    check_labels(scheduling.get("nodeSelector"), "scheduling.nodeSelector", errors)
    tolerations, path = scheduling.get("tolerations") or (), "scheduling.tolerations"
    check_tolerations(tolerations, path, errors)
    _check_once(tolerations, path, errors)


def _check_once(tolerations: Sequence[Document], path: str, errors: FieldErrors) -> None:
    seen: set[tuple[str, ...]] = set()
    for index, toleration in enumerate(tolerations):
        fields = ("key", "operator", "value", "effect")
        this = tuple(toleration.get(name, "") for name in fields)
        if this in seen:
            # Shown under the names of the real server's internal type.
            shown: dict[str, Any] = {
                name.capitalize(): value for name, value in zip(fields, this, strict=True)
            }
            shown["TolerationSeconds"] = toleration.get("tolerationSeconds")
            errors.duplicate(f"{path}[{index}]", shown)
        seen.add(this)


def check_runtime_class_change(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a class is run by whoever ran it."""
    if new.get("handler") != old.get("handler"):
        errors.invalid("handler", new.get("handler", ""), IMMUTABLE)
