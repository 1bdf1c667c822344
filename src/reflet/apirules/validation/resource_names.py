"""The names of resources: what containers, limits and quotas may count.

Upstream: pkg/apis/core/validation/validation.go, validateResourceName and its callers;
pkg/apis/core/helper/helpers.go
"""

from __future__ import annotations

from typing import Final

from reflet.api.quantities import Quantity
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import NOT_NEGATIVE

OF_CONTAINERS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
COUNTED: Final = frozenset(
    {
        *("pods", "services", "replicationcontrollers", "resourcequotas", "secrets"),
        *("configmaps", "persistentvolumeclaims", "services.nodeports"),
        "services.loadbalancers",
    }
)
OF_QUOTAS: Final = (
    OF_CONTAINERS
    | COUNTED
    | {
        *("requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.storage"),
        *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    }
)
_STANDARD: Final = OF_QUOTAS | {"storage"}
_HUGE_PAGES: Final = ("hugepages-", "requests.hugepages-")


def check_resource(name: str, path: str, errors: FieldErrors) -> None:
    """Check the name of anything that can be counted."""
    wrong = names.qualified_name(name)
    errors.each_invalid(path, name, wrong)
    if not wrong and "/" not in name and not _is_known(name, _STANDARD):
        errors.invalid(path, name, "must be a standard resource type or fully qualified")


def check_container_resource(name: str, path: str, errors: FieldErrors) -> None:
    """Check the name of what a container may ask for."""
    check_resource(name, path, errors)
    if "/" not in name:
        if not (name in OF_CONTAINERS or is_huge_page(name)):
            errors.invalid(path, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        errors.invalid(path, name, "doesn't follow extended resource name standard")


def check_quota_resource(name: str, path: str, errors: FieldErrors) -> None:
    """Check the name of what a quota may limit."""
    check_resource(name, path, errors)
    if "/" not in name and not is_of_quotas(name):
        errors.invalid(path, name, "must be a standard resource for quota")


def check_amount(name: str, amount: str, path: str, errors: FieldErrors) -> None:
    """Check how much of something there is, or may be."""
    quantity = Quantity.parse(amount)
    if quantity.nanos < 0:
        errors.invalid(path, str(quantity), NOT_NEGATIVE)
    if is_whole(name) and quantity.wrapped_milli_value() % 1000:
        errors.invalid(path, str(quantity), "must be an integer")


def is_of_quotas(name: str) -> bool:
    """Whether quotas know the resource by itself."""
    return _is_known(name, OF_QUOTAS)


def _is_known(name: str, known: frozenset[str]) -> bool:
    return name in known or name.startswith(_HUGE_PAGES)


def is_huge_page(name: str) -> bool:
    """Whether the resource is memory in large pages."""
    return name.startswith("hugepages-")


def is_native(name: str) -> bool:
    """Whether the resource is Kubernetes' own; those without a domain are."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Whether the resource is somebody else's, and so counted in whole numbers."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not names.qualified_name(f"requests.{name}")


def is_whole(name: str) -> bool:
    """Whether amounts of the resource are whole numbers."""
    return name in COUNTED or is_extended(name)


def may_be_overcommitted(name: str) -> bool:
    """Whether more of the resource may be allowed than is asked for."""
    return is_native(name) and not is_huge_page(name)
