"""The rules of flow schemas: whose requests, which requests, and in which order they are tried.

Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateFlowSchema;
apiserver/pkg/apis/flowcontrol/bootstrap/default.go, MandatoryFlowSchemas
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.schema.schemas import ANYTHING
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import check_metadata
from reflet.apirules.validation.storage.internal_types import internal_view, is_same

Document = Mapping[str, Any]

CATCH_ALL: Final = "catch-all"
EXEMPT: Final = "exempt"
_HIGHEST_PRECEDENCE: Final = 10_000
_DISTINGUISHERS: Final = ("ByNamespace", "ByUser")
_SUBJECTS: Final[Mapping[str, str]] = {
    "ServiceAccount": "serviceAccount",
    "User": "user",
    "Group": "group",
}
_VERBS: Final = (
    *("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"),
)
_EVERYTHING: Final[Mapping[str, Any]] = {
    "resourceRules": [
        {
            "verbs": ["*"],
            "apiGroups": ["*"],
            "resources": ["*"],
            "clusterScope": True,
            "namespaces": ["*"],
        }
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}


def _of_groups(*groups: str) -> list[dict[str, Any]]:
    subjects = [{"kind": "Group", "group": {"name": name}} for name in groups]
    return [{"subjects": subjects, **_EVERYTHING}]


_MANDATORY: Final[Mapping[str, Document]] = {
    EXEMPT: {
        "priorityLevelConfiguration": {"name": EXEMPT},
        "matchingPrecedence": 1,
        "rules": _of_groups("system:masters"),
    },
    CATCH_ALL: {
        "priorityLevelConfiguration": {"name": CATCH_ALL},
        "matchingPrecedence": _HIGHEST_PRECEDENCE,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": _of_groups("system:unauthenticated", "system:authenticated"),
    },
}


def check_flow_schema(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check a flow schema; two of them are as the server wants them or not at all."""
    check_metadata(kind, document["metadata"], errors)
    name, spec = document["metadata"].get("name", ""), document.get("spec") or {}
    _check_spec(name, spec, errors)
    if name in _MANDATORY:
        schema = kind.schema.field("spec") or ANYTHING
        have, want = (internal_view(schema, each) for each in (spec, _MANDATORY[name]))
        if not is_same(have, want):
            errors.invalid("spec", have, f"spec of '{name}' must equal the fixed value")
    check_flow_status(document, document, errors)


def check_flow_status(new: Document, _: Document, errors: FieldErrors) -> None:
    """Check the conditions of a flow schema or a priority level."""
    seen: set[str] = set()
    for index, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        here, kind = f"status.conditions[{index}].type", condition.get("type", "")
        if kind in seen:
            errors.duplicate(here, Named(kind))
        seen.add(kind)
        if not kind:
            errors.required(here)


def _check_spec(name: str, spec: Document, errors: FieldErrors) -> None:
    path, precedence = "spec.matchingPrecedence", spec.get("matchingPrecedence", 0)
    if precedence <= 0:
        errors.invalid(path, precedence, "must be a positive value")
    if precedence > _HIGHEST_PRECEDENCE:
        errors.invalid(path, precedence, f"must not be greater than {_HIGHEST_PRECEDENCE}")
    if precedence == 1 and name != EXEMPT:
        said = "only the schema named 'exempt' may have matchingPrecedence 1"
        errors.invalid(path, precedence, said)
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _DISTINGUISHERS:
        shown = {"Type": method.get("type", "")}
        errors.not_supported("spec.distinguisherMethod.type", shown, _DISTINGUISHERS)
    level = (spec.get("priorityLevelConfiguration") or {}).get("name", "")
    path = "spec.priorityLevelConfiguration.name"
    if level:
        errors.each_invalid(path, level, names.dns_subdomain(level))
    else:
        errors.required(path, "must reference a priority level")
    for index, rule in enumerate(spec.get("rules") or ()):
        _check_rule(rule, f"spec.rules[{index}]", errors)


def _check_rule(rule: Document, path: str, errors: FieldErrors) -> None:
    for index, subject in enumerate(rule.get("subjects") or ()):
        _check_subject(subject, f"{path}.subjects[{index}]", errors)
    if not rule.get("subjects"):
        errors.required(f"{path}.subjects", "subjects must contain at least one value")
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        said = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.required(path, said)
    for index, resources in enumerate(rule.get("resourceRules") or ()):
        _check_resources(resources, f"{path}.resourceRules[{index}]", errors)
    for index, urls in enumerate(rule.get("nonResourceRules") or ()):
        here = f"{path}.nonResourceRules[{index}]"
        _check_verbs(urls.get("verbs") or [], f"{here}.verbs", errors)
        _check_urls(urls.get("nonResourceURLs") or [], f"{here}.nonResourceURLs", errors)


def _check_subject(subject: Document, path: str, errors: FieldErrors) -> None:
    kind = subject.get("kind", "")
    if kind not in _SUBJECTS:
        errors.not_supported(f"{path}.kind", kind, sorted(_SUBJECTS))
        return
    wanted = _SUBJECTS[kind]
    here, found = f"{path}.{wanted}", subject.get(wanted)
    if found is None:
        errors.required(here, f"{wanted} is required when subject kind is '{kind}'")
    elif not found.get("name"):
        errors.required(f"{here}.name")
    elif kind == "ServiceAccount" and found["name"] != "*":
        errors.each_invalid(f"{here}.name", found["name"], names.dns_subdomain(found["name"]))
    if found is not None and kind == "ServiceAccount":
        namespace = found.get("namespace", "")
        if namespace:
            errors.each_invalid(f"{here}.namespace", namespace, names.dns_label(namespace))
        else:
            said = "must specify namespace for service account"
            errors.required(f"{here}.namespace", said)
    for other, field in _SUBJECTS.items():
        if other != kind and subject.get(field) is not None:
            said = f"{field} is forbidden when subject kind is not '{other}'"
            errors.forbidden(f"{path}.{field}", said)


def _check_verbs(verbs: Sequence[str], path: str, errors: FieldErrors) -> None:
    if not verbs:
        errors.required(path, "verbs must contain at least one value")
    elif "*" in verbs:
        if len(verbs) > 1:
            errors.invalid(path, verbs, "if '*' is present, must not specify other verbs")
    elif not set(verbs) <= set(_VERBS):
        errors.not_supported(path, verbs, _VERBS)


def _check_resources(rule: Document, path: str, errors: FieldErrors) -> None:
    _check_verbs(rule.get("verbs") or [], f"{path}.verbs", errors)
    for name, one, others in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        values = rule.get(name) or []
        if not values:
            errors.required(f"{path}.{name}", f"resource rules must supply at least one {one}")
        elif len(values) > 1 and "*" in values:
            said = f"if '*' is present, must not specify other {others}"
            errors.invalid(f"{path}.{name}", values, said)
    namespaces, here = rule.get("namespaces") or [], f"{path}.namespaces"
    if not namespaces and not rule.get("clusterScope"):
        said = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.required(here, said)
    elif "*" in namespaces:
        if len(namespaces) > 1:
            said = "if '*' is present, must not specify other namespaces"
            errors.invalid(here, namespaces, said)
    else:
        for index, name in enumerate(namespaces):
            intro = "each member of this list must be '*' or a DNS-1123 label; "
            wrong = [intro + each for each in names.dns_label(name)]
            errors.each_invalid(f"{here}[{index}]", name, wrong)


def _check_urls(urls: Sequence[str], path: str, errors: FieldErrors) -> None:
    if not urls:
        errors.required(path, "nonResourceURLs must contain at least one value")
    elif "*" in urls:
        if len(urls) > 1:
            said = "if '*' is present, must not specify other non-resource URLs"
            errors.invalid(path, urls, said)
    else:
        for index, url in enumerate(urls):
            wrong = _wrong_with_url(url)
            if wrong:
                errors.invalid(f"{path}[{index}]", url, wrong)


def _wrong_with_url(url: str) -> str:
    if not url:
        return "must not be empty"
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if url.count("*") > 1 or ("*" in url and not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""
