"""The rules of services and of endpoints.

Upstream: pkg/apis/core/validation/validation.go, ValidateService and ValidateEndpoints
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.service_allocation import HEADLESS
from reflet.apirules.validation import names
from reflet.apirules.validation.containers import PROTOCOLS, check_port
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import check_labels
from reflet.apirules.validation.pods import check_address, is_address

Document = Mapping[str, Any]

SERVICE_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
TRAFFIC_POLICIES: Final = ("Cluster", "Local")
IP_FAMILIES: Final = ("IPv4", "IPv6")
FAMILY_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
LONGEST_AFFINITY: Final = 86400  # seconds
_NOT_EXTERNAL_NAME: Final = "may not be set for ExternalName services"


def check_service(document: Document, errors: FieldErrors) -> None:
    """Check a service, apart from its metadata."""
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
        _check_cluster_addresses(spec, errors)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        check_address(address, f"spec.externalIPs[{index}]", errors)
    if kind not in SERVICE_TYPES:
        errors.not_supported("spec.type", kind, SERVICE_TYPES)
    _check_node_ports(kind, ports, errors)
    _check_policies(spec, kind, errors)


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


def _check_cluster_addresses(spec: Document, errors: FieldErrors) -> None:
    addresses = spec.get("clusterIPs") or ()
    if addresses and spec.get("clusterIP") != addresses[0]:
        said = "first value must match `clusterIP`"
        errors.invalid("spec.clusterIPs", list(addresses), said)
    _check_families(spec, errors)
    before = len(errors)
    for index, address in enumerate(addresses):
        if address != HEADLESS or index:
            check_address(address, f"spec.clusterIPs[{index}]", errors)
    if len(errors) == before and len({":" in address for address in addresses}) < len(addresses):
        said = "may specify no more than one IP for each IP family"
        errors.invalid("spec.clusterIPs", list(addresses), said)
    if len(errors) == before and addresses[:1] != [HEADLESS]:
        pairs = zip(addresses, spec.get("ipFamilies") or (), strict=False)
        for index, (address, family) in enumerate(pairs):
            if family in IP_FAMILIES and (family == "IPv6") != (":" in address):
                said = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
                errors.invalid(f"spec.clusterIPs[{index}]", address, said)


def _check_families(spec: Document, errors: FieldErrors) -> None:
    families, policy = spec.get("ipFamilies") or [], spec.get("ipFamilyPolicy")
    for index, family in enumerate(families):
        here = f"spec.ipFamilies[{index}]"
        if family not in IP_FAMILIES:
            errors.not_supported(here, family, IP_FAMILIES)
        if family in families[:index]:
            errors.duplicate(here, Named(family))
    if policy is not None and policy not in FAMILY_POLICIES:
        errors.not_supported("spec.ipFamilyPolicy", policy, FAMILY_POLICIES)
    headless = (spec.get("clusterIPs") or [""])[0] == HEADLESS
    if policy == "RequireDualStack" and not (headless and not spec.get("selector")):
        said = "this cluster is not configured for dual-stack services"
        errors.invalid("spec.ipFamilyPolicy", Named(policy), said)


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


def _check_policies(spec: Document, kind: str, errors: FieldErrors) -> None:
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        said = "may only be used when `type` is 'LoadBalancer'"
        errors.forbidden("spec.allocateLoadBalancerNodePorts", said)
    external, internal = spec.get("externalTrafficPolicy"), spec.get("internalTrafficPolicy")
    exposed = kind in {"LoadBalancer", "NodePort"} or bool(spec.get("externalIPs"))
    if external and not exposed:
        said = "may only be set for externally-accessible services"
        errors.invalid("spec.externalTrafficPolicy", Named(external), said)
    elif exposed and external not in TRAFFIC_POLICIES:
        errors.not_supported("spec.externalTrafficPolicy", external or "", TRAFFIC_POLICIES)
    if internal is not None and internal not in TRAFFIC_POLICIES:
        errors.not_supported("spec.internalTrafficPolicy", internal, TRAFFIC_POLICIES)


def check_service_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that an update keeps the address, its family, and the class of a load balancer."""
    spec, before = new["spec"], old["spec"]
    kind, balancer = spec.get("type"), spec.get("loadBalancerClass")
    if kind == before.get("type") == "LoadBalancer" and balancer != before.get("loadBalancerClass"):
        errors.invalid("spec.loadBalancerClass", balancer, "may not change once set")
    if "ExternalName" in {spec.get("type"), before.get("type")}:
        return
    addresses, earlier = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    families, policy = spec.get("ipFamilies") or (), spec.get("ipFamilyPolicy")
    is_released = len(families) == 1 < len(before.get("ipFamilies") or ())
    if is_released and policy != "SingleStack":
        said = "must be 'SingleStack' to release the secondary IP family"
        errors.invalid("spec.ipFamilyPolicy", Named(policy), said)
    if not addresses or spec.get("clusterIP") != addresses[0]:
        return
    if earlier and addresses[0] != earlier[0]:
        errors.invalid("spec.clusterIPs[0]", list(addresses), "may not change once set")


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
