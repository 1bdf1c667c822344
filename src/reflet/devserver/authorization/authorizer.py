"""The decision on any user: nodes get what the Node authorizer grants, others everything.

There are no roles here, so a node has besides only what the real server grants to everybody who
is known: discovery, and questions about oneself.

Upstream: apiserver/pkg/endpoints/filters/authorization.go, WithAuthorization;
apiserver/pkg/endpoints/handlers/responsewriters/errors.go, Forbidden;
plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go, ClusterRoleBindings
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, final

from reflet.apirules import refusals
from reflet.devserver.authorization.access_attributes import AccessAttributes, attributes_of
from reflet.devserver.authorization.node_authorizer import (
    ALLOWED,
    AccessDecision,
    node_decision,
    node_of,
)
from reflet.devserver.authorization.node_graph import RELATIONS, NodeGraph
from reflet.devserver.request.authentication import AUTHENTICATED, UserInfo
from reflet.devserver.request.impersonation import UNAUTHENTICATED
from reflet.devserver.request.request_info import ApiRequest, RequestTarget
from reflet.devserver.storage.storage import Storage
from reflet.errors import ApiError
from reflet.gotext.quoting import quoted

MASTERS: Final = "system:masters"


@dataclass(frozen=True, slots=True)
class DefaultRole:
    """A role that the real server binds to groups by itself; all are to read or to create."""

    name: str
    groups: tuple[str, ...]
    pages: tuple[str, ...] = ()
    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def allows(self, asked: AccessAttributes) -> bool:
        """Whether it grants what is asked for."""
        if asked.path:
            return asked.verb == "get" and any(
                asked.path.startswith(page[:-1]) if page.endswith("*") else asked.path == page
                for page in self.pages
            )
        is_question = asked.resource in self.questions.get(asked.group, ())
        return is_question and asked.verb == "create" and not asked.subresource


DEFAULT_ROLES: Final = (
    DefaultRole(
        "system:basic-user",
        (AUTHENTICATED,),
        questions={
            "authentication.k8s.io": ("selfsubjectreviews",),
            "authorization.k8s.io": ("selfsubjectaccessreviews", "selfsubjectrulesreviews"),
        },
    ),
    DefaultRole(
        "system:discovery",
        (AUTHENTICATED,),
        pages=(
            *("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi"),
            *("/openapi/*", "/readyz", "/version", "/version/"),
        ),
    ),
    DefaultRole(
        "system:public-info-viewer",
        (AUTHENTICATED, UNAUTHENTICATED),
        pages=("/healthz", "/livez", "/readyz", "/version", "/version/"),
    ),
)


@final
class Authorizer:
    """Judges requests and the questions of reviews by what is stored.

    What leads to which node is learned when the first node is judged, and followed from then on.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def check(self, user: UserInfo, request: ApiRequest, target: RequestTarget | None) -> None:
        """Refuse a request that its sender may not make."""
        node = node_of(user)
        if node is None:
            return
        asked = attributes_of(request, target)
        decision = self._decision(node, user, asked)
        if not decision.is_allowed:
            raise _forbidden(user, asked, decision.reason)

    def decision(self, user: UserInfo, asked: AccessAttributes) -> AccessDecision:
        """Judge what a user asks leave for."""
        node = node_of(user)
        return ALLOWED if node is None else self._decision(node, user, asked)

    def _decision(self, node: str, user: UserInfo, asked: AccessAttributes) -> AccessDecision:
        if MASTERS in user.groups:
            return ALLOWED
        decision = node_decision(node, asked, self._graph)
        return decision if decision.is_allowed else _by_role(user, asked) or decision

    @cached_property
    def _graph(self) -> NodeGraph:
        graph = NodeGraph()
        for resource in RELATIONS:
            for stored in self._storage.list(resource):
                graph.put(stored.key, stored.object)
            self._storage.subscribe(graph.follow, resource=resource)
        return graph


def _by_role(user: UserInfo, asked: AccessAttributes) -> AccessDecision | None:
    """Allow what is granted to whoever is known, or to all; None when it is not."""
    for role in DEFAULT_ROLES:
        for group in role.groups:
            if group in user.groups and role.allows(asked):
                bound = f"ClusterRoleBinding {quoted(role.name)} of ClusterRole {quoted(role.name)}"
                said = f"RBAC: allowed by {bound} to Group {quoted(group)}"
                return AccessDecision(is_allowed=True, reason=said)
    return None


def rules_of(user: UserInfo) -> dict[str, Any]:
    """Give the status of a SelfSubjectRulesReview: the rules that a user is known to have."""
    if node_of(user) is None or MASTERS in user.groups:
        return {
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": False,
        }
    roles = [role for role in DEFAULT_ROLES if set(role.groups) & set(user.groups)]
    return {
        "resourceRules": [
            {"verbs": ["create"], "apiGroups": [group], "resources": list(resources)}
            for role in roles
            for group, resources in role.questions.items()
        ],
        "nonResourceRules": [
            {"verbs": ["get"], "nonResourceURLs": list(role.pages)} for role in roles if role.pages
        ],
        "incomplete": True,
        "evaluationError": "node authorizer does not support user rule resolution",
    }


def _forbidden(user: UserInfo, asked: AccessAttributes, reason: str) -> ApiError:
    what = f"path {quoted(asked.path)}"
    if not asked.path:
        resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
        where = f"in the namespace {quoted(asked.namespace)}"
        where = where if asked.namespace else "at the cluster scope"
        what = f"resource {quoted(resource)} in API group {quoted(asked.group)} {where}"
    said = f"User {quoted(user.name)} cannot {asked.verb} {what}"
    # Nothing that a browser could take for HTML.
    said = said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    why = f"{said}: {reason}" if reason else said
    return refusals.forbidden(asked.resource, asked.name, why, group=asked.group)
