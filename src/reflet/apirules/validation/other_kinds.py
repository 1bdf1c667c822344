"""The rules of kinds that need few: ConfigMaps, Secrets, nodes, events, leases, roles.

Upstream: pkg/apis/core/validation/validation.go, core/validation/events.go,
coordination/validation/validation.go, rbac/validation/validation.go
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE
from reflet.apirules.validation.networking.addresses import check_network, lenient_network
from reflet.apirules.validation.pods import TAINT_EFFECTS
from reflet.apirules.validation.resource_names import check_amount

Document = Mapping[str, Any]

MOST_DATA: Final = 1024 * 1024  # bytes in one ConfigMap or Secret
FROZEN: Final = "field is immutable when `immutable` is set"
ACCOUNT_NAME: Final = "kubernetes.io/service-account.name"
RBAC: Final = "rbac.authorization.k8s.io"
_REDACTED: Final = "<secret contents redacted>"


def check_config_map(document: Document, errors: FieldErrors) -> None:
    """Check keys and size of a ConfigMap."""
    data, binary = document.get("data") or {}, document.get("binaryData") or {}
    size = 0
    for key, value in data.items():
        errors.each_invalid(f"data[{key}]", key, names.config_key(key))
        if key in binary:
            errors.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
        size += len(value.encode())
    for key, value in binary.items():
        errors.each_invalid(f"binaryData[{key}]", key, names.config_key(key))
        size += decoded_length(value)
    if size > MOST_DATA:
        errors.too_long("[]", MOST_DATA)


def decoded_length(text: str) -> int:
    """Count the bytes that a canonical base64 text stands for."""
    return len(text) // 4 * 3 - text[-2:].count("=")


def check_config_map_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that an immutable ConfigMap stays as it is."""
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        errors.forbidden("immutable", FROZEN)
    for name in ("data", "binaryData"):
        if (new.get(name) or {}) != (old.get(name) or {}):
            errors.forbidden(name, FROZEN)


def check_secret(document: Document, errors: FieldErrors) -> None:
    """Check keys and size of a Secret, and what its type requires."""
    data = document.get("data") or {}
    size = 0
    for key, value in data.items():
        errors.each_invalid(f"data[{key}]", key, names.config_key(key))
        size += decoded_length(value)
    if size > MOST_DATA:
        errors.too_long("data", MOST_DATA)
    rule = _SECRET_TYPES.get(document.get("type", ""))
    if rule is not None:
        rule(document, data, errors)


def _needs_account(document: Document, _: Document, errors: FieldErrors) -> None:
    annotations = document["metadata"].get("annotations") or {}
    if not annotations.get(ACCOUNT_NAME):
        errors.required(f"metadata.annotations[{ACCOUNT_NAME}]")


def _needs_json(key: str) -> Callable[[Document, Document, FieldErrors], None]:
    def check(_: Document, data: Document, errors: FieldErrors) -> None:
        if key not in data:
            errors.required(f"data[{key}]")
            return
        try:
            content = json.loads(base64.b64decode(data[key]))
        except ValueError:
            errors.invalid(f"data[{key}]", _REDACTED, "unexpected end of JSON input")
            return
        if not isinstance(content, dict):
            errors.invalid(f"data[{key}]", _REDACTED, "json: cannot unmarshal into Go value")

    return check


def _needs_user(_: Document, data: Document, errors: FieldErrors) -> None:
    if "username" not in data and "password" not in data:
        errors.required("data[username]")
        errors.required("data[password]")


def _needs_private_key(_: Document, data: Document, errors: FieldErrors) -> None:
    if not data.get("ssh-privatekey"):
        errors.required("data[ssh-privatekey]")


def _needs_certificate(_: Document, data: Document, errors: FieldErrors) -> None:
    for key in ("tls.crt", "tls.key"):
        if key not in data:
            errors.required(f"data[{key}]")


_SECRET_TYPES: Final[Mapping[str, Callable[[Document, Document, FieldErrors], None]]] = {
    "kubernetes.io/service-account-token": _needs_account,
    "kubernetes.io/dockercfg": _needs_json(".dockercfg"),
    "kubernetes.io/dockerconfigjson": _needs_json(".dockerconfigjson"),
    "kubernetes.io/basic-auth": _needs_user,
    "kubernetes.io/ssh-auth": _needs_private_key,
    "kubernetes.io/tls": _needs_certificate,
}


def check_secret_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that the type stays, and all of an immutable Secret."""
    if new.get("type") != old.get("type"):
        errors.invalid("type", new.get("type", ""), IMMUTABLE)
    if old.get("immutable"):
        if not new.get("immutable"):
            errors.forbidden("immutable", FROZEN)
        if (new.get("data") or {}) != (old.get("data") or {}):
            errors.forbidden("data", FROZEN)


def check_node(document: Document, errors: FieldErrors) -> None:
    """Check a node's taints, what it has, and the addresses of its pods."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate((document.get("spec") or {}).get("taints") or ()):
        here = f"metadata.taints[{index}]"  # so the real server calls the place
        key, value, effect = (taint.get(name, "") for name in ("key", "value", "effect"))
        errors.each_invalid(f"{here}.key", key, names.qualified_name(key))
        wrong = names.label_value(value)
        if wrong:
            errors.invalid(f"{here}.value", value, ";".join(wrong))
        if not effect:
            errors.required(f"{here}.effect")
        elif effect not in TAINT_EFFECTS:
            errors.not_supported(f"{here}.effect", effect, TAINT_EFFECTS)
        if (key, effect) in seen:
            errors.duplicate(here, {"key": key, "value": value, "effect": effect})
        seen.add((key, effect))
    _check_node_resources(document, errors)
    networks = (document.get("spec") or {}).get("podCIDRs") or []
    for index, network in enumerate(networks):
        check_network(network, f"spec.podCIDRs[{index}]", errors)
    families = [network.version for network in map(lenient_network, networks) if network]
    if len(networks) > 1 and sorted(families) != [4, 6]:
        said = "may specify no more than one CIDR for each IP family"
        errors.invalid("spec.podCIDRs", networks, said)


def _check_node_resources(document: Document, errors: FieldErrors) -> None:
    status = document.get("status") or {}
    for field in ("capacity", "allocatable"):
        for name, amount in sorted((status.get(field) or {}).items()):
            check_amount(name, amount, f"status.{field}.{name}", errors)


def check_event(document: Document, errors: FieldErrors) -> None:
    """Check an event of the core group."""
    _check_event(document, "involvedObject", "reportingComponent", errors)


def check_new_event(document: Document, errors: FieldErrors) -> None:
    """Check an event of ``events.k8s.io``, which must say more."""
    _check_event(document, "regarding", "reportingController", errors)
    if not document.get("eventTime"):
        errors.required("eventTime")
    kind = document.get("type", "")
    if kind not in {"Normal", "Warning"}:
        errors.invalid("type", "", f"has invalid value: {kind}")
    old_names = {
        "deprecatedFirstTimestamp": "firstTimestamp",
        "deprecatedLastTimestamp": "lastTimestamp",
        "deprecatedCount": "count",
        "deprecatedSource": "source",
    }
    for name, old_name in old_names.items():
        if document.get(name):
            errors.invalid(old_name, "", "needs to be unset")


_REFERENCE: Final = (
    *("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"),
)
# In the order in which they are looked at, with the old names that complaints use; one is
# looked at twice.
_FIXED_IN_EVENTS: Final = (
    *(("regarding", "involvedObject"), ("reason", "reason"), ("note", "message")),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    *(("deprecatedCount", "count"), ("reason", "reason"), ("type", "type")),
    *(("eventTime", "eventTime"), ("action", "action"), ("related", "related")),
    ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
)


def check_new_event_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that an event of ``events.k8s.io`` keeps everything but its series."""
    for name, path in _FIXED_IN_EVENTS:
        value = new.get(name)
        if (value or None) != (old.get(name) or None):
            errors.invalid(path, _internal_event_part(name, value), IMMUTABLE)


def _internal_event_part(name: str, value: Any) -> Any:
    """Show a part of an event as the real server does: under the names of its internal type."""
    if name in {"regarding", "related"}:
        reference = value or {}
        capitals = {"uid": "UID", "apiVersion": "APIVersion"}
        return {
            capitals.get(part, part[:1].upper() + part[1:]): reference.get(part, "")
            for part in _REFERENCE
        }
    if name == "deprecatedSource":
        source = value or {}
        return {"Component": source.get("component", ""), "Host": source.get("host", "")}
    return value


def check_node_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check what a node has, and that it keeps the addresses of its pods, once it has some."""
    _check_node_resources(new, errors)
    before = (old.get("spec") or {}).get("podCIDRs")
    if before and (new.get("spec") or {}).get("podCIDRs") != before:
        said = 'node updates may not change podCIDR except from "" to valid'
        errors.forbidden("spec.podCIDRs", said)


def _check_event(document: Document, about: str, reporter: str, errors: FieldErrors) -> None:
    namespace = document["metadata"].get("namespace", "")
    subject = (document.get(about) or {}).get("namespace", "")
    path, said = "involvedObject.namespace", "does not match event.namespace"
    if not document.get("eventTime"):
        if (not subject and namespace != "default") or (subject and subject != namespace):
            errors.invalid(path, subject, said)
        return
    if not subject and namespace not in {"default", "kube-system"}:
        errors.invalid(path, subject, said)
    controller = document.get(reporter, "")
    if not controller:
        errors.required(reporter)
    errors.each_invalid(reporter, controller, names.qualified_name(controller))
    for name, longest in (("reportingInstance", 128), ("action", 128), ("reason", 128)):
        if not document.get(name):
            errors.required(name)
        elif len(document[name]) > longest:
            errors.invalid(name, "", f"can have at most {longest} characters")


def check_lease(document: Document, errors: FieldErrors) -> None:
    """Check a lease's numbers."""
    spec = document.get("spec") or {}
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        errors.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        said = "must be greater than or equal to 0"
        errors.invalid("spec.leaseTransitions", transitions, said)


def check_role(document: Document, errors: FieldErrors) -> None:
    """Check the rules of a role in a namespace."""
    _check_rules(document.get("rules") or (), errors, namespaced=True)


def check_cluster_role(document: Document, errors: FieldErrors) -> None:
    """Check the rules of a role for everywhere."""
    _check_rules(document.get("rules") or (), errors, namespaced=False)


def _check_rules(rules: Sequence[Document], errors: FieldErrors, *, namespaced: bool) -> None:
    for index, rule in enumerate(rules):
        here = f"rules[{index}]"
        if not rule.get("verbs"):
            errors.required(f"{here}.verbs", "verbs must contain at least one value")
        paths = rule.get("nonResourceURLs")
        if paths:
            if namespaced:
                said = "namespaced rules cannot apply to non-resource URLs"
                errors.invalid(f"{here}.nonResourceURLs", paths, said)
            if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
                said = "rules cannot apply to both regular resources and non-resource URLs"
                errors.invalid(f"{here}.nonResourceURLs", paths, said)
            continue
        if not rule.get("apiGroups"):
            said = "resource rules must supply at least one api group"
            errors.required(f"{here}.apiGroups", said)
        if not rule.get("resources"):
            said = "resource rules must supply at least one resource"
            errors.required(f"{here}.resources", said)


def check_role_binding(document: Document, errors: FieldErrors) -> None:
    """Check a binding in a namespace."""
    _check_binding(document, errors, namespaced=True)


def check_cluster_role_binding(document: Document, errors: FieldErrors) -> None:
    """Check a binding for everywhere."""
    _check_binding(document, errors, namespaced=False)


def _check_binding(document: Document, errors: FieldErrors, *, namespaced: bool) -> None:
    role = document.get("roleRef") or {}
    if role.get("apiGroup") != RBAC:
        errors.not_supported("roleRef.apiGroup", role.get("apiGroup", ""), (RBAC,), plain=True)
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if role.get("kind") not in kinds:
        errors.not_supported("roleRef.kind", role.get("kind", ""), kinds, plain=True)
    if not role.get("name"):
        errors.required("roleRef.name")
    else:
        errors.each_invalid("roleRef.name", role["name"], names.path_segment(role["name"]))
    for index, subject in enumerate(document.get("subjects") or ()):
        _check_subject(subject, f"subjects[{index}]", errors, namespaced=namespaced)


def _check_subject(subject: Document, path: str, errors: FieldErrors, *, namespaced: bool) -> None:
    name, kind, group = (subject.get(field, "") for field in ("name", "kind", "apiGroup"))
    if not name:
        errors.required(f"{path}.name")
    if kind == "ServiceAccount":
        if name:
            errors.each_invalid(f"{path}.name", name, names.dns_subdomain(name))
        if group:
            errors.not_supported(f"{path}.apiGroup", group, ("",), plain=True)
        if not namespaced and not subject.get("namespace"):
            errors.required(f"{path}.namespace")
    elif kind in {"User", "Group"}:
        if group != RBAC:
            errors.not_supported(f"{path}.apiGroup", group, (RBAC,), plain=True)
    else:
        kinds = ("ServiceAccount", "User", "Group")
        errors.not_supported(f"{path}.kind", kind, kinds, plain=True)


def check_binding_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a binding keeps its role."""
    if new.get("roleRef") != old.get("roleRef"):
        role = new.get("roleRef") or {}
        internal = {
            "APIGroup": role.get("apiGroup", ""),
            "Kind": role.get("kind", ""),
            "Name": role.get("name", ""),
        }
        errors.invalid("roleRef", internal, "cannot change roleRef")
