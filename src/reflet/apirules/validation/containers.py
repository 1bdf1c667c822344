"""The rules of containers: images, ports, probes, resources, mounts, security.

Upstream: pkg/apis/core/validation/validation.go, validateContainers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.validation import names
from reflet.apirules.validation.environment import (
    check_environment,
    check_environment_sources,
)
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import NOT_NEGATIVE
from reflet.apirules.validation.resource_names import (
    check_container_resource,
    is_extended,
    is_huge_page,
    may_be_overcommitted,
)
from reflet.apirules.validation.volumes import check_downwards

Document = Mapping[str, Any]

PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
HIGHEST_ID: Final = 2**31 - 1  # of users and groups
NO_SPACE_AROUND: Final = "must not have leading or trailing whitespace"

_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_PROBE_NUMBERS: Final = (
    *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold"),
    "failureThreshold",
)


def check_container(
    container: Document, volumes: frozenset[str], path: str, errors: FieldErrors
) -> None:
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
    _check_mounts(container.get("volumeMounts") or (), volumes, f"{path}.volumeMounts", errors)
    pull = container.get("imagePullPolicy", "")
    if pull not in PULL_POLICIES:
        errors.not_supported(f"{path}.imagePullPolicy", pull, PULL_POLICIES)
    check_resources(container.get("resources") or {}, f"{path}.resources", errors)
    _check_security(container.get("securityContext"), f"{path}.securityContext", errors)


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


def _check_mounts(
    mounts: Sequence[Document], volumes: frozenset[str], path: str, errors: FieldErrors
) -> None:
    targets: set[str] = set()
    for index, mount in enumerate(mounts):
        here = f"{path}[{index}]"
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            errors.required(f"{here}.name")
        if name not in volumes:
            errors.not_found(f"{here}.name", name)
        if not target:
            errors.required(f"{here}.mountPath")
        if target in targets:
            errors.invalid(f"{here}.mountPath", target, "must be unique")
        targets.add(target)
        below, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
        if below:
            check_downwards(below, f"{path}.subPath", errors)
        if expression:
            if below:
                said = "subPathExpr and subPath are mutually exclusive"
                errors.invalid(f"{here}.subPathExpr", expression, said)
            check_downwards(expression, f"{path}.subPathExpr", errors)


def check_probes(container: Document, path: str, errors: FieldErrors) -> None:
    """Check lifecycle and probes of a container that keeps running."""
    lifecycle = container.get("lifecycle") or {}
    for name in ("postStart", "preStop"):
        if lifecycle.get(name) is not None:
            _check_handler(lifecycle[name], f"{path}.lifecycle.{name}", errors)
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(name) is not None:
            _check_probe(name, container[name], f"{path}.{name}", errors)


def _check_probe(name: str, probe: Document, path: str, errors: FieldErrors) -> None:
    _check_handler(probe, path, errors)
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


def _check_handler(handler: Document, path: str, errors: FieldErrors) -> None:
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


def check_resources(resources: Document, path: str, errors: FieldErrors) -> None:
    """Check what a container asks for and may use."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in limits.items():
        _check_amount(name, amount, f"{path}.limits[{name}]", errors)
    for name, amount in requests.items():
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
    check_container_resource(name, path, errors)
    quantity = Quantity.parse(amount)
    if quantity.nanos < 0:
        errors.invalid(path, amount, NOT_NEGATIVE)
    if is_extended(name) and quantity.nanos % 10**9:
        errors.invalid(path, amount, "must be an integer")


def _check_security(security: Document | None, path: str, errors: FieldErrors) -> None:
    if security is None:
        return
    for name in ("runAsUser", "runAsGroup"):
        check_id(security.get(name), f"{path}.{name}", errors)
    mount = security.get("procMount")
    if mount is not None and mount not in {"Default", "Unmasked"}:
        errors.not_supported(f"{path}.procMount", mount, ("Default", "Unmasked"))
    if security.get("allowPrivilegeEscalation") is False:
        if security.get("privileged"):
            said = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            errors.invalid(path, _internal_security(security), said)
        if "CAP_SYS_ADMIN" in (security.get("capabilities") or {}).get("add", ()):
            said = (
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                "CAP_SYS_ADMIN"
            )
            errors.invalid(path, _internal_security(security), said)


def _internal_security(security: Document) -> dict[str, Any]:
    """Show the value as the real server does: under the names of its internal type."""
    shown = (
        *("capabilities", "privileged", "sELinuxOptions", "windowsOptions", "runAsUser"),
        *("runAsGroup", "runAsNonRoot", "readOnlyRootFilesystem", "allowPrivilegeEscalation"),
        *("procMount", "seccompProfile", "appArmorProfile"),
    )
    return {name[0].upper() + name[1:]: security.get(name) for name in shown}


def check_id(number: int | None, path: str, errors: FieldErrors) -> None:
    """Check the number of a user or a group."""
    if number is not None and not 0 <= number <= HIGHEST_ID:
        errors.invalid(path, number, names.out_of_range(0, HIGHEST_ID))
