"""Who may do what on the test server, and the objects that the rules are about.

Owns: the identities of the token file and the objects that give the restricted user its few
rights.  Must not know how they reach the server.

=============  =========================  ==================================================
role           user, groups               may
=============  =========================  ==================================================
``admin``      ``admin``,                 do everything
               ``system:masters``
``restricted`` ``restricted``             get, list and watch ConfigMaps in the namespace
                                          ``allowed``, and there the one Secret ``known``
``node``       ``system:node:worker-1``,  what the Node authorizer grants: its own Node, and
               ``system:nodes``           the objects that pods bound to it refer to
=============  =========================  ==================================================

The server itself asks nodes for logs, as ``SERVER``, with the role that Kubernetes has for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

Role = Literal["admin", "restricted", "node"]


@dataclass(frozen=True, slots=True)
class Identity:
    """A user of the API server and its groups."""

    user: str
    groups: Sequence[str] = ()


IDENTITIES: Final[Mapping[Role, Identity]] = MappingProxyType(
    {
        "admin": Identity("admin", ("system:masters",)),
        "restricted": Identity("restricted"),
        "node": Identity("system:node:worker-1", ("system:nodes",)),
    }
)

# Whom the server is to nodes: kubeadm's name.
SERVER: Final = Identity("kube-apiserver-kubelet-client")

RBAC = "rbac.authorization.k8s.io"
READ = ["get", "list", "watch"]

# Collection path and object, in an order in which they can be created.
OBJECTS: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    ("/api/v1/namespaces", {"metadata": {"name": "allowed"}}),
    (
        "/api/v1/namespaces/allowed/secrets",
        {"metadata": {"name": "known"}, "stringData": {"password": "opensesame"}},
    ),
    (
        f"/apis/{RBAC}/v1/namespaces/allowed/roles",
        {
            "metadata": {"name": "restricted"},
            "rules": [
                {"apiGroups": [""], "resources": ["configmaps"], "verbs": READ},
                {
                    "apiGroups": [""],
                    "resources": ["secrets"],
                    "resourceNames": ["known"],
                    "verbs": READ,
                },
            ],
        },
    ),
    (
        f"/apis/{RBAC}/v1/namespaces/allowed/rolebindings",
        {
            "metadata": {"name": "restricted"},
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "restricted"},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "restricted"}],
        },
    ),
    (
        f"/apis/{RBAC}/v1/clusterrolebindings",
        {
            "metadata": {"name": "server-to-nodes"},
            "roleRef": {
                "apiGroup": RBAC,
                "kind": "ClusterRole",
                "name": "system:kubelet-api-admin",
            },
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": SERVER.user}],
        },
    ),
)

# What the restricted user can read once the server has taken the rules in.
FIRST_GRANT: Final = "/api/v1/namespaces/allowed/configmaps"


def token_file(tokens: Mapping[Role, str]) -> str:
    """Write the identities in the form of ``--token-auth-file``: token, user, uid, groups."""
    return "".join(
        f'{token},{IDENTITIES[role].user},{role},"{",".join(IDENTITIES[role].groups)}"\n'
        for role, token in tokens.items()
    )
