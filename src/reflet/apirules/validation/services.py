"""The rules of services and of endpoints.

Upstream: pkg/apis/core/validation/validation.go, ValidateService and ValidateEndpoints
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from reflet.apirules.service_allocation import HEADLESS
from reflet.apirules.validation import names
from reflet.apirules.validation.containers import PROTOCOLS, check_port
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import IMMUTABLE, check_labels
from reflet.apirules.validation.networking.addresses import (
    check_endpoint_address,
    check_network,
    check_strict_address,
)
from reflet.apirules.validation.networking.service_families import (
    check_addresses_kept,
    check_cluster_addresses,
)
from reflet.apirules.validation.pods import check_address, is_address

Document = Mapping[str, Any]

SERVICE_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
TRAFFIC_POLICIES: Final = ("Cluster", "Local")
DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
LONGEST_AFFINITY: Final = 86400  # seconds
_NOT_EXTERNAL_NAME: Final = "may not be set for ExternalName services"


def check_service(document: Document, errors: FieldErrors) -> None:
    """Check a new service, apart from its metadata."""
    _check_service(document, {}, errors)


def _check_service(document: Document, before: Document, errors: FieldErrors) -> None:
    spec = document["spec"]
    kind, ports = spec.get("type", ""), spec.get("ports") or ()
    headless = (spec.get("clusterIPs") or [""])[0] == HEADLESS
    if not ports and not headless and kind != "ExternalName":
        errors.required("spec.ports")
    if kind in {"LoadBalancer", "NodePort"} and headless:
        said = f"may not be set to 'None' for {kind} services"
        errors.invalid("spec.clusterIPs[0]", HEADLESS, said)
    elif kind == "ExternalName":
        _check_external_name(spec, errors)
    _check_ports(ports, errors)
    check_labels(spec.get("selector"), "spec.selector", errors)
    _check_affinity(spec, errors)
    if kind != "ExternalName":
        check_cluster_addresses(spec, errors, known=before.get("clusterIPs") or ())
    _check_external_addresses(spec, before, errors)
    if kind not in SERVICE_TYPES:
        errors.not_supported("spec.type", kind, SERVICE_TYPES)
    _check_node_ports(kind, ports, errors)
    ranges = before.get("loadBalancerSourceRanges") or ()
    _check_balancing(document, [network.strip() for network in ranges], errors)
    _check_policies(spec, kind, errors)


def _check_external_addresses(spec: Document, before: Document, errors: FieldErrors) -> None:
    for index, address in enumerate(spec.get("externalIPs") or ()):
        here, count = f"spec.externalIPs[{index}]", len(errors)
        check_strict_address(address, here, errors, known=before.get("externalIPs") or ())
        if len(errors) == count:
            check_endpoint_address(address, here, errors)


def _check_external_name(spec: Document, errors: FieldErrors) -> None:
    for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name):
            errors.forbidden(f"spec.{name}", _NOT_EXTERNAL_NAME)
    target = spec.get("externalName", "").removesuffix(".")
    if not target:
        errors.required("spec.externalName")
    else:
        errors.each_invalid("spec.externalName", target, names.dns_subdomain(target))


def _check_ports(ports: Sequence[Document], errors: FieldErrors) -> None:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        here = f"spec.ports[{index}]"
        name = port.get("name", "")
        if not name and len(ports) > 1:
            errors.required(f"{here}.name")
        elif name:
            errors.each_invalid(f"{here}.name", name, names.dns_label(name))
            if name in seen:
                errors.duplicate(f"{here}.name", name)
            seen.add(name)
        number = port.get("port", 0)
        errors.each_invalid(f"{here}.port", number, names.port_number(number))
        if port.get("protocol", "") not in PROTOCOLS:
            errors.not_supported(f"{here}.protocol", port.get("protocol", ""), PROTOCOLS)
        check_port(port.get("targetPort", 0), f"{here}.targetPort", errors)
        application = port.get("appProtocol")
        if application is not None:
            wrong = names.qualified_name(application)
            errors.each_invalid(f"{here}.appProtocol", application, wrong)


def _check_affinity(spec: Document, errors: FieldErrors) -> None:
    affinity = spec.get("sessionAffinity", "")
    if affinity not in {"ClientIP", "None"}:
        errors.not_supported("spec.sessionAffinity", affinity, ("ClientIP", "None"))
    elif affinity == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        seconds = client.get("timeoutSeconds", 0)
        if not 0 < seconds <= LONGEST_AFFINITY:
            path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            said = f"must be greater than 0 and less than {LONGEST_AFFINITY}"
            errors.invalid(path, seconds, said)
    elif spec.get("sessionAffinityConfig") is not None:
        said = "must not be set when session affinity is None"
        errors.forbidden("spec.sessionAffinityConfig", said)


def _check_node_ports(kind: str, ports: Sequence[Document], errors: FieldErrors) -> None:
    taken: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        if not port.get("nodePort"):
            continue
        here = f"spec.ports[{index}].nodePort"
        if kind == "ClusterIP":
            errors.forbidden(here, "may not be used when `type` is 'ClusterIP'")
        used = (port.get("protocol", ""), port["nodePort"])
        if used in taken:
            errors.duplicate(here, port["nodePort"])
        taken.add(used)
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        used = (port.get("protocol", ""), port.get("port", 0))
        if used in seen:
            # Shown under the names of the real server's internal type.
            shown = {"Name": "", "Protocol": used[0], "AppProtocol": None, "Port": used[1]}
            errors.duplicate(f"spec.ports[{index}]", shown | {"TargetPort": 0, "NodePort": 0})
        seen.add(used)


def _check_balancing(document: Document, known: Collection[str], errors: FieldErrors) -> None:
    spec = document["spec"]
    balanced = spec.get("type") == "LoadBalancer"
    only = "may only be used when `type` is 'LoadBalancer'"
    ranges, here = spec.get("loadBalancerSourceRanges") or (), "spec.LoadBalancerSourceRanges"
    if ranges and not balanced:
        errors.forbidden(here, only)
    for index, network in enumerate(ranges):
        check_network(network.strip(), f"{here}[{index}]", errors, known=known)
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        errors.forbidden("spec.allocateLoadBalancerNodePorts", only)
    _check_class(spec, errors)


def _check_class(spec: Document, errors: FieldErrors) -> None:
    name, here = spec.get("loadBalancerClass"), "spec.loadBalancerClass"
    if name is None:
        return
    if spec.get("type") == "LoadBalancer":
        errors.each_invalid(here, name, names.qualified_name(name))
    else:
        errors.forbidden(here, "may only be used when `type` is 'LoadBalancer'")


def _check_policies(spec: Document, kind: str, errors: FieldErrors) -> None:
    external, internal = spec.get("externalTrafficPolicy"), spec.get("internalTrafficPolicy")
    exposed = kind in {"LoadBalancer", "NodePort"} or bool(spec.get("externalIPs"))
    if external and not exposed:
        said = "may only be set for externally-accessible services"
        errors.invalid("spec.externalTrafficPolicy", Named(external), said)
    elif exposed and not external:
        errors.required("spec.externalTrafficPolicy")
    elif exposed and external not in TRAFFIC_POLICIES:
        errors.not_supported("spec.externalTrafficPolicy", external or "", TRAFFIC_POLICIES)
    port, here = spec.get("healthCheckNodePort", 0), "spec.healthCheckNodePort"
    if not _needs_health_check(spec):
        if port:
            said = (
                "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
                "'Local'"
            )
            errors.invalid(here, port, said)
    elif not port:
        errors.required(here)
    else:
        errors.each_invalid(here, port, names.port_number(port))
    if internal is None:
        if kind in {"ClusterIP", "LoadBalancer", "NodePort"}:
            errors.required("spec.internalTrafficPolicy")
    elif internal not in TRAFFIC_POLICIES:
        errors.not_supported("spec.internalTrafficPolicy", internal, TRAFFIC_POLICIES)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in DISTRIBUTIONS:
        here = "spec.trafficDistribution"
        errors.not_supported(here, distribution, DISTRIBUTIONS, plain=True)


def _needs_health_check(spec: Document) -> bool:
    local = spec.get("externalTrafficPolicy") == "Local"
    return local and spec.get("type") == "LoadBalancer"


def check_service_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed service, which keeps its address and who balances it."""
    spec, before = new["spec"], old["spec"]
    if "ExternalName" not in {spec.get("type"), before.get("type")}:
        check_addresses_kept(spec, before, errors)
    name, earlier = spec.get("loadBalancerClass"), before.get("loadBalancerClass")
    both = spec.get("type") == before.get("type") == "LoadBalancer"
    if both and name != earlier:
        errors.invalid("spec.loadBalancerClass", name, "may not change once set")
    _check_class(spec, errors)
    ports = (each.get("healthCheckNodePort", 0) for each in (spec, before))
    if _needs_health_check(spec) and _needs_health_check(before) and len(set(ports)) == 2:
        errors.forbidden("spec.healthCheckNodePort", IMMUTABLE)
    _check_service(new, before, errors)


def check_endpoints(document: Document, errors: FieldErrors) -> None:
    """Check endpoints, apart from their metadata."""
    for index, subset in enumerate(document.get("subsets") or ()):
        here = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            errors.required(here, "must specify `addresses` or `notReadyAddresses`")
        for kind in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(kind) or ()):
                path = f"{here}.{kind}[{number}].ip"
                ip = address.get("ip", "")
                check_address(ip, path, errors)
                if not is_address(ip):
                    errors.invalid(path, ip, "must be a valid IP address")
        ports = subset.get("ports") or ()
        for number, port in enumerate(ports):
            path = f"{here}.ports[{number}]"
            name = port.get("name", "")
            if not name and len(ports) > 1:
                errors.required(f"{path}.name")
            elif name:
                errors.each_invalid(f"{path}.name", name, names.dns_label(name))
            errors.each_invalid(
                f"{path}.port", port.get("port", 0), names.port_number(port.get("port", 0))
            )
            if port.get("protocol", "") not in PROTOCOLS:
                errors.not_supported(f"{path}.protocol", port.get("protocol", ""), PROTOCOLS)
