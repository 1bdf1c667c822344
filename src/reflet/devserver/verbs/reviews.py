"""Reviews: questions about who somebody is and what they may do.

Of nodes the authorizer knows what they may do.  Whoever else is known here may do everything, so
the answers are short; about a stranger, nothing is known.

Upstream: pkg/registry/authorization/*/rest.go, pkg/registry/authentication/*
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.authorization.access_attributes import attributes_of_review
from reflet.devserver.authorization.authorizer import Authorizer, rules_of
from reflet.devserver.authorization.node_authorizer import node_of
from reflet.devserver.printing.answers import DocumentAnswer
from reflet.devserver.request.authentication import UserInfo
from reflet.errors import Cause
from reflet.gotext.times import time_text

Document = dict[str, Any]


def answer_review(
    kind: ServedKind,
    document: Document,
    *,
    namespace: str | None = None,
    user: UserInfo,
    authorizer: Authorizer,
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
        "metadata": (document.get("metadata") or {})
        | ({"namespace": namespace} if namespace else {}),
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
            review["status"] = rules_of(user)
        case "TokenReview":
            if who is None:
                review["status"] = {"user": {}, "error": "invalid bearer token"}
            else:
                review["status"] = {"authenticated": True, "user": who.document()}
        case "SelfSubjectAccessReview":
            _check_attributes(review["spec"])
            review["status"] = _access(authorizer, user, review["spec"])
        case _:
            _check_attributes(review["spec"])
            review["status"] = _access_of_another(authorizer, user, review["spec"])
    return DocumentAnswer(review, 201)


def _access(authorizer: Authorizer, user: UserInfo, spec: Document) -> Document:
    decision = authorizer.decision(user, attributes_of_review(spec))
    return {"allowed": decision.is_allowed} | (
        {"reason": decision.reason} if decision.reason else {}
    )


def _access_of_another(authorizer: Authorizer, user: UserInfo, spec: Document) -> Document:
    other = UserInfo(spec.get("user") or "", groups=tuple(spec.get("groups") or ()))
    if node_of(other) is None:
        return {"allowed": _is_known(spec, user)}
    return _access(authorizer, other, spec)


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
