"""The rules of volumes that are attached to nodes, and of classes of their attributes.

Upstream: pkg/apis/storage/validation/validation.go, ValidateVolumeAttachment and
ValidateVolumeAttributesClass
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE
from reflet.apirules.validation.podspecs.security import HIGHEST_ID
from reflet.apirules.validation.storage.internal_types import internal_field, is_same
from reflet.apirules.validation.storage.persistent_volume_sources import (
    check_driver,
    check_source,
)
from reflet.apirules.validation.storage.persistent_volumes import (
    check_access_modes,
)
from reflet.apirules.validation.storage.storage_classes import (
    check_parameters,
    check_provisioner,
)

Document = Mapping[str, Any]

LONGEST_METADATA: Final = 256 * 1024  # bytes
LONGEST_MESSAGE: Final = 1024
_NOT_INLINE: Final = "may not be specified in the context of inline volumes"
_ONE_SOURCE: Final = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def check_attachment(document: Document, errors: FieldErrors) -> None:
    """Check an attachment, apart from its metadata."""
    spec = document.get("spec") or {}
    check_driver(spec.get("attacher", ""), "spec.attacher", errors)
    source = spec.get("source") or {}
    _check_source(source, "spec.source", errors)
    node = spec.get("nodeName", "")
    errors.each_invalid("spec.nodeName", node, names.dns_subdomain(node))
    _check_status(document.get("status") or {}, errors)
    volume = source.get("persistentVolumeName")
    if volume is not None:
        wrong = names.dns_subdomain(volume)
        errors.each_invalid("spec.source.persistentVolumeName", volume, wrong)


def _check_source(source: Document, path: str, errors: FieldErrors) -> None:
    volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if volume is None and inline is None:
        errors.required(path, _ONE_SOURCE)
    elif volume is not None and inline is not None:
        errors.forbidden(path, _ONE_SOURCE)
    elif inline is not None:
        _check_inline(inline, f"{path}.inlineVolumeSpec", errors)
    elif not volume:
        said = "must specify non empty persistentVolumeName"
        errors.required(f"{path}.persistentVolumeName", said)


def _check_inline(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check a volume that is written where it is used, and so has neither owner nor size."""
    if spec.get("claimRef") is not None:
        errors.forbidden(f"{path}.claimRef", _NOT_INLINE)
    if spec.get("capacity"):
        errors.forbidden(f"{path}.capacity", _NOT_INLINE)
    if spec.get("csi") is None:
        said = "has to be specified in the context of inline volumes"
        errors.required(f"{path}.csi", said)
    if not spec.get("accessModes"):
        errors.required(f"{path}.accessModes")
    check_access_modes(spec.get("accessModes") or (), f"{path}.accessModes", errors)
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy not in {"", "Retain"}:
        said = "may only be Retain in the context of inline volumes"
        errors.forbidden(f"{path}.persistentVolumeReclaimPolicy", said)
    if spec.get("nodeAffinity") is not None:
        errors.forbidden(f"{path}.nodeAffinity", _NOT_INLINE)
    check_source(spec, "", errors, path=path)
    if spec.get("storageClassName"):
        errors.forbidden(f"{path}.storageClassName", _NOT_INLINE)
    if spec.get("volumeMode") not in {None, "Filesystem"}:
        said = "may not specify volumeMode other than Filesystem in the context of inline volumes"
        errors.forbidden(f"{path}.volumeMode", said)


def _check_status(status: Document, errors: FieldErrors) -> None:
    metadata = status.get("attachmentMetadata") or {}
    if sum(len(f"{name}{value}".encode()) for name, value in metadata.items()) > LONGEST_METADATA:
        errors.too_long("status.attachmentMetadata", LONGEST_METADATA)
    for name in ("attachError", "detachError"):
        error = status.get(name) or {}
        if len(error.get("message", "").encode()) > LONGEST_MESSAGE:
            # The real server names another limit than the one it keeps.
            errors.too_long(f"status.{name}.message", LONGEST_METADATA)
        code = error.get("errorCode")
        if code is not None and code < 0:
            said = names.out_of_range(0, HIGHEST_ID)
            errors.invalid(f"status.{name}.errorCode", code, said)


def check_attachment_change(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    """Check that the same volume stays attached to the same node."""
    now, then = (internal_field(kind, each, "spec") for each in (new, old))
    if not is_same(then, now):
        errors.invalid("spec", now, IMMUTABLE)


def check_attributes(document: Document, errors: FieldErrors) -> None:
    """Check a class of attributes, apart from its metadata."""
    check_provisioner(document.get("driverName", ""), "driverName", errors)
    parameters = document.get("parameters") or {}
    check_parameters(parameters, errors)
    if not parameters:
        errors.required("parameters", "must contain at least one key/value pair")


def check_attributes_change(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a class stays what it is."""
    for name in ("driverName", "parameters"):
        if (new.get(name) or None) != (old.get(name) or None):
            errors.forbidden(name, f"updates to {name} are forbidden.")
