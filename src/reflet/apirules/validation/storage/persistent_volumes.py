"""The rules of persistent volumes.

Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolume and
ValidatePersistentVolumeUpdate; pkg/volume/validation/pv_validation.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.schema.schemas import Schema
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE
from reflet.apirules.validation.storage.internal_types import (
    difference,
    internal_name,
    internal_view,
    is_same,
)
from reflet.apirules.validation.storage.node_selectors import check_node_selector
from reflet.apirules.validation.storage.persistent_volume_sources import SOURCES, check_source

Document = Mapping[str, Any]

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
VOLUME_MODES: Final = ("Block", "Filesystem")
NOT_POSITIVE: Final = "must be greater than zero"
MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"

_EXCLUSIVE: Final = "ReadWriteOncePod"
_TAKES_MOUNT_OPTIONS: Final = frozenset(
    {
        *("gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte"),
        *("iscsi", "cinder", "cephfs", "azureFile", "vsphereVolume", "azureDisk"),
        "photonPersistentDisk",
    }
)
# Old names of labels that may be replaced by the names that came after them.
_SUCCESSORS: Final[Mapping[str, str]] = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def check_persistent_volume(document: Document, errors: FieldErrors) -> None:
    """Check a new volume, apart from its metadata."""
    check_volume_spec(document, errors)
    check_mount_options(document, errors)


def check_volume_spec(document: Document, errors: FieldErrors, *, any_value: bool = False) -> None:
    """Check what a volume is; ``any_value`` is for node labels that were wrong before."""
    spec, path = document["spec"], "spec"
    if not spec.get("accessModes"):
        errors.required(f"{path}.accessModes")
    check_access_modes(spec.get("accessModes") or (), f"{path}.accessModes", errors)
    _check_capacity(spec.get("capacity") or {}, f"{path}.capacity", errors)
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and policy not in RECLAIM_POLICIES:
        errors.not_supported(f"{path}.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES)
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        here = f"{path}.nodeAffinity.required"
        if affinity.get("required") is None:
            errors.required(here, "must specify required node constraints")
        else:
            check_node_selector(affinity["required"], here, errors, any_value=any_value)
    check_source(spec, document["metadata"].get("name", ""), errors)
    root = spec.get("hostPath") is not None and _is_root(spec["hostPath"].get("path", ""))
    if root and policy == "Recycle":
        said = "may not be 'recycle' for a hostPath mount of '/'"
        errors.forbidden(f"{path}.persistentVolumeReclaimPolicy", said)
    check_class_name(spec.get("storageClassName"), f"{path}.storageClassName", errors)
    check_volume_mode(spec.get("volumeMode"), f"{path}.volumeMode", errors)
    attributes, here = spec.get("volumeAttributesClassName"), f"{path}.volumeAttributesClassName"
    if attributes is not None:
        if not attributes:
            errors.required(here, "an empty string is disallowed")
        check_class_name(attributes, here, errors)
        if spec.get("csi") is None:
            said = "has to be specified when using volumeAttributesClassName"
            errors.required(f"{path}.csi", said)


def check_access_modes(modes: Any, path: str, errors: FieldErrors) -> None:
    """Check how a volume may be mounted: by one pod alone, or in any of the other ways."""
    for mode in modes:
        if mode not in ACCESS_MODES:
            errors.not_supported(path, mode, ACCESS_MODES)
    known = set(modes) & set(ACCESS_MODES)
    if _EXCLUSIVE in known and len(known) > 1:
        errors.forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _check_capacity(capacity: Document, path: str, errors: FieldErrors) -> None:
    if not capacity:
        errors.required(path)
    if set(capacity) != {"storage"}:
        shown = {name: capacity[name] for name in sorted(capacity)}
        errors.not_supported(path, shown or None, ("storage",))
    for name in sorted(capacity):
        amount = Quantity.parse(capacity[name])
        if amount.value() < 0:
            errors.invalid(f"{path}[{name}]", amount.value(), "must be a valid resource quantity")
        if amount.nanos <= 0:
            errors.invalid(f"{path}[{name}]", str(amount), NOT_POSITIVE)


def check_class_name(name: str | None, path: str, errors: FieldErrors) -> None:
    """Check the name of a class, if there is one."""
    if name:
        errors.each_invalid(path, name, names.dns_subdomain(name))


def check_volume_mode(mode: str | None, path: str, errors: FieldErrors) -> None:
    """Check whether a volume is a file system or a bare device."""
    if mode is not None and mode not in VOLUME_MODES:
        errors.not_supported(path, mode, VOLUME_MODES)


def _is_root(path: str) -> bool:
    """Whether a path, with its detours taken out, is the root."""
    depth = 0
    for part in path.split("/"):
        if part == "..":
            depth = max(0, depth - 1)
        elif part not in {"", "."}:
            depth += 1
    return path.startswith("/") and not depth


def check_mount_options(document: Document, errors: FieldErrors) -> None:
    """Check that only volumes that are mounted have options for it in an annotation."""
    if MOUNT_OPTIONS in (document["metadata"].get("annotations") or {}) and not any(
        document["spec"].get(name) is not None for name in _TAKES_MOUNT_OPTIONS
    ):
        said = "may not specify mount options for this volume type"
        errors.forbidden(f"metadata.annotations.{MOUNT_OPTIONS}", said)


def has_bad_node_labels(document: Document) -> bool:
    """Whether a stored volume asks for node labels that cannot be; they may then stay so."""
    affinity = document["spec"].get("nodeAffinity") or {}
    return any(
        names.label_value(value)
        for term in (affinity.get("required") or {}).get("nodeSelectorTerms") or ()
        for requirement in term.get("matchExpressions") or ()
        for value in requirement.get("values") or ()
    )


def check_persistent_volume_change(
    schema: Schema, new: Document, old: Document, errors: FieldErrors
) -> None:
    """Check that a volume stays made of the same thing; ``schema`` describes its spec."""
    spec, before = new["spec"], old["spec"]
    source, earlier = _source(schema, _comparable(spec, before)), _source(schema, before)
    if not is_same(earlier, source):
        said = "spec.persistentvolumesource is immutable after creation"
        errors.forbidden("spec.persistentvolumesource", f"{said}\n{difference(earlier, source)}")
    check_volume_mode_kept(spec, before, errors)
    _check_affinity_kept(schema, spec, before, errors)
    name = "volumeAttributesClassName"
    if before.get(name) is not None and spec.get(name) is None:
        errors.forbidden(f"spec.{name}", "update from non-nil value to nil is forbidden")


def _comparable(spec: Document, before: Document) -> Document:
    """Leave out the one thing about a driver that may be said later."""
    name, driver = "controllerExpandSecretRef", spec.get("csi")
    if driver is None or before.get("csi") is None or before["csi"].get(name) is not None:
        return spec
    return {**spec, "csi": {part: driver[part] for part in driver if part != name}}


def _source(schema: Schema, spec: Document) -> dict[str, Any]:
    return {
        internal_name(name): internal_view(field, spec.get(name))
        for name in SOURCES
        if (field := schema.field(name)) is not None
    }


def check_volume_mode_kept(spec: Document, before: Document, errors: FieldErrors) -> None:
    """Check that a file system stays one, and a device."""
    if spec.get("volumeMode") != before.get("volumeMode"):
        errors.invalid("volumeMode", spec.get("volumeMode"), IMMUTABLE)


def _check_affinity_kept(
    schema: Schema, spec: Document, before: Document, errors: FieldErrors
) -> None:
    field = schema.field("nodeAffinity")
    if before.get("nodeAffinity") is None or field is None:
        return
    now, then = (internal_view(field, each.get("nodeAffinity")) for each in (spec, before))
    if not is_same(_renewed(then, now), now):
        said = f"{IMMUTABLE}, except for updating from beta label to GA"
        errors.invalid("nodeAffinity", now, said)


def _renewed(old: Any, new: Any) -> Any:
    """Give the old value with the keys that the new one has in place of outdated ones."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return list(map(_renewed, old, new))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return old
    # A key without a successor may be replaced by none at all; that is another complaint.
    if "Key" in old and _SUCCESSORS.get(old["Key"], "") == new.get("Key"):
        return old | {"Key": new["Key"]}
    return {name: _renewed(value, new.get(name)) for name, value in old.items()}
