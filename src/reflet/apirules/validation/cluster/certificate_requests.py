"""The rules of certificate signing requests, of their approval, and of what is signed.

Neither the signature of a request nor the key in it is looked at.

Upstream: pkg/apis/certificates/validation/validation.go; pkg/apis/core/validation/names.go,
ValidateSignerName
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.cluster.pem_blocks import (
    CERTIFICATE,
    CERTIFICATE_REQUEST,
    MalformedDer,
    check_certificates,
    check_request,
    pem_blocks,
)
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import (
    check_metadata,
    check_metadata_update,
    check_qualified_finalizers,
)
from reflet.gotext.quoting import quoted

Document = Mapping[str, Any]

LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
_USAGES: Final = (
    *("any", "cert sign", "client auth", "code signing", "content commitment", "crl sign"),
    *("data encipherment", "decipher only", "digital signature", "email protection"),
    *("encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement"),
    *("key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"),
    *("server auth", "signing", "timestamping"),
)
_STATUSES: Final = ("False", "True", "Unknown")
_DECISIONS: Final = ("Approved", "Denied")
_FINAL: Final = (*_DECISIONS, "Failed")  # conditions that are true or not there, and stay
_SHORTEST: Final = 600  # seconds
_LONGEST_DOMAIN: Final = 253
_LONGEST_SIGNER: Final = 571


def check_certificate_request(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check a new request; anything may be its name, as far as the kind is concerned."""
    _check_request(kind, document, None, errors)


def check_certificate_request_update(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    """Check a change that is neither an approval nor a signature."""
    _check_update(kind, new, old, errors)


def check_certificate_request_status(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    """Check what a signer writes."""
    _check_update(kind, new, old, errors, signs=True)


def check_certificate_request_approval(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    """Check what an approver writes."""
    _check_update(kind, new, old, errors, decides=True)


def _check_request(
    kind: ServedKind, document: Document, old: Document | None, errors: FieldErrors
) -> None:
    check_metadata(kind, document["metadata"], errors, rule=lambda _: [])
    spec = document.get("spec") or {}
    wrong = _wrong_with_request(base64.b64decode(spec.get("request") or ""))
    if wrong:
        errors.invalid("spec.request", spec.get("request"), wrong)
    _check_usages(spec.get("usages") or (), errors)
    _check_signer(spec.get("signerName", ""), "spec.signerName", errors)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        said = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.invalid("spec.expirationSeconds", seconds, said)
    _check_conditions(document, errors)
    certificate = _certificate(document)
    if certificate and (old is None or certificate != _certificate(old)):
        wrong = _wrong_with_certificate(base64.b64decode(certificate))
        if wrong:
            errors.invalid("status.certificate", "<certificate data>", wrong)


def _certificate(document: Document) -> str:
    return (document.get("status") or {}).get("certificate") or ""


def _wrong_with_request(data: bytes) -> str:
    block = next(pem_blocks(data), None)
    if block is None or block.type != CERTIFICATE_REQUEST:
        return f"PEM block type must be {CERTIFICATE_REQUEST}"
    try:
        check_request(block.content)
    except MalformedDer as wrong:
        return str(wrong)
    return ""


def _wrong_with_certificate(data: bytes) -> str:
    blocks = list(pem_blocks(data))
    for block in blocks:
        if block.type != CERTIFICATE:
            return f"only CERTIFICATE PEM blocks are allowed, found {quoted(block.type)}"
        if block.has_headers:
            return "no PEM block headers are permitted"
        if not block.content:
            return "found CERTIFICATE PEM block containing 0 certificates"
        try:
            check_certificates(block.content)
        except MalformedDer as wrong:
            return str(wrong)
    return "" if blocks else "must contain at least one CERTIFICATE PEM block"


def _check_usages(usages: Any, errors: FieldErrors) -> None:
    if not usages:
        errors.required("spec.usages")
    for index, usage in enumerate(usages):
        if usage not in _USAGES:
            errors.not_supported(f"spec.usages[{index}]", usage, _USAGES)
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            errors.duplicate(f"spec.usages[{index}]", Named(usage))


def _check_signer(signer: str, path: str, errors: FieldErrors) -> None:
    if signer == LEGACY_SIGNER:
        said = "the legacy signerName is not allowed via this API version"
        errors.invalid(path, signer, said)
        return
    if not signer:
        errors.required(path)
        return
    if signer.count("/") != 1:
        said = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        errors.invalid(path, signer, said)
        return
    domain, _, rest = signer.partition("/")
    if len(domain.encode()) > _LONGEST_DOMAIN:
        errors.too_long(path, _LONGEST_DOMAIN)
    labels = domain.split(".")
    for text, parts, check in (
        (domain, labels, names.dns_label),
        (rest, rest.split("."), names.dns_subdomain),
    ):
        bad = next((label for label in parts if check(label)), None)
        if bad is not None:
            said = f"validating label {quoted(bad)}: "
            errors.each_invalid(path, text, [said + wrong for wrong in check(bad)])
        if text is domain and len(labels) < 2:
            said = "should be a domain with at least two segments separated by dots"
            errors.invalid(path, domain, said)
    if len(signer.encode()) > _LONGEST_SIGNER:
        errors.too_long(path, _LONGEST_SIGNER)


def _conditions(document: Document) -> list[Document]:
    found: list[Document] = (document.get("status") or {}).get("conditions") or []
    return found


def _count(document: Document, kind: str) -> int:
    return sum(each.get("type") == kind for each in _conditions(document))


def _check_conditions(document: Document, errors: FieldErrors) -> None:
    path = "status.conditions"
    seen: set[str] = set()
    for index, condition in enumerate(_conditions(document)):
        here = f"{path}[{index}]"
        kind, status = condition.get("type", ""), condition.get("status", "")
        if not kind:
            errors.required(f"{here}.type")
        allowed = ("True",) if kind in _FINAL else _STATUSES
        if not status:
            errors.required(f"{here}.status")
        elif status not in allowed:
            errors.not_supported(f"{here}.status", status, allowed)
        if kind in _DECISIONS and seen & ({*_DECISIONS} - {kind}):
            said = "Approved and Denied conditions are mutually exclusive"
            errors.invalid(path, Named(kind), said)
        if kind in seen:
            errors.duplicate(f"{here}.type", Named(kind))
        seen.add(kind)


def _check_update(
    kind: ServedKind,
    new: Document,
    old: Document,
    errors: FieldErrors,
    *,
    decides: bool = False,
    signs: bool = False,
) -> None:
    _check_request(kind, new, old, errors)
    path = "status.conditions"
    for name in _FINAL:
        if _count(new, name) < _count(old, name):
            said = f"updates may not remove a condition of type {quoted(name)}"
            errors.forbidden(path, said)
    for name in () if decides else _DECISIONS:
        if _count(new, name) > _count(old, name):
            said = f"updates may not add a condition of type {quoted(name)}"
            errors.forbidden(path, said)
    if _certificate(new) != _certificate(old):
        if not signs:
            errors.forbidden("status.certificate", "updates may not set certificate content")
        elif _certificate(old):
            said = "updates may not modify existing certificate content"
            errors.forbidden("status.certificate", said)
    check_metadata_update(new["metadata"], old["metadata"], errors)
    check_qualified_finalizers(kind, new["metadata"], errors)
