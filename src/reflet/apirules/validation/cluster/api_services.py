"""The rules of API services: the name says which version of which group, local or elsewhere.

Upstream: kube-aggregator/pkg/apis/apiregistration/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import check_metadata
from reflet.gotext.quoting import quoted

Document = Mapping[str, Any]

_STATUSES: Final = ("True", "False", "Unknown")
_PRIORITIES: Final = (("groupPriorityMinimum", 20_000), ("versionPriority", 1_000))


def check_api_service(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check an API service."""
    spec = document.get("spec") or {}
    group, version = spec.get("group", ""), spec.get("version", "")
    wanted = f"{version}.{group}"

    def wrong_with_name(name: str) -> list[str]:
        said = f'must be `spec.version+"."+spec.group`: {quoted(wanted)}'
        return names.path_segment(name) or ([] if name == wanted else [said])

    check_metadata(kind, document["metadata"], errors, rule=wrong_with_name)
    if not group and version != "v1":
        said = "only v1 may have an empty group and it better be legacy kube"
        errors.required("spec.group", said)
    if group:
        errors.each_invalid("spec.group", group, names.dns_subdomain(group))
    errors.each_invalid("spec.version", version, names.dns_1035_label(version))
    for name, most in _PRIORITIES:
        priority = spec.get(name, 0)
        if not 0 < priority <= most:
            errors.invalid(f"spec.{name}", priority, f"must be positive and less than {most}")
    _check_server(spec, errors)


def _check_server(spec: Document, errors: FieldErrors) -> None:
    service, bundle = spec.get("service"), spec.get("caBundle") or ""
    insecure = spec.get("insecureSkipTLSVerify", False)
    if service is None:
        if bundle:
            size = len(bundle) * 3 // 4 - bundle.count("=")
            said = "local APIServices may not have a caBundle"
            errors.invalid("spec.caBundle", f"{size} bytes", said)
        if insecure:
            said = "local APIServices may not have insecureSkipTLSVerify"
            errors.invalid("spec.insecureSkipTLSVerify", insecure, said)
        return
    for name in ("namespace", "name"):
        if not service.get(name):
            errors.required(f"spec.service.{name}")
    port = service.get("port", 0)
    wrong = names.port_number(port)
    if wrong:
        errors.invalid("spec.service.port", port, f"port is not valid: {', '.join(wrong)}")
    if insecure and bundle:
        said = "may not be true if caBundle is present"
        errors.invalid("spec.insecureSkipTLSVerify", insecure, said)


def check_api_service_status(new: Document, _: Document, errors: FieldErrors) -> None:
    """Check what is reported about an API service."""
    for index, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        status = condition.get("status", "")
        if status not in _STATUSES:
            errors.not_supported(f"status.conditions[{index}].status", status, _STATUSES)
