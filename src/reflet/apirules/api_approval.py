"""Whether a definition in a group of the Kubernetes community says who approved it.

Upstream: apiextensions-apiserver/pkg/apihelpers/helpers.go, GetAPIApprovalState;
apiextensions-apiserver/pkg/controller/apiapproval/apiapproval_controller.go
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from reflet.gotext.quoting import quoted

ANNOTATION: Final = "api-approved.kubernetes.io"
CONDITION: Final = "KubernetesAPIApprovalPolicyConformant"
_REQUIRED: Final = f"protected groups must have approval annotation {quoted(ANNOTATION)}"
# Stricter than a URL in the host, where Go is, and as lenient in the rest.
_ADDRESS: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?%\x00-\x1f]+([/?][^\x00-\x1f\x7f]*)?"
)
_PROPOSAL: Final = "see https://github.com/kubernetes/enhancements/pull/1111"


class Approval(msgspec.Struct, frozen=True):
    """What the annotation comes to, as the condition says it.

    A definition whose ``reason`` is neither ``ApprovedAnnotation`` nor ``UnapprovedAnnotation`` is
    refused, for ``message``.
    """

    status: str
    reason: str
    message: str


def approval_of(definition: Mapping[str, Any]) -> Approval | None:
    """Judge the annotation; None for a group that anybody may use."""
    group = (definition.get("spec") or {}).get("group") or ""
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return None
    text = (definition["metadata"].get("annotations") or {}).get(ANNOTATION) or ""
    if not text:
        return Approval("False", "MissingAnnotation", f"{_REQUIRED}, {_PROPOSAL}")
    if text.startswith("unapproved"):
        return Approval("False", "UnapprovedAnnotation", f"not approved: {quoted(text)}")
    if _ADDRESS.fullmatch(text):
        return Approval("True", "ApprovedAnnotation", f"approved in {text}")
    either = 'with either a URL or a reason starting with "unapproved"'
    return Approval("Unknown", "UnknownAnnotation", f"{_REQUIRED} {either}, {_PROPOSAL}")
