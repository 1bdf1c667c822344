"""The rules of what pods are called, and of how they find others: DNS settings, aliases, names.

Upstream: pkg/apis/core/validation/validation.go, validatePodDNSConfig, validatePodHostName and
ValidateHostAliases
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.addresses import check_strict_address

Document = Mapping[str, Any]

MOST_SERVERS: Final = 3
MOST_SEARCHES: Final = 32
LONGEST_SEARCHES: Final = 2048  # characters, with the spaces between them
LONGEST_HOSTNAME: Final = 64


def check_dns_settings(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check the name servers and search paths of a pod."""
    settings, here = spec.get("dnsConfig"), f"{path}.dnsConfig"
    servers = (settings or {}).get("nameservers") or []
    if spec.get("dnsPolicy") == "None":
        if settings is None:
            errors.required(here, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not servers:
            said = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            errors.required(f"{here}.nameservers", said)
            return
    if settings is None:
        return
    if len(servers) > MOST_SERVERS:
        said = f"must not have more than {MOST_SERVERS} nameservers"
        errors.invalid(f"{here}.nameservers", servers, said)
    for index, server in enumerate(servers):
        check_strict_address(server, f"{here}.nameservers[{index}]", errors)
    _check_searches(settings.get("searches") or [], f"{here}.searches", errors)
    for index, option in enumerate(settings.get("options") or ()):
        if not option.get("name"):
            errors.required(f"{here}.options[{index}]", "must not be empty")


def _check_searches(searches: list[str], path: str, errors: FieldErrors) -> None:
    if len(searches) > MOST_SEARCHES:
        errors.invalid(path, searches, f"must not have more than {MOST_SEARCHES} search paths")
    if len(" ".join(searches).encode()) > LONGEST_SEARCHES:
        said = (
            f"must not have more than {LONGEST_SEARCHES} characters (including spaces) in the "
            "search list"
        )
        errors.invalid(path, searches, said)
    for index, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            errors.each_invalid(f"{path}[{index}]", name, names.underscored_subdomain(name))


def check_host_name(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check a name that takes the place of the pod's own."""
    name, here = spec.get("hostnameOverride"), f"{path}.hostnameOverride"
    if name is None:
        return
    for other in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(other):
            errors.forbidden(here, f"may not be specified when {other} is true")
    if len(name.encode()) > LONGEST_HOSTNAME:
        errors.too_long(here, LONGEST_HOSTNAME)
    errors.each_invalid(here, name, names.dns_subdomain(name))


def check_host_aliases(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check names that a pod knows without asking."""
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        here = f"{path}.hostAliases[{index}]"
        check_strict_address(alias.get("ip", ""), f"{here}.ip", errors)
        for number, host in enumerate(alias.get("hostnames") or ()):
            errors.each_invalid(f"{here}.hostnames[{number}]", host, names.dns_subdomain(host))
