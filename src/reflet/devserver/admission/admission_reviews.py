"""What is said to a webhook, and what it says: AdmissionReview, the question and the answer.

Upstream: apiserver/pkg/admission/plugin/webhook/request/admissionreview.go;
plugin/webhook/errors/statuserror.go; apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.admission.attributes import Attributes
from reflet.errors import ApiError, RefletError

Document = dict[str, Any]

GROUP: Final = "admission.k8s.io"
KNOWN_VERSIONS: Final = ("v1", "v1beta1")
UNREACHED: Final = "failed to call webhook: Post "  # how it begins when nothing was answered
NO_EXPLANATION: Final = "without explanation"


class CallFailed(RefletError):
    """A webhook could not be asked, or gave no answer; its failure policy says what follows."""


class Verdict(msgspec.Struct, frozen=True, rename="camel"):
    """The ``response`` of a review; ``patch`` is the JSON of a JSON patch."""

    uid: str | None = None
    allowed: bool | None = False
    status: Document | None = None
    patch: bytes | None = None
    patch_type: str | None = None
    warnings: tuple[str, ...] | None = None


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str | None = ""
    kind: str | None = ""
    response: Verdict | None = None


def review_version(accepted: tuple[str, ...]) -> str:
    """Choose the version of reviews for a webhook: the first that it takes and that is known."""
    for version in accepted:
        if version in KNOWN_VERSIONS:
            return version
    raise CallFailed(
        "could not create admission objects: webhook does not accept known AdmissionReview "
        "versions (v1, v1beta1)"
    )


def review(
    attributes: Attributes,
    invoked: ServedKind,
    uid: str,
    *,
    version: str,
    object: Document | None,  # noqa: A002 - the name in the review
    old: Document | None,
) -> Document:
    """Ask about a write; ``object`` and ``old`` are in the version of ``invoked``."""
    kind = attributes.kind
    body = attributes.body_kind
    request: Document = {
        "uid": uid,
        "kind": _kind(body or invoked),
        "resource": _resource(invoked),
        "subResource": attributes.subresource,
        "requestKind": _kind(body or kind),
        "requestResource": _resource(kind),
        "requestSubResource": attributes.subresource,
        "name": attributes.name,
        "namespace": attributes.namespace,
        "operation": attributes.operation,
        "userInfo": attributes.user.document(),
    }
    shown = {name: value for name, value in request.items() if value}
    shown |= {
        "object": object,
        "oldObject": old,
        "dryRun": attributes.dry_run,
        "options": dict(attributes.options),
    }
    return {"kind": "AdmissionReview", "apiVersion": f"{GROUP}/{version}", "request": shown}


def _kind(kind: ServedKind) -> Document:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _resource(kind: ServedKind) -> Document:
    return {"group": kind.group, "version": kind.version, "resource": kind.plural}


def read_verdict(content: bytes, uid: str, *, version: str, mutating: bool) -> Verdict:
    """Read the answer to a review; raises CallFailed for one that is not as agreed."""
    try:
        answer = msgspec.json.decode(content, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CallFailed(f"failed to call webhook: {error}") from error
    claimed, expected = answer.api_version or "", f"{GROUP}/{version}"
    if claimed and claimed != expected:
        found = claimed.removeprefix(f"{GROUP}/")
        if found in KNOWN_VERSIONS:
            forms = f"({found}.AdmissionReview) to ({version}.AdmissionReview)"
            raise CallFailed(f"failed to call webhook: converting {forms}: unknown conversion")
        raise CallFailed(
            f'failed to call webhook: no kind "{answer.kind or ""}" is registered for version '
            f'"{claimed}" in scheme "pkg/runtime/scheme.go:111"'
        )
    response = answer.response
    if response is None:
        raise _invalid("webhook response was absent")
    if version != "v1":
        return response  # of the older form, nothing more was ever checked
    if (response.uid or "") != uid:
        raise _invalid(f'expected response.uid="{uid}", got "{response.uid or ""}"')
    if (answer.api_version, answer.kind) != (f"{GROUP}/v1", "AdmissionReview"):
        raise _invalid(
            f"expected webhook response of {GROUP}/v1, Kind=AdmissionReview, got "
            f"{answer.api_version or '/'}, Kind={answer.kind or ''}"
        )
    problem = _patch_problem(response, mutating=mutating)
    if problem:
        raise _invalid(problem)
    return response


def _patch_problem(response: Verdict, *, mutating: bool) -> str:
    has_type = response.patch_type is not None
    if not mutating:
        if response.patch:
            return "validating webhook may not return response.patch"
        return "validating webhook may not return response.patchType" if has_type else ""
    if response.patch and not has_type:
        return "webhook returned response.patch but not response.patchType"
    if has_type and not response.patch:
        return "webhook returned response.patchType but not response.patch"
    return 'webhook returned invalid response.patchType of ""' if response.patch_type == "" else ""


def _invalid(problem: str) -> CallFailed:
    return CallFailed(f"received invalid webhook response: {problem}")


def denial(webhook: str, status: Document | None) -> ApiError:
    """Refuse a write as a webhook asks: with its code, reason and message, if it gave any."""
    given = status or {}
    code = given.get("code") or 0
    said = given.get("message") or given.get("reason")
    denied = f'admission webhook "{webhook}" denied the request'
    return refusals.Denied(
        f"{denied}: {said}" if said else f"{denied} {NO_EXPLANATION}",
        code=code if isinstance(code, int) and code >= 400 else 400,
        reason=given.get("reason") or "",
        details=given.get("details"),
    )
