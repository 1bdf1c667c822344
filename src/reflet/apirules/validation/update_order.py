"""The steps of which the check of an update is made, and their order.

Most kinds check an update as a new object, and what changed; in which order, and how often the
metadata, is each kind's own habit, and shows in the order of complaints.

Upstream: pkg/registry/*/*/strategy.go, ValidateUpdate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import runtime_classes
from reflet.apirules.validation.batch import jobs
from reflet.apirules.validation.devices import claim_statuses, claims, slices
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import (
    check_metadata,
    check_metadata_update,
    check_qualified_finalizers,
)
from reflet.apirules.validation.networking import cluster_addresses, endpoint_slices
from reflet.apirules.validation.storage import attachments, drivers

Document = Mapping[str, Any]
CreateCheck = Callable[[Document, FieldErrors], None]
UpdateCheck = Callable[[Document, Document, FieldErrors], None]
WholeUpdateCheck = Callable[[ServedKind, Document, Document, FieldErrors], None]


def in_order(*steps: WholeUpdateCheck) -> WholeUpdateCheck:
    """Check an update step by step."""

    def update(kind: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
        for step in steps:
            step(kind, new, old, errors)

    return update


def metadata_as_new(kind: ServedKind, new: Document, _: Document, errors: FieldErrors) -> None:
    """Check the metadata as that of a new object."""
    check_metadata(kind, new["metadata"], errors)


def metadata_change(kind: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
    """Check what became of the metadata."""
    check_metadata_update(new["metadata"], old["metadata"], errors)
    check_qualified_finalizers(kind, new["metadata"], errors)


def as_new(check: CreateCheck) -> WholeUpdateCheck:
    """Check what the object says as if it were new."""

    def step(_: ServedKind, new: Document, __: Document, errors: FieldErrors) -> None:
        check(new, errors)

    return step


def change(check: UpdateCheck) -> WholeUpdateCheck:
    """Check what became of what the object says."""

    def step(_: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
        check(new, old, errors)

    return step


UPDATE_ORDERS: Final[Mapping[str, WholeUpdateCheck]] = {
    "jobs.batch": in_order(
        metadata_as_new, as_new(jobs.check_job), metadata_change, change(jobs.check_job_update)
    ),
    "cronjobs.batch": in_order(metadata_change, change(jobs.check_cron_job_update)),
    "endpointslices.discovery.k8s.io": in_order(
        metadata_as_new, change(endpoint_slices.check_endpoint_slice_update)
    ),
    "ipaddresses.networking.k8s.io": in_order(
        metadata_as_new,
        as_new(cluster_addresses.check_ip_address),
        metadata_change,
        cluster_addresses.check_ip_address_change,
    ),
    "servicecidrs.networking.k8s.io": in_order(
        metadata_change, change(cluster_addresses.check_service_cidr_change)
    ),
    "csidrivers.storage.k8s.io": in_order(
        metadata_change,
        as_new(drivers.check_csi_driver),
        change(drivers.check_csi_driver_change),
    ),
    "csinodes.storage.k8s.io": in_order(
        metadata_as_new, as_new(drivers.check_csi_node), drivers.check_csi_node_change
    ),
    "csistoragecapacities.storage.k8s.io": in_order(
        metadata_as_new,
        change(drivers.check_storage_capacity_update),
        metadata_change,
        change(drivers.check_storage_capacity_change),
    ),
    "volumeattachments.storage.k8s.io": in_order(
        metadata_as_new,
        as_new(attachments.check_attachment),
        attachments.check_attachment_change,
    ),
    "volumeattachments.storage.k8s.io/status": in_order(
        metadata_as_new, as_new(attachments.check_attachment)
    ),
    "volumeattributesclasses.storage.k8s.io": in_order(
        metadata_change,
        change(attachments.check_attributes_change),
        metadata_as_new,
        as_new(attachments.check_attributes),
    ),
    "runtimeclasses.node.k8s.io": in_order(
        metadata_as_new,
        as_new(runtime_classes.check_runtime_class),
        metadata_change,
        change(runtime_classes.check_runtime_class_change),
    ),
    "resourceclaims.resource.k8s.io": in_order(
        metadata_as_new, metadata_change, claims.check_spec_kept
    ),
    "resourceclaims.resource.k8s.io/status": in_order(
        metadata_change, claim_statuses.check_claim_of_devices_status
    ),
    "resourceclaimtemplates.resource.k8s.io": in_order(
        metadata_as_new,
        as_new(claims.check_claim_template),
        metadata_change,
        claims.check_spec_kept,
    ),
    "resourceslices.resource.k8s.io": in_order(metadata_change, change(slices.check_slice_update)),
    "deviceclasses.resource.k8s.io": in_order(
        metadata_as_new, metadata_change, as_new(claims.check_device_class)
    ),
}
