"""Reviews: questions about who somebody is and what they may do.

Whoever is known here may do everything, so the answers are short; about somebody else, nothing is
known.

Upstream: pkg/registry/authorization/*/rest.go, pkg/registry/authentication/*
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.printing.answers import DocumentAnswer
from reflet.devserver.request.authentication import UserInfo
from reflet.errors import Cause
from reflet.gotext.times import time_text

Document = dict[str, Any]


def answer_review(
    kind: ServedKind,
    document: Document,
    *,
    user: UserInfo,
    now: datetime,
    managed: Any = None,
    who: UserInfo | None = None,
) -> DocumentAnswer:
    """Answer a review; ``who`` is whoever the token of a TokenReview belongs to.

    ``managed`` are the managers of the review, which the real server repeats.
    """
    review: Document = {
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "metadata": document.get("metadata") or {},
        "spec": document.get("spec") or {},
    }
    if managed and kind.kind != "SelfSubjectRulesReview":
        review["metadata"] = {**review["metadata"], "managedFields": managed}
    match kind.kind:
        case "SelfSubjectReview":
            review["metadata"] = {"creationTimestamp": time_text(now)}
            del review["spec"]
            review["status"] = {"userInfo": user.document()}
        case "SelfSubjectRulesReview":
            if not review["spec"].get("namespace"):
                raise refusals.bad_request("no namespace on request")
            review["spec"] = {}
            review["status"] = {
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": False,
            }
        case "TokenReview":
            if who is None:
                review["status"] = {"user": {}, "error": "invalid bearer token"}
            else:
                review["status"] = {"authenticated": True, "user": who.document()}
        case "SelfSubjectAccessReview":
            _check_attributes(review["spec"])
            review["status"] = {"allowed": True}
        case _:
            _check_attributes(review["spec"])
            review["status"] = {"allowed": _is_known(review["spec"], user)}
    return DocumentAnswer(review, 201)


def _is_known(spec: Document, user: UserInfo) -> bool:
    groups = spec.get("groups") or ()
    # Service accounts have tokens of this server, and with them may do everything.
    return (
        spec.get("user") == user.name
        or "system:masters" in groups
        or "system:serviceaccounts" in groups
    )


def _check_attributes(spec: Document) -> None:
    given = [name for name in ("resourceAttributes", "nonResourceAttributes") if spec.get(name)]
    if len(given) != 1:
        message = (
            "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes "
            "must be specified"
        )
        cause = Cause("FieldValueInvalid", message, "spec.resourceAttributes")
        raise refusals.invalid("", "", [cause], group="authorization.k8s.io")
