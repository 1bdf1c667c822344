"""The rules of what is reported of claims: what was given, to whom, and how the devices are.

Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceClaimStatusUpdate
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation.devices.claims import (
    RequestNames,
    check_configuration,
    check_request_reference,
    check_request_references,
    request_names,
)
from reflet.apirules.validation.devices.device_names import (
    check_binding_conditions,
    check_distinct_items,
    check_items,
    check_json,
    check_label,
    check_pool_name,
    check_uid,
    itself,
)
from reflet.apirules.validation.disruption_budgets import check_conditions
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE
from reflet.apirules.validation.networking.addresses import check_interface_address
from reflet.apirules.validation.storage.internal_types import internal_field, is_same
from reflet.apirules.validation.storage.node_selectors import check_node_selector
from reflet.apirules.validation.storage.persistent_volume_sources import check_driver

Document = Mapping[str, Any]
DeviceId = tuple[str, str, str, str]

MOST_CONSUMERS: Final = 256
MOST_RESULTS: Final = 32
MOST_CONFIGURATIONS: Final = 64  # those of the class and those of the claim
MOST_CONDITIONS: Final = 8
MOST_ADDRESSES: Final = 16
SOURCES: Final = ("FromClaim", "FromClass")
_ID: Final = ("driver", "pool", "device", "shareID")
_LONGEST: Final = {"interfaceName": 256, "hardwareAddress": 128}  # bytes


def check_claim_of_devices_status(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    """Check a changed status."""
    status, before = new.get("status") or {}, old.get("status") or {}
    consumers, path = status.get("reservedFor") or [], "status.reservedFor"
    check_distinct_items(consumers, MOST_CONSUMERS, _check_consumer, path, errors, key=_uid)
    allocation = status.get("allocation")
    results = ((allocation or {}).get("devices") or {}).get("results") or ()
    given = frozenset(map(_device_id, results))
    check = partial(_check_device, given)
    devices = status.get("devices") or ()
    check_distinct_items(
        devices, sys.maxsize, check, "status.devices", errors, key=_device_id, show=_shown_id
    )
    if consumers and allocation is None:
        errors.forbidden(path, "may not be specified when `allocated` is not set")
    elif new["metadata"].get("deletionTimestamp") and any(
        each not in (before.get("reservedFor") or ()) for each in consumers
    ):
        said = (
            "new entries may not be added while `deallocationRequested` or `deletionTimestamp` "
            "are set"
        )
        errors.forbidden(path, said)
    if allocation is not None and before.get("allocation") is not None:
        now, then = (internal_field(kind, each, "status", "allocation") for each in (new, old))
        if not is_same(then, now):
            errors.invalid("status.allocation", now, IMMUTABLE)
    elif allocation is not None:
        _check_allocation(allocation, request_names(new.get("spec") or {}), errors)


def _uid(consumer: Document) -> str:
    uid: str = consumer.get("uid", "")
    return uid


def _device_id(device: Document) -> DeviceId:
    driver, pool, name, share = (device.get(part) or "" for part in _ID)
    return driver, pool, name, share


def _shown_id(device: Document) -> dict[str, str]:
    shown = ("Driver", "Pool", "Device", "ShareID")
    return dict(zip(shown, _device_id(device), strict=True))


def _check_consumer(consumer: Document, path: str, errors: FieldErrors) -> None:
    for name in ("resource", "name", "uid"):
        if not consumer.get(name):
            errors.required(f"{path}.{name}")


def _check_allocation(allocation: Document, known: RequestNames, errors: FieldErrors) -> None:
    path, devices = "status.allocation.devices", allocation.get("devices") or {}
    check = partial(_check_result, known)
    results = devices.get("results") or ()
    check_items(results, MOST_RESULTS, check, f"{path}.results", errors)
    check = partial(_check_configuration, known)
    configurations = devices.get("config") or ()
    check_items(configurations, MOST_CONFIGURATIONS, check, f"{path}.config", errors)
    if allocation.get("nodeSelector") is not None:
        here = "status.allocation.nodeSelector"
        check_node_selector(allocation["nodeSelector"], here, errors)


def _check_result(known: RequestNames, result: Document, path: str, errors: FieldErrors) -> None:
    check_request_reference(known, result.get("request", ""), f"{path}.request", errors)
    _check_which(result, path, errors)
    check_binding_conditions(result, path, errors)
    _check_share(result, path, errors)


def _check_which(device: Document, path: str, errors: FieldErrors) -> None:
    check_driver(device.get("driver", ""), f"{path}.driver", errors)
    check_pool_name(device.get("pool", ""), f"{path}.pool", errors)
    check_label(device.get("device", ""), f"{path}.device", errors)


def _check_share(device: Document, path: str, errors: FieldErrors) -> None:
    if device.get("shareID") is not None:
        check_uid(device["shareID"], f"{path}.shareID", errors)


def _check_configuration(
    known: RequestNames, configuration: Document, path: str, errors: FieldErrors
) -> None:
    source = configuration.get("source", "")
    if not source:
        errors.required(f"{path}.source")
    elif source not in SOURCES:
        errors.not_supported(f"{path}.source", source, SOURCES)
    check_request_references(configuration.get("requests") or (), known, path, errors)
    check_configuration(configuration, path, errors)


def _check_device(
    given: frozenset[DeviceId], device: Document, path: str, errors: FieldErrors
) -> None:
    _check_which(device, path, errors)
    _check_share(device, path, errors)
    if _device_id(device) not in given:
        said = "must be an allocated device in the claim"
        errors.invalid(path, _shown_id(device), said)
    conditions = device.get("conditions") or ()
    if len(conditions) > MOST_CONDITIONS:
        errors.too_many(f"{path}.conditions", len(conditions), MOST_CONDITIONS)
    check_conditions(conditions, f"{path}.conditions", errors)
    if device.get("data") is not None:
        check_json(device["data"], f"{path}.data", errors)
    network, here = device.get("networkData") or {}, f"{path}.networkData"
    for name, most in _LONGEST.items():
        if len(network.get(name, "").encode()) > most:
            errors.too_long(f"{here}.{name}", most)
    addresses = network.get("ips") or ()
    check_distinct_items(
        addresses, MOST_ADDRESSES, check_interface_address, f"{here}.ips", errors, key=itself
    )
