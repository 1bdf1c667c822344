"""The documents by which clients find out what is served, plain and aggregated, and the version.

Upstream: apiserver/pkg/endpoints/discovery/{root,group,version}.go, discovery/aggregated/handler.go
"""

from __future__ import annotations

from typing import Any, Final

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind, Subresource

Document = dict[str, Any]

AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
MINOR: Final = "36"
GIT_VERSION: Final = "v1.36.4+reflet"


def version() -> Document:
    """Make ``/version``: the Kubernetes whose behaviour is reproduced."""
    return {
        "major": "1",
        "minor": MINOR,
        "emulationMajor": "1",
        "emulationMinor": MINOR,
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": GIT_VERSION,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "linux/amd64",
    }


def core_versions(address: str) -> Document:
    """Make ``/api``; ``address`` is the server's host and port."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def group_list(kinds: Kinds) -> Document:
    """Make ``/apis``."""
    groups = [_group(name, versions) for name, versions in kinds.groups().items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(kinds: Kinds, name: str) -> Document | None:
    """Make ``/apis/{group}``; None when the group is not served."""
    versions = kinds.groups().get(name)
    if not name or versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1"} | _group(name, versions)


def _group(name: str, versions: tuple[str, ...]) -> Document:
    listed = [{"groupVersion": f"{name}/{each}", "version": each} for each in versions]
    return {"name": name, "versions": listed, "preferredVersion": dict(listed[0])}


def resource_list(kinds: Kinds, group_name: str, version_name: str) -> Document | None:
    """Make ``/api/v1`` or ``/apis/{group}/{version}``; None when that is not served."""
    found = kinds.in_version(group_name, version_name)
    if not found:
        return None
    resources = []
    for kind in found:
        resources.append(_resource(kind))
        resources += [_subresource(kind, each) for each in kind.subresources]
    named = f"{group_name}/{version_name}" if group_name else version_name
    # The core group is older than the field that says what kind of document this is.
    head = {"kind": "APIResourceList"} | ({"apiVersion": "v1"} if group_name else {})
    return head | {"groupVersion": named, "resources": resources}


def _resource(kind: ServedKind) -> Document:
    made: Document = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        made["shortNames"] = list(kind.short_names)
    if kind.categories:
        made["categories"] = list(kind.categories)
    if kind.is_stored:
        made["storageVersionHash"] = kind.storage_version_hash
    return made


def _subresource(kind: ServedKind, part: Subresource) -> Document:
    made: Document = {
        "name": f"{kind.plural}/{part.name}",
        "singularName": "",
        "namespaced": kind.namespaced,
    }
    if part.version:
        made |= {"group": part.group, "version": part.version}
    return made | {"kind": part.kind, "verbs": list(part.verbs)}


def aggregated(kinds: Kinds, *, core: bool) -> Document:
    """Make the aggregated form of ``/api`` (``core``) or ``/apis``."""
    items = [
        {
            "metadata": {"name": name} if name else {},
            "versions": [_aggregated_version(kinds, name, each) for each in versions],
        }
        for name, versions in kinds.groups().items()
        if core == (not name)
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def _aggregated_version(kinds: Kinds, group_name: str, version_name: str) -> Document:
    return {
        "version": version_name,
        "resources": [
            _aggregated_resource(kind) for kind in kinds.in_version(group_name, version_name)
        ],
        "freshness": "Current",
    }


def _aggregated_resource(kind: ServedKind) -> Document:
    own = (kind.group, kind.version) if kind.custom is not None else ("", "")
    made: Document = {
        "resource": kind.plural,
        "responseKind": _response_kind(kind.kind, *own),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        made["shortNames"] = list(kind.short_names)
    if kind.categories:
        made["categories"] = list(kind.categories)
    if kind.subresources:
        made["subresources"] = [
            {
                "subresource": part.name,
                "responseKind": _response_kind(
                    part.kind, part.group or own[0], part.version or own[1]
                ),
                "verbs": list(part.verbs),
            }
            for part in kind.subresources
        ]
    return made


def _response_kind(kind: str, group_name: str, version_name: str) -> Document:
    return {"group": group_name, "version": version_name, "kind": kind}
