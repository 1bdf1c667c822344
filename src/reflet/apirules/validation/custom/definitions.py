"""The rules of CustomResourceDefinitions: names, versions, scope, and structural schemas.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.api_approval import ANNOTATION, approval_of
from reflet.apirules.regular_expressions import MalformedExpression, compiled
from reflet.apirules.validation import names
from reflet.apirules.validation.cluster.webhook_configurations import (
    check_client,
    check_review_versions,
)
from reflet.apirules.validation.custom.custom_objects import has_rules
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE

Document = Mapping[str, Any]

_MIXED_CASE: Final = "may have mixed case, but should otherwise match: "


def check_definition(document: Document, errors: FieldErrors) -> None:
    """Check a definition, apart from the metadata that all objects have."""
    spec = document["spec"]
    _check_name(document, errors)
    _check_group(spec.get("group", ""), errors)
    scope = spec.get("scope", "")
    if not scope:
        errors.required("spec.scope")
    elif scope not in {"Cluster", "Namespaced"}:
        errors.not_supported("spec.scope", scope, ("Cluster", "Namespaced"), plain=True)
    versions = spec.get("versions") or []
    for index, version in enumerate(versions):
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            errors.required(f"spec.versions[{index}].schema.openAPIV3Schema")
    shared = len(versions) == 1  # the real server keeps the schema of a single version elsewhere
    _check_versions(versions, errors, shared=shared, given=spec.get("versions") is not None)
    _check_names(spec.get("names") or {}, errors)
    if shared:
        _check_schema(versions[0], "spec.validation", errors)
    _check_conversion(spec.get("conversion") or {}, "spec.conversion", errors)
    stored = (document.get("status") or {}).get("storedVersions")
    if not stored:
        errors.invalid("status.storedVersions", None, "must have at least one stored version")
    known = {version.get("name", "") for version in versions}
    for index, name in enumerate(stored or ()):
        if name not in known:
            said = (
                f"missing from spec.versions; {name} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {name} and removes {name} from status.storedVersions"
            )
            errors.invalid(f"status.storedVersions[{index}]", name, said)
    _check_approval(document, errors)


def _check_approval(document: Document, errors: FieldErrors) -> None:
    approval = approval_of(document)
    here = f"metadata.annotations[{ANNOTATION}]"
    if approval is not None and approval.reason == "MissingAnnotation":
        errors.required(here, approval.message)
    elif approval is not None and approval.reason == "UnknownAnnotation":
        errors.invalid(here, document["metadata"]["annotations"][ANNOTATION], approval.message)


def _check_name(document: Document, errors: FieldErrors) -> None:
    spec = document["spec"]
    required = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    name = document["metadata"].get("name", "")
    if name and name != required:
        errors.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def _check_group(group: str, errors: FieldErrors) -> None:
    if not group:
        errors.required("spec.group")
        return
    wrong = names.dns_subdomain(group)
    if wrong:
        errors.invalid("spec.group", group, ",".join(wrong))
    elif "." not in group:
        errors.invalid("spec.group", group, "should be a domain with at least one dot")


def _check_versions(
    versions: Sequence[Document], errors: FieldErrors, *, shared: bool, given: bool
) -> None:
    for index, version in enumerate(versions):
        here = f"spec.versions[{index}]"
        name = version.get("name", "")
        wrong = names.dns_1035_label(name)
        if wrong:
            errors.invalid(f"{here}.name", name, ",".join(wrong))
        if not shared:
            _check_schema(version, f"{here}.schema", errors)
    called = [version.get("name", "") for version in versions]
    if len(set(called)) != len(called):
        shown = _internal(versions, shared=shared)
        errors.invalid("spec.versions", shown, "must contain unique version names")
    if sum(1 for version in versions if version.get("storage")) != 1:
        said = "must have exactly one version marked as storage version"
        errors.invalid("spec.versions", _internal(versions, shared=shared) if given else None, said)
    if called and names.dns_1035_label(called[0]):
        errors.invalid("spec.version", called[0], ",".join(names.dns_1035_label(called[0])))


def _internal(versions: Sequence[Document], *, shared: bool) -> list[dict[str, Any]]:
    """Show versions as the real server does: under the names of its internal type."""
    return [
        {
            "Name": version.get("name", ""),
            "Served": version.get("served", False),
            "Storage": version.get("storage", False),
            "Deprecated": version.get("deprecated", False),
            "DeprecationWarning": version.get("deprecationWarning"),
            "Schema": None if shared else version.get("schema"),
            "Subresources": None if shared else version.get("subresources"),
            "AdditionalPrinterColumns": None if shared else version.get("additionalPrinterColumns"),
            "SelectableFields": version.get("selectableFields"),
        }
        for version in versions
    ]


def _check_names(called: Document, errors: FieldErrors) -> None:
    for name in ("plural", "singular", "kind", "listKind"):
        if not called.get(name):
            errors.required(f"spec.names.{name}")
    for name in ("plural", "singular"):
        text = called.get(name, "")
        wrong = names.dns_1035_label(text) if text else []
        if wrong:
            errors.invalid(f"spec.names.{name}", text, ",".join(wrong))
    for name in ("kind", "listKind"):
        text = called.get(name, "")
        wrong = names.dns_1035_label(text.lower()) if text else []
        if wrong:
            errors.invalid(f"spec.names.{name}", text, _MIXED_CASE + ",".join(wrong))
    for name in ("shortNames", "categories"):
        for index, text in enumerate(called.get(name) or ()):
            wrong = names.dns_1035_label(text)
            if wrong:
                errors.invalid(f"spec.names.{name}[{index}]", text, ",".join(wrong))
        if name == "shortNames" and called.get("kind") == called.get("listKind", ""):
            said = "kind and listKind may not be the same"
            if called.get("kind"):
                errors.invalid("spec.names.listKind", called["listKind"], said)


def _check_conversion(conversion: Document, path: str, errors: FieldErrors) -> None:
    """Check how versions become each other; complaints name fields of an older version."""
    strategy, webhook = conversion.get("strategy", ""), conversion.get("webhook") or {}
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if not strategy:
        errors.required(f"{path}.strategy")
    elif strategy not in _CONVERSIONS:
        errors.not_supported(f"{path}.strategy", strategy, _CONVERSIONS, plain=True)
    if strategy != "Webhook":
        said = "should not be set when strategy is not set to Webhook"
        if client is not None:
            errors.forbidden(f"{path}.webhookClientConfig", said)
        if versions:
            errors.forbidden(f"{path}.conversionReviewVersions", said)
        return
    if client is None:
        said = "required when strategy is set to Webhook"
        errors.required(f"{path}.webhookClientConfig", said)
    else:
        check_client(client, f"{path}.webhookClientConfig", errors)
    if versions:
        check_review_versions(versions, f"{path}.conversionReviewVersions", errors)
    else:
        errors.required(f"{path}.conversionReviewVersions")


_CONVERSIONS: Final = ("None", "Webhook")


def _check_schema(version: Document, path: str, errors: FieldErrors) -> None:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if not schema:
        return
    before = len(errors)
    _check_structure(schema, f"{path}.openAPIV3Schema", errors, "at the root")
    if len(errors) == before and has_rules(schema):
        # Slow to import, and most definitions need none of it.
        from reflet.apirules.validation.custom import (  # noqa: PLC0415 - see above
            definition_rules,
        )

        definition_rules.check_schema_rules(schema, f"{path}.openAPIV3Schema", errors)


def _check_structure(schema: Document, path: str, errors: FieldErrors, place: str) -> None:
    items, extra = schema.get("items"), schema.get("additionalProperties")
    if isinstance(items, Mapping):
        _check_structure(items, f"{path}.items", errors, "for specified array items")
    if isinstance(extra, Mapping):
        here = f"{path}.additionalProperties"
        _check_structure(extra, here, errors, "for specified object fields")
    for name, inner in sorted((schema.get("properties") or {}).items()):
        here = f"{path}.properties[{name}]"
        _check_structure(inner, here, errors, "for specified object fields")
    free = schema.get("x-kubernetes-int-or-string") or schema.get(
        "x-kubernetes-preserve-unknown-fields"
    )
    if not schema.get("type") and (not free or place == "at the root"):
        errors.required(f"{path}.type", f"must not be empty {place}")
    elif place == "at the root" and schema.get("type") != "object":
        errors.invalid(f"{path}.type", schema["type"], "must be object at the root")
    _check_values(schema, path, errors)


def _check_values(schema: Document, path: str, errors: FieldErrors) -> None:
    """Check what is said of values, also where several schemas are combined."""
    for kind in ("anyOf", "allOf", "oneOf"):
        for index, inner in enumerate(schema.get(kind) or ()):
            _check_combined(inner, f"{path}.{kind}[{index}]", errors)
    if schema.get("not"):
        _check_combined(schema["not"], f"{path}.not", errors)
    if schema.get("pattern"):
        try:
            compiled(schema["pattern"])
        except MalformedExpression as error:
            said = f"must be a valid regular expression, but isn't: {error}"
            errors.invalid(f"{path}.pattern", schema["pattern"], said)


def _check_combined(schema: Document, path: str, errors: FieldErrors) -> None:
    _check_values(schema, path, errors)
    if schema.get("x-kubernetes-validations"):
        said = "must be empty to be structural"
        errors.forbidden(f"{path}.x-kubernetes-validations", said)


def check_definition_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that an established definition keeps its names and scope."""
    conditions = (old.get("status") or {}).get("conditions") or ()
    established = any(
        condition.get("type") == "Established" and condition.get("status") == "True"
        for condition in conditions
    )
    spec, before = new["spec"], old["spec"]
    if established:
        if spec.get("scope") != before.get("scope"):
            errors.invalid("spec.scope", spec.get("scope", ""), IMMUTABLE)
        if spec["names"].get("kind") != before["names"].get("kind"):
            errors.invalid("spec.names.kind", spec["names"].get("kind", ""), IMMUTABLE)
    if spec.get("group") != before.get("group"):
        errors.invalid("spec.group", spec.get("group", ""), IMMUTABLE)
    if spec["names"].get("plural") != before["names"].get("plural"):
        errors.invalid("spec.names.plural", spec["names"].get("plural", ""), IMMUTABLE)
