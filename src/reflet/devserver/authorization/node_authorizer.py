"""What a node may do: read what its pods need, and report on itself and on them.

Decisions with the real server's reasons.  What is in the objects that a node writes is
node_restriction.py's.

Upstream: plugin/pkg/auth/authorizer/node/node_authorizer.go;
plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go, NodeRules;
pkg/auth/nodeidentifier/default.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from reflet.devserver.authorization.access_attributes import AccessAttributes
from reflet.devserver.authorization.node_graph import NodeGraph
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.impersonation import NODE_PREFIX, NODES_GROUP
from reflet.gotext.quoting import quoted

LEASES_NAMESPACE: Final = "kube-node-lease"

READ: Final = frozenset({"get", "list", "watch"})
_OWN_VERBS: Final = frozenset({"get", "create", "update", "patch", "delete"})


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """Whether it is allowed and, if not, perhaps why."""

    is_allowed: bool
    reason: str = ""


ALLOWED: Final = AccessDecision(is_allowed=True)
NO_OPINION: Final = AccessDecision(is_allowed=False)


def node_of(user: UserInfo) -> str | None:
    """Name the node that a user is, perhaps with nothing; None when it is no node."""
    if not user.name.startswith(NODE_PREFIX) or NODES_GROUP not in user.groups:
        return None
    return user.name.removeprefix(NODE_PREFIX)


def node_decision(node: str, asked: AccessAttributes, graph: NodeGraph) -> AccessDecision:
    """Judge what a node asks leave for."""
    if not node:
        return _no(f"unknown node for user {quoted(NODE_PREFIX)}")
    judge = None if asked.path else _JUDGES.get(asked.qualified)
    if judge is not None:
        return judge(node, asked, graph)
    wanted = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    is_allowed = not asked.path and asked.verb in NODE_RULES.get((asked.group, wanted), ())
    return ALLOWED if is_allowed else NO_OPINION


def _no(reason: str) -> AccessDecision:
    return AccessDecision(is_allowed=False, reason=reason)


# What is judged by the graph


def _related(node: str, asked: AccessAttributes, graph: NodeGraph) -> AccessDecision:
    if not asked.name:
        return _no("No Object name found")
    if graph.leads_to(asked.key, node):
        return ALLOWED
    return _no(f"no relationship found between node '{node}' and this object")


def _get(node: str, asked: AccessAttributes, graph: NodeGraph) -> AccessDecision:
    if asked.verb != "get":
        return _no("can only get individual resources of this type")
    if asked.subresource:
        return _no("cannot get subresource")
    return _related(node, asked, graph)


def _read_namespaced(node: str, asked: AccessAttributes, graph: NodeGraph) -> AccessDecision:
    if asked.verb not in READ:
        return _no("can only read resources of this type")
    if asked.subresource:
        return _no("cannot read subresource")
    if not asked.namespace:
        return _no("can only read namespaced object of this type")
    return _related(node, asked, graph)


def _claim(node: str, asked: AccessAttributes, graph: NodeGraph) -> AccessDecision:
    if asked.subresource != "status":
        return _get(node, asked, graph)
    if asked.verb not in {"update", "patch"}:
        return _no("can only get/update/patch this type")
    return _related(node, asked, graph)


def _service_account(node: str, asked: AccessAttributes, graph: NodeGraph) -> AccessDecision:
    if asked.verb == "get" and not asked.subresource:
        return _read_namespaced(node, asked, graph)
    if asked.verb != "create" or not asked.name:
        return _no("can only create tokens for individual service accounts")
    if asked.subresource != "token":
        return _no("can only create token subresource of serviceaccount")
    return _related(node, asked, graph)


def _resource_slice(node: str, asked: AccessAttributes, graph: NodeGraph) -> AccessDecision:
    if asked.subresource:
        return _no("cannot authorize ResourceSlice subresources")
    match asked.verb:
        case "create":
            return ALLOWED
        case "get" | "update" | "patch" | "delete":
            return _related(node, asked, graph)
        case "watch" | "list" | "deletecollection":
            if asked.selects("spec.nodeName", node):
                return ALLOWED
            return _no(
                "can only list/watch/deletecollection resourceslices with nodeName field selector"
            )
        case _:
            return _no(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, "
                "create, update, patch, delete, deletecollection"
            )


def _pod(node: str, asked: AccessAttributes, graph: NodeGraph) -> AccessDecision:
    match asked.subresource, asked.verb:
        case "", "get":
            return _get(node, asked, graph)
        case "", "list" | "watch":
            if asked.selects("spec.nodeName", node):
                return ALLOWED
            if asked.name:
                return _related(node, asked, graph)
            return _no("can only list/watch pods with spec.nodeName field selector")
        case ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create"):
            return ALLOWED
        case _:
            return NO_OPINION


# What is judged by its name


def _node(node: str, asked: AccessAttributes, _: NodeGraph) -> AccessDecision:
    match asked.subresource, asked.verb:
        case ("", "create" | "update" | "patch") | ("status", "update" | "patch"):
            return ALLOWED
        case "", "get" | "list" | "watch":
            if asked.name == node:
                return ALLOWED
            what = f"'{asked.name}'" if asked.name else "all nodes"
            return _no(f"node '{node}' cannot read {what}, only its own Node object")
        case _:
            return NO_OPINION


def _lease(node: str, asked: AccessAttributes, _: NodeGraph) -> AccessDecision:
    if asked.verb not in _OWN_VERBS:
        return _no("can only get, create, update, patch, or delete a node lease")
    if asked.namespace != LEASES_NAMESPACE:
        return _no(f'can only access leases in the "{LEASES_NAMESPACE}" system namespace')
    if asked.verb != "create" and asked.name != node:
        return _no("can only access node lease with the same name as the requesting node")
    return ALLOWED


def _csi_node(node: str, asked: AccessAttributes, _: NodeGraph) -> AccessDecision:
    if asked.verb not in _OWN_VERBS:
        return _no("can only get, create, update, patch, or delete a CSINode")
    if asked.subresource:
        return _no("cannot authorize CSINode subresources")
    if asked.verb != "create" and asked.name != node:
        return _no("can only access CSINode with the same name as the requesting node")
    return ALLOWED


_JUDGES: Final[Mapping[str, Callable[[str, AccessAttributes, NodeGraph], AccessDecision]]] = (
    MappingProxyType(
        {
            "secrets": _read_namespaced,
            "configmaps": _read_namespaced,
            "persistentvolumeclaims": _claim,
            "persistentvolumes": _get,
            "resourceclaims.resource.k8s.io": _get,
            "volumeattachments.storage.k8s.io": _get,
            "serviceaccounts": _service_account,
            "leases.coordination.k8s.io": _lease,
            "csinodes.storage.k8s.io": _csi_node,
            "resourceslices.resource.k8s.io": _resource_slice,
            "nodes": _node,
            "pods": _pod,
        }
    )
)

# What every node may do, by group and resource; what is judged above is not repeated.
NODE_RULES: Final[Mapping[tuple[str, str], frozenset[str]]] = MappingProxyType(
    {
        ("authentication.k8s.io", "tokenreviews"): frozenset({"create"}),
        ("authorization.k8s.io", "subjectaccessreviews"): frozenset({"create"}),
        ("authorization.k8s.io", "localsubjectaccessreviews"): frozenset({"create"}),
        ("", "services"): READ,
        ("", "endpoints"): frozenset({"get"}),
        ("", "events"): frozenset({"create", "update", "patch"}),
        ("events.k8s.io", "events"): frozenset({"create", "update", "patch"}),
        ("certificates.k8s.io", "certificatesigningrequests"): READ | {"create"},
        ("storage.k8s.io", "csidrivers"): READ,
        ("node.k8s.io", "runtimeclasses"): READ,
    }
)
