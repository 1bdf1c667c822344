"""The rules of environment variables and of what they and volumes take from elsewhere.

Upstream: pkg/apis/core/validation/validation.go, ValidateEnv
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors

Document = Mapping[str, Any]

ENVIRONMENT_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
# What can be named at all; "spec.host" is an old name of "spec.nodeName".
_KNOWN_FIELDS: Final = frozenset(
    {
        *ENVIRONMENT_FIELDS,
        *VOLUME_FIELDS,
        *("spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"),
    }
)
_RESOURCES: Final = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")
_SUBSCRIPTED: Final = re.compile(r"(.*)\['(.*)'\]")
_CPU_DIVISORS: Final = frozenset({"1m", "1"})
_SIZES: Final = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def check_environment(variables: Sequence[Document], path: str, errors: FieldErrors) -> None:
    """Check ``env``."""
    for index, variable in enumerate(variables):
        here = f"{path}[{index}]"
        name = variable.get("name", "")
        if not name:
            errors.required(f"{here}.name")
        else:
            errors.each_invalid(f"{here}.name", name, names.environment_name(name))
        source = variable.get("valueFrom")
        if source is not None:
            _check_source(source, variable.get("value", ""), f"{here}.valueFrom", errors)


def _check_source(source: Document, value: str, path: str, errors: FieldErrors) -> None:
    used = [name for name in _SOURCES if source.get(name) is not None]
    if "fieldRef" in used:
        check_field_reference(source["fieldRef"], ENVIRONMENT_FIELDS, f"{path}.fieldRef", errors)
    if "resourceFieldRef" in used:
        here = f"{path}.resourceFieldRef"
        check_resource_reference(source["resourceFieldRef"], here, errors, in_volume=False)
    for name in ("configMapKeyRef", "secretKeyRef"):
        if name in used:
            _check_key_reference(source[name], f"{path}.{name}", errors)
    if "fileKeyRef" in used:
        _check_file_reference(source["fileKeyRef"], f"{path}.fileKeyRef", errors)
    if not used:
        errors.invalid(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
            "`secretKeyRef` or `fileKeyRef`",
        )
    elif value:
        errors.invalid(path, "", "may not be specified when `value` is not empty")
    elif len(used) > 1:
        errors.invalid(path, "", "may not have more than one field specified at a time")


def _check_key_reference(reference: Document, path: str, errors: FieldErrors) -> None:
    name, key = reference.get("name", ""), reference.get("key", "")
    errors.each_invalid(f"{path}.name", name, names.dns_subdomain(name))
    if not key:
        errors.required(f"{path}.key")
    else:
        errors.each_invalid(f"{path}.key", key, names.config_key(key))


def _check_file_reference(reference: Document, path: str, errors: FieldErrors) -> None:
    for name, rule in (("key", names.environment_name), ("volumeName", names.dns_label)):
        value = reference.get(name, "")
        if not value:
            errors.required(f"{path}.{name}")
        else:
            errors.each_invalid(f"{path}.{name}", value, rule(value))
    target = reference.get("path", "")
    if not target:
        errors.required(f"{path}.path")
    elif ".." in target.split("/"):
        errors.invalid(f"{path}.path", target, "must not contain '..'")


def check_environment_sources(sources: Sequence[Document], path: str, errors: FieldErrors) -> None:
    """Check ``envFrom``."""
    for index, source in enumerate(sources):
        here = f"{path}[{index}]"
        prefix = source.get("prefix", "")
        if prefix:
            errors.each_invalid(f"{here}.prefix", prefix, names.environment_name(prefix))
        used = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
        for each in used:
            name = source[each].get("name", "")
            if not name:
                errors.required(f"{here}.{each}.name")
            else:
                errors.each_invalid(f"{here}.{each}.name", name, _name_or_prefix(name))
        if not used:
            errors.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(used) > 1:
            errors.invalid(path, "", "may not have more than one field specified at a time")


def _name_or_prefix(name: str) -> list[str]:
    masked = f"{name[:-1]}a" if len(name) > 1 and name.endswith("-") else name
    return names.dns_subdomain(masked)


def check_field_reference(
    reference: Document, allowed: Sequence[str], path: str, errors: FieldErrors
) -> None:
    """Check a reference to a field of the pod."""
    field = reference.get("fieldPath", "")
    if not reference.get("apiVersion"):
        errors.required(f"{path}.apiVersion")
        return
    if not field:
        errors.required(f"{path}.fieldPath")
        return
    if reference["apiVersion"] != "v1":
        said = f"unsupported pod version: {reference['apiVersion']}"
        errors.invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {said}")
        return
    subscripted = _SUBSCRIPTED.fullmatch(field)
    plain = field if subscripted is None else subscripted.group(1)
    if subscripted is not None and plain not in {"metadata.annotations", "metadata.labels"}:
        said = f"field label does not support subscript: {field}"
        errors.invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {said}")
    elif plain not in _KNOWN_FIELDS:
        said = f"field label not supported: {field}"
        errors.invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {said}")
    elif subscripted is not None:
        key = subscripted.group(2)
        checked = key.lower() if plain == "metadata.annotations" else key
        errors.each_invalid(path, checked, names.qualified_name(checked))
    elif plain not in allowed and plain != "spec.host":
        errors.not_supported(f"{path}.fieldPath", plain, allowed, plain=True)


def check_resource_reference(
    reference: Document, path: str, errors: FieldErrors, *, in_volume: bool
) -> None:
    """Check a reference to what a container asks for or may use."""
    resource = reference.get("resource", "")
    if in_volume and not reference.get("containerName"):
        errors.required(f"{path}.containerName")
    elif not resource:
        errors.required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        errors.not_supported(f"{path}.resource", resource, _RESOURCES, plain=True)
    _check_divisor(resource, reference.get("divisor", "0"), f"{path}.divisor", errors)


def _check_divisor(resource: str, divisor: str, path: str, errors: FieldErrors) -> None:
    if Quantity.parse(divisor).nanos == 0:
        return
    kind = resource.partition(".")[2]
    if kind == "cpu":
        if divisor not in _CPU_DIVISORS:
            said = "only divisor's values 1m and 1 are supported with the cpu resource"
            errors.invalid(path, resource, said)
        return
    called = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}.get(
        kind, "hugepages" if kind.startswith("hugepages-") else ""
    )
    if called and divisor not in _SIZES:
        said = f"only divisor's values {', '.join(_SIZES)} are supported with the {called} resource"
        errors.invalid(path, resource, said)
