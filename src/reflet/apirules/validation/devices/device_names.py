"""The names of drivers, pools, attributes and conditions, and lists of what may not repeat.

Upstream: pkg/apis/resource/validation/validation.go, validateQualifiedName, validateSet and their
neighbours
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.storage.persistent_volume_sources import check_driver
from reflet.gotext.lazy_patterns import lazy_pattern

Document = Mapping[str, Any]
ItemCheck = Callable[[Any, str, FieldErrors], None]

LONGEST_POOL: Final = 253
LONGEST_IDENTIFIER: Final = 32
LONGEST_KEY: Final = 63 + 1 + LONGEST_IDENTIFIER  # of an attribute, with its domain
LONGEST_PARAMETERS: Final = 10 * 1024  # bytes of JSON
MOST_BINDING_CONDITIONS: Final = 4
TAINT_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")

_HEX: Final = lazy_pattern("[0-9a-fA-F]+")
_HYPHENS: Final = (8, 13, 18, 23)
_NORMAL_UID: Final = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
    "lowercase hexadecimal characters"
)


def check_items(
    items: Sequence[Any], most: int, check: ItemCheck, path: str, errors: FieldErrors
) -> bool:
    """Check each item of a list that is not too long, and say whether that was done."""
    if len(items) > most:
        errors.too_many(path, len(items), most)
        return False
    for index, item in enumerate(items):
        check(item, f"{path}[{index}]", errors)
    return True


def check_distinct_items(
    items: Sequence[Any],
    most: int,
    check: ItemCheck,
    path: str,
    errors: FieldErrors,
    *,
    key: Callable[[Any], Hashable],
    show: Callable[[Any], Any] | None = None,
) -> None:
    """Check each item of a list that is not too long and has none of them twice.

    Items are told apart by ``key``, which is also shown of them unless ``show`` gives more.
    """
    if not check_items(items, most, check, path, errors):
        return
    seen: set[Hashable] = set()
    for index, item in enumerate(items):
        if key(item) in seen:
            errors.duplicate(f"{path}[{index}]", (show or key)(item))
        seen.add(key(item))


def named(item: Document) -> str:
    """Give the name by which an item is told from others."""
    name: str = item.get("name", "")
    return name


def itself(item: str) -> str:
    """Tell a text from others by all of it."""
    return item


def check_label(name: str, path: str, errors: FieldErrors) -> None:
    """Check a name without dots: requests, devices, counters."""
    errors.each_invalid(path, name, names.dns_label(name))


def check_pool_name(name: str, path: str, errors: FieldErrors) -> None:
    """Check the name of a pool: subdomains between slashes."""
    if not name:
        errors.required(path)
        return
    if len(name.encode()) > LONGEST_POOL:
        errors.too_long(path, LONGEST_POOL)
    for part in name.split("/"):
        errors.each_invalid(path, part, names.dns_subdomain(part))


def check_qualified(name: str, path: str, errors: FieldErrors) -> None:
    """Check the name of an attribute or a capacity; more than one slash goes unseen."""
    parts = name.split("/")
    if len(parts) == 1:
        _check_identifier(name, path, errors)
    elif len(parts) == 2:
        domain, identifier = parts
        if not domain:
            errors.invalid(path, "", "the domain must not be empty")
        else:
            check_driver(domain, path, errors)
        if not identifier:
            errors.invalid(path, "", "the name must not be empty")
        else:
            _check_identifier(identifier, path, errors)


def check_fully_qualified(name: str, path: str, errors: FieldErrors) -> None:
    """Check the name of an attribute that must say whose it is."""
    check_qualified(name, path, errors)
    if "/" not in name:
        said = "a fully qualified name must be a domain and a name separated by a slash"
        errors.invalid(path, Named(name), said)


def _check_identifier(name: str, path: str, errors: FieldErrors) -> None:
    if len(name.encode()) > LONGEST_IDENTIFIER:
        errors.too_long(path, LONGEST_IDENTIFIER)
    errors.each_invalid(path, name, names.c_identifier(name))


def shortened(key: str, most: int) -> str:
    """Leave out the middle of a key that is too long for a message."""
    most = max(most, 16)
    if len(key) <= most:
        return key
    remaining = most - len("...")
    return f"{key[: (remaining + 1) // 2]}...{key[len(key) - remaining // 2 :]}"


def check_uid(uid: str, path: str, errors: FieldErrors) -> None:
    """Check a UUID in its usual form."""
    wrong = _wrong_uuid(uid)
    if wrong:
        errors.invalid(path, uid, f"error validating uid: {wrong}")
    elif len(uid) != 36 or uid != uid.lower():
        errors.invalid(path, uid, _NORMAL_UID)


def _wrong_uuid(uid: str) -> str:
    length = len(uid.encode())
    match length:
        case 32:
            return "" if _HEX.fullmatch(uid) else "invalid UUID format"
        case 36:
            inner = uid
        case 38:
            if not (uid.startswith("{") and uid.endswith("}")):
                return "invalid bracketed UUID format"
            inner = uid[1:-1]
        case 45:
            if uid[:9].lower() != "urn:uuid:":
                return f'invalid urn prefix: "{uid[:9]}"'
            inner = uid[9:]
        case _:
            return f"invalid UUID length: {length}"
    digits = "".join(each for at, each in enumerate(inner) if at not in _HYPHENS)
    fits = all(inner[at] == "-" for at in _HYPHENS) and _HEX.fullmatch(digits)
    return "" if fits else "invalid UUID format"


def check_json(value: Any, path: str, errors: FieldErrors) -> None:
    """Check what only a driver understands: an object that is not too long."""
    if value is None:
        errors.required(path)
    elif len(json.dumps(value, separators=(",", ":"), ensure_ascii=False)) > LONGEST_PARAMETERS:
        errors.too_long(path, LONGEST_PARAMETERS)
    elif not isinstance(value, Mapping):
        errors.invalid(path, "<value omitted>", "must be a valid JSON object")


def check_binding_conditions(device: Document, path: str, errors: FieldErrors) -> None:
    """Check the conditions that a device has to meet before its pod gets a node."""
    good, bad = "bindingConditions", "bindingFailureConditions"
    conditions, failures = device.get(good) or [], device.get(bad) or []
    for name, found in ((good, conditions), (bad, failures)):
        check_items(found, MOST_BINDING_CONDITIONS, _condition, f"{path}.{name}", errors)
    _check_once(conditions, (), f"{path}.{good}", errors)
    _check_once(failures, conditions, f"{path}.{bad}", errors)
    if failures and not conditions:
        said = "bindingConditions are required to use bindingFailureConditions"
        errors.invalid(f"{path}.{good}", device.get(good), said)
    if conditions and not failures:
        said = "bindingFailureConditions are required to use bindingConditions"
        errors.invalid(f"{path}.{bad}", device.get(bad), said)


def _condition(name: str, path: str, errors: FieldErrors) -> None:
    errors.each_invalid(path, name, names.qualified_name(name))


def _check_once(
    found: Sequence[str], others: Sequence[str], path: str, errors: FieldErrors
) -> None:
    seen: set[str] = set()
    for index, name in enumerate(found):
        if name in seen:
            errors.duplicate(f"{path}[{index}]", name)
        seen.add(name)
        if name in others:
            said = "bindingFailureConditions must not overlap with bindingConditions"
            errors.invalid(f"{path}[{index}]", name, said)
