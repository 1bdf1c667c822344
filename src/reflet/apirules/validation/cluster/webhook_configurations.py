"""The rules of configurations of validating and mutating webhooks.

A change is checked as a new one: what the server would let stay for the sake of old objects
cannot have been stored here.  CA bundles are not looked into, as on the real server.

Upstream: pkg/apis/admissionregistration/validation/validation.go,
ValidateValidatingWebhookConfiguration and ValidateMutatingWebhookConfiguration;
apiserver/pkg/util/webhook/validation.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.cluster.matching_rules import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    REINVOCATION_POLICIES,
    check_choice,
    check_match_conditions,
    check_rules,
)
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import check_metadata, check_selector
from reflet.gotext.urls import MalformedUrl, parse_url

Document = Mapping[str, Any]

REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_LONGEST_TIMEOUT: Final = 30
_FORM: Final = "; desired format: https://host[/path]"


def check_webhook_configuration(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check a configuration of webhooks of either sort."""
    check_metadata(kind, document["metadata"], errors)
    seen: set[str] = set()
    for index, hook in enumerate(document.get("webhooks") or ()):
        here, name = f"webhooks[{index}]", hook.get("name", "")
        _check_webhook(hook, here, errors)
        versions = hook.get("admissionReviewVersions") or []
        if not versions:
            said = f"must specify one of {', '.join(REVIEW_VERSIONS)}"
            errors.required(f"{here}.admissionReviewVersions", said)
        else:
            check_review_versions(versions, f"{here}.admissionReviewVersions", errors)
        if name in seen:
            errors.duplicate(f"{here}.name", name)
        seen |= {name} - {""}


def _check_webhook(hook: Document, path: str, errors: FieldErrors) -> None:
    _check_name(hook.get("name", ""), f"{path}.name", errors)
    check_rules(hook.get("rules"), f"{path}.rules", errors)
    check_choice(hook, "failurePolicy", FAILURE_POLICIES, path, errors)
    check_choice(hook, "matchPolicy", MATCH_POLICIES, path, errors)
    if hook.get("sideEffects") is None:
        said = f"must specify one of {', '.join(_SIDE_EFFECTS)}"
        errors.required(f"{path}.sideEffects", said)
    check_choice(hook, "sideEffects", _SIDE_EFFECTS, path, errors)
    timeout = hook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= _LONGEST_TIMEOUT:
        said = "the timeout value must be between 1 and 30 seconds"
        errors.invalid(f"{path}.timeoutSeconds", timeout, said)
    for name in ("namespaceSelector", "objectSelector"):
        check_selector(hook.get(name), f"{path}.{name}", errors)
    check_choice(hook, "reinvocationPolicy", REINVOCATION_POLICIES, path, errors)
    check_client(hook.get("clientConfig") or {}, f"{path}.clientConfig", errors)
    check_match_conditions(hook.get("matchConditions"), f"{path}.matchConditions", errors)


def _check_name(name: str, path: str, errors: FieldErrors) -> None:
    wrong = names.dns_subdomain(name)
    if not name:
        errors.required(path)
    elif wrong:
        errors.invalid(path, name, ",".join(wrong))
    elif name.count(".") < 2:
        said = "should be a domain with at least three segments separated by dots"
        errors.invalid(path, name, said)


def check_review_versions(versions: Sequence[str], path: str, errors: FieldErrors) -> None:
    """Check in which versions a webhook can be asked."""
    for index, version in enumerate(versions):
        if version in versions[:index]:
            errors.invalid(f"{path}[{index}]", version, "duplicate version")
        else:
            wrong = names.dns_1035_label(version)
            errors.each_invalid(f"{path}[{index}]", version, wrong)
    if not set(versions) & set(REVIEW_VERSIONS):
        said = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        errors.invalid(path, versions, said)


def check_client(client: Document, path: str, errors: FieldErrors) -> None:
    """Check where a webhook is called."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        errors.required(path, "exactly one of url or service is required")
    elif url is not None:
        _check_url(url, f"{path}.url", errors)
    elif service is not None:
        _check_service(service, f"{path}.service", errors)


def _check_url(text: str, path: str, errors: FieldErrors) -> None:
    try:
        url = parse_url(text)
    except MalformedUrl as wrong:
        errors.required(path, f"url must be a valid URL: {wrong}{_FORM}")
        return
    if url.scheme != "https":
        errors.invalid(path, url.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not url.host:
        errors.invalid(path, url.host, f"host must be specified{_FORM}")
    if url.user is not None:
        errors.invalid(path, url.user, "user information is not permitted in the URL")
    if url.fragment:
        errors.invalid(path, url.fragment, "fragments are not permitted in the URL")
    if url.query:
        errors.invalid(path, url.query, "query parameters are not permitted in the URL")


def _check_service(service: Document, path: str, errors: FieldErrors) -> None:
    # The real server takes one for the other when it says which is missing.
    for missing, called in (("namespace", "name"), ("name", "namespace")):
        if not service.get(missing):
            errors.required(f"{path}.{called}")
    port = service.get("port", 0)
    wrong = names.port_number(port)
    if wrong:
        errors.invalid(f"{path}.port", port, f"port is not valid: {', '.join(wrong)}")
    _check_path(service.get("path") or "/", f"{path}.path", errors)


def _check_path(text: str, path: str, errors: FieldErrors) -> None:
    if text == "/":
        return
    if text == "//":
        errors.invalid(path, text, "segment[0] may not be empty")
        return
    if not text.startswith("/"):
        errors.invalid(path, text, "must start with a '/'")
    for index, segment in enumerate(text[1:].removesuffix("/").split("/")):
        if not segment:
            errors.invalid(path, text, f"segment[{index}] may not be empty")
            continue
        wrong = names.dns_subdomain(segment)
        errors.each_invalid(path, text, [f"segment[{index}]: {each}" for each in wrong])
