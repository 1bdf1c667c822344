"""The rules of containers: images, ports, probes, resources, mounts, security.

Upstream: pkg/apis/core/validation/validation.go, validateContainers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.validation import names
from reflet.apirules.validation.environment import (
    check_environment,
    check_environment_sources,
)
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import NOT_NEGATIVE
from reflet.apirules.validation.podspecs.mount_rules import check_devices, check_mounts
from reflet.apirules.validation.podspecs.resource_claims import check_used_claims
from reflet.apirules.validation.podspecs.restarting import check_resize_policies
from reflet.apirules.validation.podspecs.security import check_container_security
from reflet.apirules.validation.resource_names import (
    check_container_resource,
    is_extended,
    is_huge_page,
    may_be_overcommitted,
)
from reflet.errors import ParseError

Document = Mapping[str, Any]

PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
NO_SPACE_AROUND: Final = "must not have leading or trailing whitespace"

_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_PROBE_NUMBERS: Final = (
    *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold"),
    "failureThreshold",
)


@dataclass(frozen=True, slots=True)
class PodAround:
    """What of its pod a container depends on."""

    volumes: Mapping[str, Document] = field(default_factory=dict)
    """Those that are good, by name."""

    claims: frozenset[str] = frozenset()
    restart_policy: str = "Always"
    host_users: bool = True
    grace_period: int = 30  # seconds


def check_container(container: Document, pod: PodAround, path: str, errors: FieldErrors) -> None:
    """Check what is the same for all kinds of containers."""
    name = container.get("name", "")
    if not name:
        errors.required(f"{path}.name")
    else:
        errors.each_invalid(f"{path}.name", name, names.dns_label(name))
    if not container.get("image"):
        errors.required(f"{path}.image")
    policy = container.get("terminationMessagePolicy", "")
    if policy not in MESSAGE_POLICIES:
        errors.not_supported(f"{path}.terminationMessagePolicy", policy, MESSAGE_POLICIES)
    _check_ports(container.get("ports") or (), f"{path}.ports", errors)
    check_environment(container.get("env") or (), f"{path}.env", errors)
    check_environment_sources(container.get("envFrom") or (), f"{path}.envFrom", errors)
    check_mounts(container, pod.volumes, path, errors)
    check_devices(container, pod.volumes, path, errors)
    pull = container.get("imagePullPolicy", "")
    if pull not in PULL_POLICIES:
        errors.not_supported(f"{path}.imagePullPolicy", pull, PULL_POLICIES)
    resources, here = container.get("resources") or {}, f"{path}.resources"
    check_resources(resources, here, errors)
    check_used_claims(resources.get("claims") or (), pod.claims, f"{here}.claims", errors)
    check_resize_policies(container, pod.restart_policy, path, errors)
    security = container.get("securityContext")
    check_container_security(security, f"{path}.securityContext", errors, host_users=pod.host_users)


def _check_ports(ports: Sequence[Document], path: str, errors: FieldErrors) -> None:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        here = f"{path}[{index}]"
        name = port.get("name", "")
        if name:
            wrong = names.port_name(name)
            errors.each_invalid(f"{here}.name", name, wrong)
            if not wrong and name in seen:
                errors.duplicate(f"{here}.name", name)
            elif not wrong:
                seen.add(name)
        number = port.get("containerPort", 0)
        if not number:
            errors.required(f"{here}.containerPort")
        else:
            errors.each_invalid(f"{here}.containerPort", number, names.port_number(number))
        host = port.get("hostPort", 0)
        if host:
            errors.each_invalid(f"{here}.hostPort", host, names.port_number(host))
        if port.get("protocol", "") not in PROTOCOLS:
            errors.not_supported(f"{here}.protocol", port.get("protocol", ""), PROTOCOLS)


def check_probes(container: Document, pod: PodAround, path: str, errors: FieldErrors) -> None:
    """Check lifecycle and probes of a container that keeps running."""
    lifecycle = container.get("lifecycle") or {}
    for name in ("postStart", "preStop"):
        if lifecycle.get(name) is not None:
            _check_handler(lifecycle[name], pod, f"{path}.lifecycle.{name}", errors)
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(name) is not None:
            _check_probe(name, container[name], pod, f"{path}.{name}", errors)


def _check_probe(
    name: str, probe: Document, pod: PodAround, path: str, errors: FieldErrors
) -> None:
    _check_handler(probe, pod, path, errors)
    for number in _PROBE_NUMBERS:
        if probe.get(number, 0) < 0:
            errors.invalid(f"{path}.{number}", probe[number], NOT_NEGATIVE)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        errors.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if name == "readinessProbe" and grace is not None:
        said = "must not be set for readinessProbes"
        errors.invalid(f"{path}.terminationGracePeriodSeconds", grace, said)
    threshold = probe.get("successThreshold", 0)
    if name != "readinessProbe" and threshold != 1:
        errors.invalid(f"{path}.successThreshold", threshold, "must be 1")


def _check_handler(handler: Document, pod: PodAround, path: str, errors: FieldErrors) -> None:
    used = [name for name in _HANDLERS if handler.get(name) is not None]
    for index, name in enumerate(used):
        here = f"{path}.{name}"
        if index:
            errors.forbidden(here, "may not specify more than 1 handler type")
        elif name == "exec":
            if not handler[name].get("command"):
                errors.required(f"{here}.command")
        elif name == "httpGet":
            _check_http_get(handler[name], here, errors)
        elif name in {"tcpSocket", "grpc"}:
            check_port(handler[name].get("port", 0), f"{here}.port", errors)
        elif not 0 <= handler[name].get("seconds", 0) <= pod.grace_period:
            said = "must be non-negative and less than terminationGracePeriodSeconds"
            seconds = handler[name].get("seconds", 0)
            errors.invalid(here, seconds, f"{said} ({pod.grace_period})")
    if not used:
        errors.required(path, "must specify a handler type")


def _check_http_get(action: Document, path: str, errors: FieldErrors) -> None:
    if not action.get("path"):
        errors.required(f"{path}.path")
    check_port(action.get("port", 0), f"{path}.port", errors)
    scheme = action.get("scheme", "")
    if scheme not in {"HTTP", "HTTPS"}:
        errors.not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS"))
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        errors.each_invalid(f"{path}.httpHeaders", name, names.http_header(name))


def check_port(port: int | str, path: str, errors: FieldErrors) -> None:
    """Check a port that is a number or a name."""
    wrong = names.port_name(port) if isinstance(port, str) else names.port_number(port)
    errors.each_invalid(path, port, wrong)


def check_resources(
    resources: Document,
    path: str,
    errors: FieldErrors,
    *,
    check_name: Callable[[str, str, FieldErrors], None] = check_container_resource,
) -> None:
    """Check what a container, or a whole pod, asks for and may use."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in limits.items():
        check_name(name, f"{path}.limits[{name}]", errors)
        _check_amount(name, amount, f"{path}.limits[{name}]", errors)
    for name, amount in requests.items():
        check_name(name, f"{path}.requests[{name}]", errors)
        _check_amount(name, amount, f"{path}.requests[{name}]", errors)
        limit = limits.get(name)
        if limit is None:
            if not may_be_overcommitted(name):
                said = "Limit must be set for non overcommitable resources"
                errors.required(f"{path}.limits", said)
            continue
        asked, allowed = Quantity.parse(amount), Quantity.parse(limit)
        if asked != allowed and not may_be_overcommitted(name):
            said = f"must be equal to {name} limit of {limit}"
            errors.invalid(f"{path}.requests", amount, said)
        elif asked > allowed:
            said = f"must be less than or equal to {name} limit of {limit}"
            errors.invalid(f"{path}.requests", amount, said)
    everything = {*limits, *requests}
    if any(map(is_huge_page, everything)) and not everything & {"cpu", "memory"}:
        errors.forbidden(path, "HugePages require cpu or memory")


def _check_amount(name: str, amount: str, path: str, errors: FieldErrors) -> None:
    quantity = Quantity.parse(amount)
    if quantity.nanos < 0:
        errors.invalid(path, amount, NOT_NEGATIVE)
    if is_extended(name) and quantity.nanos % 10**9:
        errors.invalid(path, amount, "must be an integer")
    if is_huge_page(name) and not _is_of_pages(name, quantity):
        said = f"{quantity} is not positive integer multiple of {name}"
        errors.invalid(path, str(quantity), said)


def _is_of_pages(name: str, quantity: Quantity) -> bool:
    try:
        page = Quantity.parse(name.removeprefix("hugepages-"))
    except ParseError:
        return False
    return page.nanos > 0 and page.nanos % 10**9 == 0 and quantity.nanos % page.nanos == 0
