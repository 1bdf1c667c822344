"""The rules of what devices have to give, and in which portions.

Upstream: pkg/apis/resource/validation/validation.go, validateRequestPolicy
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.validation.devices.device_names import check_distinct_items
from reflet.apirules.validation.field_errors import FieldErrors

Document = Mapping[str, Any]

MOST_VALUES: Final = 10
_ONE_POLICY: Final = (
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the '
    "same time"
)


def check_capacity(capacity: Document, path: str, errors: FieldErrors, *, several: bool) -> None:
    """Check one capacity of a device; ``several`` when more than one claim may have the device."""
    policy, here = capacity.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return
    if not several:
        errors.forbidden(here, "allowMultipleAllocations must be true")
        return
    values, span = policy.get("validValues") or (), policy.get("validRange")
    most, usual = Quantity.parse(capacity.get("value", "0")), policy.get("default")
    if values and span is not None:
        errors.forbidden(here, _ONE_POLICY)
    elif usual is None:
        for name, used in (("validValues", bool(values)), ("validRange", span is not None)):
            if used:
                errors.required(f"{here}.default", f"required when {name} is defined")
    elif values:
        amounts = [Quantity.parse(value) for value in values]
        _check_values(amounts, Quantity.parse(usual), most, f"{here}.validValues", errors)
    elif span is not None:
        _check_range(span, Quantity.parse(usual), most, f"{here}.validRange", errors)


def _check_values(
    values: Sequence[Quantity], usual: Quantity, most: Quantity, path: str, errors: FieldErrors
) -> None:
    for index in range(1, len(values)):
        if values[index - 1] > values[index]:
            said = "values must be sorted in ascending order"
            errors.invalid(f"{path}[{index}]", str(values[index]), said)

    def check(value: Quantity, here: str, errors: FieldErrors) -> None:
        if value > most:
            errors.invalid(here, str(value), f"option is larger than capacity value: {most}")

    check_distinct_items(values, MOST_VALUES, check, path, errors, key=_whole)
    if len(values) > MOST_VALUES or usual not in values:
        said = "default value is not valid according to the requestPolicy"
        errors.invalid(path, str(usual), said)


def _whole(value: Quantity) -> str:
    return str(value.value())


def _check_range(
    span: Document, usual: Quantity, most: Quantity, path: str, errors: FieldErrors
) -> None:
    if span.get("min") is None:
        errors.required(f"{path}.min", "required when validRange is defined")
        return
    low = Quantity.parse(span["min"])
    high = None if span.get("max") is None else Quantity.parse(span["max"])
    if low > most:
        errors.invalid(f"{path}.min", str(low), f"min is larger than capacity value: {most}")
    if usual < low:
        errors.invalid(f"{path}.min", str(usual), f"default is less than min: {low}")
    if high is not None:
        if low > high:
            errors.invalid(f"{path}.max", str(low), f"min is larger than max: {high}")
        if high > most:
            errors.invalid(f"{path}.max", str(high), f"max is larger than capacity value: {most}")
        if usual > high:
            errors.invalid(f"{path}.max", str(usual), f"default is more than max: {high}")
    if span.get("step") is not None:
        step = Quantity.parse(span["step"])
        _check_step(step, low, most, f"{path}.step", errors)
        for value in (usual, *(() if high is None else (high,))):
            _check_multiple(value, low, step, f"{path}.step", errors)


def _check_step(
    step: Quantity, low: Quantity, most: Quantity, path: str, errors: FieldErrors
) -> None:
    first = low + step
    if first > most:
        said = f"one step {first} is larger than capacity value: {most}"
        errors.invalid(path, str(step), said)


def _check_multiple(
    value: Quantity, low: Quantity, step: Quantity, path: str, errors: FieldErrors
) -> None:
    # A step of nothing ends the real server's handler; everything is a multiple of it here.
    size = step.value()
    if size and (value.value() - low.value()) % size:
        said = f"value is not a multiple of a given step ({step}) from ({low})"
        errors.invalid(path, str(value), said)
