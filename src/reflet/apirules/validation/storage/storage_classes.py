"""The rules of storage classes.

Upstream: pkg/apis/storage/validation/validation.go, ValidateStorageClass and
ValidateStorageClassUpdate
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE

Document = Mapping[str, Any]

MOST_PARAMETERS: Final = 512
LONGEST_PARAMETERS: Final = 256 * 1024  # bytes, names and values together
RECLAIM_POLICIES: Final = ("Delete", "Retain")
BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")


def check_storage_class(document: Document, errors: FieldErrors) -> None:
    """Check a storage class, apart from its metadata."""
    check_provisioner(document.get("provisioner", ""), "provisioner", errors)
    check_parameters(document.get("parameters") or {}, errors)
    policy = document.get("reclaimPolicy")
    if policy and policy not in RECLAIM_POLICIES:
        errors.not_supported("reclaimPolicy", policy, RECLAIM_POLICIES)
    mode = document.get("volumeBindingMode")
    if mode is None:
        errors.required("volumeBindingMode")
    elif mode not in BINDING_MODES:
        errors.not_supported("volumeBindingMode", mode, BINDING_MODES)
    _check_topologies(document.get("allowedTopologies") or (), errors)


def check_provisioner(name: str, path: str, errors: FieldErrors) -> None:
    """Check who makes or changes volumes."""
    if not name:
        errors.required(path)
    else:
        errors.each_invalid(path, name.lower(), names.qualified_name(name.lower()))


def check_parameters(parameters: Mapping[str, str], errors: FieldErrors) -> None:
    """Check how many parameters there are, and how long they are in all."""
    if len(parameters) > MOST_PARAMETERS:
        errors.too_long("parameters", MOST_PARAMETERS)
        return
    if "" in parameters:
        errors.invalid("parameters", "", "field can not be empty.")
    if sum(len(f"{name}{value}".encode()) for name, value in parameters.items()) > (
        LONGEST_PARAMETERS
    ):
        errors.too_long("parameters", LONGEST_PARAMETERS)


def _check_topologies(terms: Sequence[Document], errors: FieldErrors) -> None:
    # The real server compares each term with as many that ask for nothing as there are terms.
    seen: list[dict[str, set[str]]] = [{} for _ in terms]
    for index, term in enumerate(terms):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        wanted: dict[str, set[str]] = {}
        for number, requirement in enumerate(term.get("matchLabelExpressions") or ()):
            here, key = f"{path}[{number}]", requirement.get("key", "")
            values = _check_values(requirement.get("values") or (), f"{here}.values", errors)
            errors.each_invalid(f"{here}.key", key, names.qualified_name(key))
            if key in wanted:
                errors.duplicate(f"{here}.key", key)
            wanted[key] = values
        for _ in range(seen.count(wanted)):
            errors.duplicate(path, "")
        seen.append(wanted)


def _check_values(values: Sequence[str], path: str, errors: FieldErrors) -> set[str]:
    if not values:
        errors.required(path)
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            errors.duplicate(f"{path}[{index}]", value)
        seen.add(value)
    return seen


def check_storage_class_change(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a class makes the volumes that it made before."""
    for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        if (new.get(name) or None) != (old.get(name) or None):
            value = new.get(name)
            shown = dict(sorted(value.items())) if isinstance(value, dict) else value
            errors.invalid(name, shown, IMMUTABLE)
