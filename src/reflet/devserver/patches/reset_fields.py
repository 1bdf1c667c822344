"""Which fields a write to a kind, or to one of its subresources, cannot change.

Whoever writes them anyway does not come to own them.

Owns: the table.  Must not know how the server keeps such fields as they are.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from reflet.devserver.patches.field_sets import EMPTY, FieldSet

_STATUS: Final = FieldSet.of([("f:status",)])
_SPEC: Final = FieldSet.of([("f:spec",)])

# Kinds with a status of their own, all of which are written in two parts.
_IN_TWO_PARTS: Final = frozenset(
    {
        *("namespaces", "nodes", "pods", "services"),
        *("daemonsets.apps", "deployments.apps", "replicasets.apps", "statefulsets.apps"),
        *("cronjobs.batch", "jobs.batch"),
        *("persistentvolumeclaims", "persistentvolumes", "replicationcontrollers"),
        *("resourcequotas", "ingresses.networking.k8s.io", "poddisruptionbudgets.policy"),
        "horizontalpodautoscalers.autoscaling",
        "customresourcedefinitions.apiextensions.k8s.io",
    }
)
_METADATA_AND_SPEC: Final = FieldSet.of([("f:metadata",), ("f:spec",)])
_BESIDES_STATUS: Final = MappingProxyType(
    {
        "pods": FieldSet.of(
            [
                ("f:spec",),
                ("f:metadata", "f:deletionTimestamp"),
                ("f:metadata", "f:ownerReferences"),
            ]
        ),
        "deployments.apps": FieldSet.of([("f:spec",), ("f:metadata", "f:labels")]),
    }
)


def reset_fields(resource: str, subresource: str = "") -> FieldSet:
    """Give the fields for a built-in resource, ``pods`` or ``deployments.apps``."""
    if resource not in _IN_TWO_PARTS:
        return EMPTY
    if subresource in ("", "finalize"):
        return _STATUS
    return _BESIDES_STATUS.get(resource, _SPEC) if subresource == "status" else EMPTY


def custom_reset_fields(subresource: str = "", *, has_status: bool) -> FieldSet:
    """Give the fields for a custom resource, which has a status part or not."""
    if subresource == "status":
        return _METADATA_AND_SPEC
    return _STATUS if has_status else EMPTY
