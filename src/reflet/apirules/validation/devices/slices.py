"""The rules of slices of resources: the devices that a driver has, and what they are like.

Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceSlice
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.devices.capacities import check_capacity
from reflet.apirules.validation.devices.device_names import (
    LONGEST_KEY,
    TAINT_EFFECTS,
    check_binding_conditions,
    check_distinct_items,
    check_items,
    check_label,
    check_pool_name,
    check_qualified,
    named,
    shortened,
)
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE
from reflet.apirules.validation.podspecs.placement import internal_terms
from reflet.apirules.validation.storage.node_selectors import check_node_selector
from reflet.apirules.validation.storage.persistent_volume_sources import check_driver
from reflet.gotext.lazy_patterns import lazy_pattern

Document = Mapping[str, Any]

MOST_DEVICES: Final = 128
MOST_SPECIAL_DEVICES: Final = 64  # where some have taints or use counters
MOST_COUNTER_SETS: Final = 8
MOST_COUNTERS: Final = 32
MOST_CONSUMPTIONS: Final = 2
MOST_TAINTS: Final = 16
MOST_ATTRIBUTES: Final = 32  # of a device, with its capacities
LONGEST_VALUE: Final = 64  # bytes
LONGEST_COUNTER: Final = 63
_NUMBER: Final = r"(0|[1-9]\d*)"
_PRE_RELEASE: Final = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = "[0-9a-zA-Z-]+"
_SEMANTIC_VERSION: Final = lazy_pattern(
    rf"(?a){_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?"
)
# The kinds of values of an attribute, with the names that the real server shows them by.
_VALUES: Final = {
    "int": "IntValue",
    "bool": "BoolValue",
    "string": "StringValue",
    "version": "VersionValue",
}
_PLACES: Final = ("nodeName", "nodeSelector", "allNodes")
_ONE_PLACE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
_ONE_DEVICE_PLACE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NO_DEVICE_PLACE: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is "
    "set to true in the ResourceSlice spec"
)


def check_slice(document: Document, errors: FieldErrors) -> None:
    """Check a new slice, apart from its metadata."""
    _check_spec(document.get("spec") or {}, None, errors)


def check_slice_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed slice, which stays one of its driver, pool and node."""
    _check_spec(new.get("spec") or {}, old.get("spec") or {}, errors)


def _check_spec(spec: Document, before: Document | None, errors: FieldErrors) -> None:
    check_driver(spec.get("driver", ""), "spec.driver", errors)
    _check_pool(spec.get("pool") or {}, errors)
    if before is not None:
        _check_kept(spec, before, errors)
    _check_places(spec, errors)
    shared, devices = spec.get("sharedCounters"), spec.get("devices")
    if shared is not None and devices is not None:
        errors.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    special = any(each.get("taints") or each.get("consumesCounters") for each in devices or ())
    most = MOST_SPECIAL_DEVICES if special else MOST_DEVICES
    apart = bool(spec.get("perDeviceNodeSelection"))
    earlier = {named(each): each for each in (before or {}).get("devices") or ()}
    check = partial(_check_device, earlier, apart)
    check_distinct_items(devices or (), most, check, "spec.devices", errors, key=named)
    check_distinct_items(
        shared or (),
        MOST_COUNTER_SETS,
        _check_counter_set,
        "spec.sharedCounters",
        errors,
        key=named,
    )


def _check_pool(pool: Document, errors: FieldErrors) -> None:
    check_pool_name(pool.get("name", ""), "spec.pool.name", errors)
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if count <= 0:
        errors.invalid("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        said = "must be greater than or equal to zero"
        errors.invalid("spec.pool.generation", generation, said)


def _check_kept(spec: Document, before: Document, errors: FieldErrors) -> None:
    pool, earlier = (each.get("pool") or {} for each in (spec, before))
    if pool.get("name") != earlier.get("name"):
        errors.invalid("spec.pool.name", pool.get("name", ""), IMMUTABLE)
    if spec.get("driver") != before.get("driver"):
        errors.invalid("spec.driver", spec.get("driver", ""), IMMUTABLE)
    if spec.get("nodeName") != before.get("nodeName"):
        errors.invalid("spec.nodeName", spec.get("nodeName"), IMMUTABLE)


def _check_places(spec: Document, errors: FieldErrors) -> None:
    used, node = [], spec.get("nodeName")
    if node:
        used.append("`nodeName`")
        errors.each_invalid("spec.nodeName", node, names.dns_subdomain(node))
    elif node is not None:
        said = "must be either unset or set to a non-empty string"
        errors.invalid("spec.nodeName", node, said)
    selector = spec.get("nodeSelector")
    if selector is not None:
        used.append("`nodeSelector`")
        check_node_selector(selector, "spec.nodeSelector", errors)
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            said = "must have exactly one node selector term"
            errors.invalid(
                "spec.nodeSelector.nodeSelectorTerms", internal_terms(terms) or None, said
            )
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name):
            used.append(f"`{name}`")
        elif spec.get(name) is not None:
            errors.invalid(f"spec.{name}", False, "must be either unset or set to true")
    if not used:
        errors.required("spec", _ONE_PLACE)
    elif len(used) > 1:
        shown = f"{{{', '.join(used)}}}"
        errors.invalid("spec", shown, f"{_ONE_PLACE}, but multiple fields are set")


def _check_counter_set(counters: Document, path: str, errors: FieldErrors) -> None:
    _check_counters(counters, "name", path, errors)


def _check_counters(counters: Document, name: str, path: str, errors: FieldErrors) -> None:
    if not counters.get(name):
        errors.required(f"{path}.{name}")
    else:
        check_label(counters[name], f"{path}.{name}", errors)
    found, here = counters.get("counters") or {}, f"{path}.counters"
    if not found:
        errors.required(here)
    elif len(found) > MOST_COUNTERS:
        errors.too_many(here, len(found), MOST_COUNTERS)
    else:
        for counter in found:
            check_label(counter, here, errors)


def _check_consumption(consumption: Document, path: str, errors: FieldErrors) -> None:
    _check_counters(consumption, "counterSet", path, errors)


def _counter_set(consumption: Document) -> str:
    name: str = consumption.get("counterSet", "")
    return name


def _check_device(
    earlier: Mapping[str, Document],
    apart: bool,
    device: Document,
    path: str,
    errors: FieldErrors,
) -> None:
    check_label(named(device), f"{path}.name", errors)
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > MOST_ATTRIBUTES:
        said = f"the total number of attributes and capacities must not exceed {MOST_ATTRIBUTES}"
        errors.invalid(path, count, said)
    for name, attribute in attributes.items():
        check_qualified(name, f"{path}.attributes", errors)
        here = f"{path}.attributes[{shortened(name, LONGEST_KEY)}]"
        _check_attribute(attribute, here, errors)
    several = bool(device.get("allowMultipleAllocations"))
    for name, amount in capacity.items():
        check_qualified(name, f"{path}.capacity", errors)
        here = f"{path}.capacity[{shortened(name, LONGEST_KEY)}]"
        check_capacity(amount, here, errors, several=several)
    taints, before = device.get("taints") or (), earlier.get(named(device))
    if before is None or taints != (before.get("taints") or ()):
        check_items(taints, MOST_TAINTS, _check_taint, f"{path}.taints", errors)
    consumptions, here = device.get("consumesCounters") or (), f"{path}.consumesCounters"
    check_distinct_items(
        consumptions, MOST_CONSUMPTIONS, _check_consumption, here, errors, key=_counter_set
    )
    if apart:
        _check_device_place(device, path, errors)
    elif any(device.get(name) is not None for name in _PLACES):
        errors.invalid(path, None, _NO_DEVICE_PLACE)
    check_binding_conditions(device, path, errors)


def _check_device_place(device: Document, path: str, errors: FieldErrors) -> None:
    used, node = [], device.get("nodeName")
    if node:
        used.append("`nodeName`")
        errors.each_invalid(f"{path}.nodeName", node, names.dns_subdomain(node))
    elif node is not None:
        errors.invalid(f"{path}.nodeName", node, "must not be empty")
    if device.get("nodeSelector") is not None:
        used.append("`nodeSelector`")
        check_node_selector(device["nodeSelector"], f"{path}.nodeSelector", errors)
    if device.get("allNodes"):
        used.append("`allNodes`")
    elif device.get("allNodes") is not None:
        errors.invalid(f"{path}.allNodes", False, "must be either unset or set to true")
    if not used:
        errors.required(path, _ONE_DEVICE_PLACE)
    elif len(used) > 1:
        errors.invalid(path, f"{{{', '.join(used)}}}", _ONE_DEVICE_PLACE)


def _check_attribute(attribute: Document, path: str, errors: FieldErrors) -> None:
    text, version = attribute.get("string"), attribute.get("version")
    if text is not None and len(text.encode()) > LONGEST_VALUE:
        errors.too_long(f"{path}.string", LONGEST_VALUE)
    if version is not None:
        if not _SEMANTIC_VERSION.fullmatch(version):
            said = "must be a string compatible with semver.org spec 2.0.0"
            errors.invalid(f"{path}.version", version, said)
        if len(version.encode()) > LONGEST_VALUE:
            errors.too_long(f"{path}.version", LONGEST_VALUE)
    used = [name for name in _VALUES if attribute.get(name) is not None]
    if len(used) != 1:
        shown = {inner: attribute.get(name) for name, inner in _VALUES.items()}
        shown |= {f"{inner}s": None for inner in _VALUES.values()}
        errors.invalid(path, shown if used else "", "exactly one value must be specified")


def _check_taint(taint: Document, path: str, errors: FieldErrors) -> None:
    key, value, effect = (taint.get(name, "") for name in ("key", "value", "effect"))
    errors.each_invalid(f"{path}.key", key, names.qualified_name(key))
    if value:
        errors.each_invalid(f"{path}.value", value, names.label_value(value))
    if not effect:
        errors.required(f"{path}.effect")
    elif effect not in TAINT_EFFECTS:
        errors.not_supported(f"{path}.effect", effect, TAINT_EFFECTS)
