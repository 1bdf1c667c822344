"""The rules of CSI drivers, of what they are on nodes, and of the capacity that they report.

Upstream: pkg/apis/storage/validation/validation.go, ValidateCSIDriver, ValidateCSINode and
ValidateCSIStorageCapacity
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE, NOT_NEGATIVE, check_selector
from reflet.apirules.validation.storage.internal_types import internal_field, is_same
from reflet.apirules.validation.storage.persistent_volume_sources import check_driver

Document = Mapping[str, Any]

GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
LIFECYCLE_MODES: Final = ("Persistent", "Ephemeral")
LONGEST_NODE_ID: Final = 256
SHORTEST_PERIOD: Final = 10  # seconds between two counts of what a node can hold
SHORTEST_TOKEN: Final = 600  # seconds
LONGEST_TOKEN: Final = 2**32


def check_csi_driver(document: Document, errors: FieldErrors) -> None:
    """Check a driver, apart from its metadata."""
    spec = document.get("spec") or {}
    # "attachedRequired" is how the real server calls the field.
    for name, shown in (
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ):
        if spec.get(name) is None:
            errors.required(f"spec.{shown}")
    policy = spec.get("fsGroupPolicy")
    if policy is not None and policy not in GROUP_POLICIES:
        errors.not_supported("spec.fsGroupPolicy", policy, GROUP_POLICIES)
    _check_tokens(spec.get("tokenRequests") or (), errors)
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in LIFECYCLE_MODES:
            errors.not_supported("spec.volumeLifecycleModes", mode, LIFECYCLE_MODES)
    if spec.get("seLinuxMount") is None:
        errors.required("spec.seLinuxMount")
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < SHORTEST_PERIOD:
        said = f"must be greater than or equal to {SHORTEST_PERIOD} seconds"
        errors.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, said)
    hidden = spec.get("serviceAccountTokenInSecrets")
    if hidden is not None and not spec.get("tokenRequests"):
        said = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.invalid("spec.serviceAccountTokenInSecrets", hidden, said)


def _check_tokens(requests: Sequence[Document], errors: FieldErrors) -> None:
    seen: set[str] = set()
    for index, request in enumerate(requests):
        here, audience = f"spec.tokenRequests[{index}]", request.get("audience", "")
        if audience in seen:
            errors.duplicate(f"{here}.audience", audience)
            continue
        seen.add(audience)
        seconds = request.get("expirationSeconds")
        if seconds is None:
            continue
        if seconds < SHORTEST_TOKEN:
            said = "may not specify a duration less than 10 minutes"
            errors.invalid(f"{here}.expirationSeconds", seconds, said)
        if seconds > LONGEST_TOKEN:
            said = "may not specify a duration larger than 2^32 seconds"
            errors.invalid(f"{here}.expirationSeconds", seconds, said)


def check_csi_driver_change(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a driver stays what volumes were made for."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    for name, shown in (
        ("attachRequired", "attachedRequired"),
        ("volumeLifecycleModes", "volumeLifecycleModes"),
    ):
        value = spec.get(name)
        if (value or None) != (before.get(name) or None):
            errors.invalid(f"spec.{shown}", value, IMMUTABLE)


def check_csi_node(document: Document, errors: FieldErrors) -> None:
    """Check the drivers of a node, apart from the metadata."""
    seen: set[str] = set()
    for index, driver in enumerate((document.get("spec") or {}).get("drivers") or ()):
        path, name = f"spec.drivers[{index}]", driver.get("name", "")
        check_driver(name, f"{path}.name", errors)
        node = driver.get("nodeID", "")
        if not node:
            errors.required(f"{path}.nodeID")
        if len(node.encode()) > LONGEST_NODE_ID:
            errors.invalid(f"{path}.nodeID", node, f"must be {LONGEST_NODE_ID} characters or less")
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None and count < 0:
            errors.invalid(f"{path}.allocatable.count", count, NOT_NEGATIVE)
        if name in seen:
            errors.duplicate(f"{path}.name", name)
        seen.add(name)
        _check_topology_keys(driver.get("topologyKeys") or (), path, errors)


def _check_topology_keys(keys: Sequence[str], path: str, errors: FieldErrors) -> None:
    seen: set[str] = set()
    for key in keys:
        if not key:
            errors.required(path)
        if key in seen:
            errors.duplicate(path, key)
        seen.add(key)
        errors.each_invalid(path, key, names.qualified_name(key))


def check_csi_node_change(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    """Check that drivers that stay keep everything but how many volumes they can hold."""
    now, then = (internal_field(kind, each, "spec", "drivers") or () for each in (new, old))
    for before in then:
        for driver in now:
            if driver["Name"] == before["Name"]:
                kept = driver | {"Allocatable": None}
                if not is_same(before | {"Allocatable": None}, kept):
                    errors.invalid("spec.drivers", kept, IMMUTABLE)


def check_storage_capacity(
    document: Document, errors: FieldErrors, *, any_values: bool = False
) -> None:
    """Check a report of capacity, apart from its metadata."""
    topology = document.get("nodeTopology")
    check_selector(topology, "nodeTopology", errors, any_values=any_values)
    name = document.get("storageClassName", "")
    errors.each_invalid("storageClassName", name, names.dns_subdomain(name))
    capacity = document.get("capacity")
    if capacity is not None and Quantity.parse(capacity).nanos < 0:
        errors.invalid("capacity", str(Quantity.parse(capacity)), NOT_NEGATIVE)


def check_storage_capacity_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed report, whose selector may stay as wrong as it was."""
    found = FieldErrors()
    check_selector(old.get("nodeTopology"), "", found)
    check_storage_capacity(new, errors, any_values=bool(found))


def check_storage_capacity_change(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a report stays about the same volumes."""
    for name in ("nodeTopology", "storageClassName"):
        if not is_same(old.get(name), new.get(name)):
            errors.invalid(name, new.get(name), IMMUTABLE)
