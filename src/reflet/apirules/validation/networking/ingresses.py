"""The rules of ingresses: hosts, paths and backends, certificates, and where they can be reached.

Upstream: pkg/apis/networking/validation/validation.go, ValidateIngressCreate and
ValidateIngressUpdate
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.addresses import check_strict_address, lenient_address

Document = Mapping[str, Any]

CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_NOT_IN_PATHS: Final = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_ENDS: Final = ("/..", "/.")
_NO_ADDRESS: Final = "must be a DNS name, not an IP address"


def check_ingress(document: Document, errors: FieldErrors) -> None:
    """Check a new ingress, apart from its metadata."""
    spec = document.get("spec") or {}
    _check_spec(spec, errors)
    annotation = (document["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    chosen = spec.get("ingressClassName")
    if annotation is not None and chosen is not None and annotation != chosen:
        said = "must match `ingressClassName` when both are specified"
        errors.invalid(f"annotations.{CLASS_ANNOTATION}", annotation, said)


def check_ingress_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed ingress, which may stay as wrong as it was."""
    before = old.get("spec") or {}
    wildcards = [rule for rule in before.get("rules") or () if "*" in rule.get("host", "")]
    found = FieldErrors()
    for rule in wildcards:
        _check_paths(rule.get("http"), "", found)
    _check_spec(
        new.get("spec") or {},
        errors,
        any_secret=any(_wrong_secret(each) for each in before.get("tls") or ()),
        any_wildcard=bool(found) or any(map(_has_new_service_name, wildcards)),
    )


def _has_new_service_name(rule: Document) -> bool:
    """Whether a service is named as was wrong once: the real server still thinks so of old ones."""
    services = [
        (each.get("backend") or {}).get("service") or {}
        for each in (rule.get("http") or {}).get("paths") or ()
    ]
    return any(names.dns_1035_label(each.get("name") or "a") for each in services)


def check_ingress_status(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check where an ingress says it can be reached."""
    known = [point.get("ip", "") for point in _points(old)]
    for index, point in enumerate(_points(new)):
        here = f"status.loadBalancer.ingress[{index}]"
        address, host = point.get("ip", ""), point.get("hostname", "")
        if address:
            check_strict_address(address, f"{here}.ip", errors, known=known)
        if host:
            errors.each_invalid(f"{here}.hostname", host, names.dns_subdomain(host))
            if lenient_address(host) is not None:
                errors.invalid(f"{here}.hostname", host, _NO_ADDRESS)


def _points(document: Document) -> Any:
    return ((document.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()


def _check_spec(
    spec: Document, errors: FieldErrors, *, any_secret: bool = False, any_wildcard: bool = False
) -> None:
    rules, backend = spec.get("rules"), spec.get("defaultBackend")
    if not rules and backend is None:
        said = "either `defaultBackend` or `rules` must be specified"
        errors.invalid("spec", rules, said)
    if backend is not None:
        _check_backend(backend, "spec.defaultBackend", errors)
    for index, rule in enumerate(rules or ()):
        here, host = f"spec.rules[{index}]", rule.get("host", "")
        if host:
            if lenient_address(host) is not None:
                errors.invalid(f"{here}.host", host, _NO_ADDRESS)
            errors.each_invalid(f"{here}.host", host, _wrong_host(host))
        if "*" not in host or not any_wildcard:
            _check_paths(rule.get("http"), f"{here}.http", errors)
    for index, each in enumerate(spec.get("tls") or ()):
        here = f"spec.tls[{index}]"
        for number, host in enumerate(each.get("hosts") or ()):
            errors.each_invalid(f"{here}.hosts[{number}]", host, _wrong_host(host))
        if not any_secret:
            name = each.get("secretName", "")
            errors.each_invalid(f"{here}.secretName", name, _wrong_secret(each))
    chosen = spec.get("ingressClassName")
    if chosen is not None:
        errors.each_invalid("spec.ingressClassName", chosen, names.dns_subdomain(chosen))


def _wrong_host(host: str) -> list[str]:
    return names.wildcard_subdomain(host) if "*" in host else names.dns_subdomain(host)


def _wrong_secret(tls: Document) -> list[str]:
    name = tls.get("secretName", "")
    return names.dns_subdomain(name) if name else []


def _check_paths(http: Document | None, path: str, errors: FieldErrors) -> None:
    if http is None:
        return
    if not http.get("paths"):
        errors.required(f"{path}.paths")
    for index, each in enumerate(http.get("paths") or ()):
        _check_path(each, f"{path}.paths[{index}]", errors)


def _check_path(each: Document, path: str, errors: FieldErrors) -> None:
    kind, text = each.get("pathType"), each.get("path", "")
    if kind is None:
        errors.required(f"{path}.pathType", "pathType must be specified")
        return
    here = f"{path}.path"
    if kind not in PATH_TYPES:
        errors.not_supported(f"{path}.pathType", kind, PATH_TYPES)
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        errors.invalid(here, text, "must be an absolute path")
    if kind in {"Exact", "Prefix"}:
        wrong = [f"must not contain '{part}'" for part in _NOT_IN_PATHS if part in text]
        wrong += [f"cannot end with '{end}'" for end in _NOT_AT_ENDS if text.endswith(end)]
        errors.each_invalid(here, text, wrong)
    _check_backend(each.get("backend") or {}, f"{path}.backend", errors)


def _check_backend(backend: Document, path: str, errors: FieldErrors) -> None:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        errors.invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        _check_resource(resource, f"{path}.resource", errors)
    elif service is not None:
        _check_service(service, path, errors)
    else:
        errors.invalid(path, "", "resource or service backend is required")


def _check_resource(resource: Document, path: str, errors: FieldErrors) -> None:
    group = resource.get("apiGroup")
    if group is not None:
        errors.each_invalid(f"{path}.apiGroup", group, names.dns_subdomain(group))
    for field in ("kind", "name"):
        value = resource.get(field, "")
        if not value:
            errors.required(f"{path}.{field}")
        else:
            errors.each_invalid(f"{path}.{field}", value, names.path_segment(value))


def _check_service(service: Document, path: str, errors: FieldErrors) -> None:
    name = service.get("name", "")
    if not name:
        errors.required(f"{path}.service.name")
    else:
        errors.each_invalid(f"{path}.service.name", name, names.dns_label(name))
    port = service.get("port") or {}
    port_name, number = port.get("name", ""), port.get("number", 0)
    if port_name and number:
        errors.invalid(path, "", "cannot set both port name & port number")
    elif port_name:
        wrong = names.port_name(port_name)
        errors.each_invalid(f"{path}.service.port.name", port_name, wrong)
    elif number:
        errors.each_invalid(f"{path}.service.port.number", number, names.port_number(number))
    else:
        errors.required(path, "port name or number is required")
