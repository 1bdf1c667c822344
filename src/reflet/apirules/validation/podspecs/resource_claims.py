"""The rules of devices that pods claim, and of which container gets which.

Upstream: pkg/apis/core/validation/validation.go, validatePodResourceClaims and
validateResourceClaimNames
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors

Document = Mapping[str, Any]


def check_pod_claims(claims: Sequence[Document], path: str, errors: FieldErrors) -> None:
    """Check which claims a pod has, each by name or by template."""
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        here, name = f"{path}[{index}]", claim.get("name", "")
        if not name:
            errors.required(f"{here}.name")
        elif name in seen:
            errors.duplicate(f"{here}.name", name)
        else:
            errors.each_invalid(f"{here}.name", name, names.dns_label(name))
            seen.add(name)
        sources = ("resourceClaimName", "resourceClaimTemplateName")
        used = [source for source in sources if claim.get(source) is not None]
        if len(used) != 1:
            # Shown under the names of the real server's internal type.
            shown = {"Name": name, "ResourceClaimName": claim.get(sources[0])}
            shown |= {"ResourceClaimTemplateName": claim.get(sources[1])}
            said = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                if used
                else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
            errors.invalid(here, shown, said)
        for source in used:
            wrong = names.dns_subdomain(claim[source])
            errors.each_invalid(f"{here}.{source}", claim[source], wrong)


def check_used_claims(
    claims: Sequence[Document], known: frozenset[str], path: str, errors: FieldErrors
) -> None:
    """Check which of the claims of its pod a container uses, whole or one request of them."""
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        here, name, request = f"{path}[{index}]", claim.get("name", ""), claim.get("request", "")
        if not name:
            errors.required(here)
            continue
        if name in seen:
            errors.duplicate(here, name)
        else:
            _check_request(name, request, seen, here, errors)
        if name not in known:
            which = f": {', '.join(sorted(known))}" if known else " which is empty"
            said = f"must be one of the names in pod.spec.resourceClaims{which}"
            errors.not_found(here, name, said)


def _check_request(name: str, request: str, seen: set[str], path: str, errors: FieldErrors) -> None:
    key = name
    if request:
        errors.each_invalid(f"{path}.request", request, names.dns_label(request))
        key = f"{name}/{request}"
    if key in seen:
        errors.duplicate(path, key)
    elif not request:
        for other in seen:
            if other.startswith(f"{name}/"):
                errors.duplicate(path, name)
    seen.add(key)
