"""Refuses objects that break the rules of their kind.

Owns: which rules apply to which kind, in the order in which the real server applies them, and
the refusal with all complaints.  The rules themselves are in the other validation modules.
Must not know requests or storage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.devserver import refusals
from reflet.devserver.admission import (
    definition_validation,
    object_validation,
    pod_validation,
    service_validation,
    workload_validation,
)
from reflet.devserver.admission.custom_validation import check_custom_object, check_value
from reflet.devserver.admission.field_errors import FieldErrors
from reflet.devserver.admission.metadata_validation import (
    check_common_metadata,
    check_metadata,
    check_metadata_update,
    check_qualified_finalizers,
)
from reflet.devserver.kinds.served_kind import ServedKind
from reflet.errors import Cause

Document = Mapping[str, Any]
CreateCheck = Callable[[Document, FieldErrors], None]
UpdateCheck = Callable[[Document, Document, FieldErrors], None]

_RBAC: Final = "rbac.authorization.k8s.io"
_DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"

_CREATE: Final[Mapping[str, CreateCheck]] = {
    "configmaps": object_validation.check_config_map,
    "secrets": object_validation.check_secret,
    "pods": pod_validation.check_pod,
    "services": service_validation.check_service,
    "endpoints": service_validation.check_endpoints,
    "nodes": object_validation.check_node,
    "events": object_validation.check_event,
    "replicationcontrollers": workload_validation.check_replication_controller,
    "deployments.apps": workload_validation.check_deployment,
    "replicasets.apps": workload_validation.check_replica_set,
    "statefulsets.apps": workload_validation.check_stateful_set,
    "daemonsets.apps": workload_validation.check_daemon_set,
    "jobs.batch": workload_validation.check_job,
    "cronjobs.batch": workload_validation.check_cron_job,
    "leases.coordination.k8s.io": object_validation.check_lease,
    f"roles.{_RBAC}": object_validation.check_role,
    f"clusterroles.{_RBAC}": object_validation.check_cluster_role,
    f"rolebindings.{_RBAC}": object_validation.check_role_binding,
    f"clusterrolebindings.{_RBAC}": object_validation.check_cluster_role_binding,
    _DEFINITIONS: definition_validation.check_definition,
}
# Besides these, an update is checked like a new object; those of pods is another story.
_UPDATE: Final[Mapping[str, UpdateCheck]] = {
    "configmaps": object_validation.check_config_map_update,
    "secrets": object_validation.check_secret_update,
    "services": service_validation.check_service_update,
    "nodes": object_validation.check_node_update,
    "deployments.apps": workload_validation.check_selector_kept,
    "replicasets.apps": workload_validation.check_selector_kept,
    "daemonsets.apps": workload_validation.check_selector_kept,
    "statefulsets.apps": workload_validation.check_stateful_set_update,
    "jobs.batch": workload_validation.check_job_update,
    f"rolebindings.{_RBAC}": object_validation.check_binding_update,
    f"clusterrolebindings.{_RBAC}": object_validation.check_binding_update,
    _DEFINITIONS: definition_validation.check_definition_update,
}
# Kinds of which an update checks the metadata once more, and so says the same again.
_CHECKED_AGAIN: Final = frozenset(
    {
        *("configmaps", "secrets", "pods", "namespaces", "nodes", "serviceaccounts"),
        *("persistentvolumes", "persistentvolumeclaims", "resourcequotas", "limitranges"),
        *(f"{name}.{_RBAC}" for name in ("roles", "clusterroles", "rolebindings")),
        f"clusterrolebindings.{_RBAC}",
    }
)
# A job's update keeps its selector, so what made it need not be checked again.
_NOT_CHECKED_AS_NEW: Final = frozenset({"pods", "jobs.batch"})


def validate_create(kind: ServedKind, document: Document) -> None:
    """Refuse a new object that breaks rules; raises Invalid with every complaint."""
    errors = FieldErrors()
    if kind.custom is not None:
        _check_custom(kind, document, errors)
    elif kind.storage_key == "events":
        # Events were made before their metadata was looked at, and still are.
        _check_event(kind, document, errors)
    else:
        check_metadata(kind, document["metadata"], errors)
        check = _CREATE.get(kind.storage_key)
        if check is not None:
            check(document, errors)
    _refuse(kind, document, errors)
    if kind.custom is None and kind.storage_key == "events":
        check_metadata(kind, document["metadata"], errors)
        _refuse(kind, document, errors)


def _check_event(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    if kind.group:
        object_validation.check_new_event(document, errors)
    else:
        object_validation.check_event(document, errors)


def _check_custom(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    check_metadata(kind, document["metadata"], errors)
    if kind.custom is not None:
        check_custom_object(kind.custom.open_api, document, errors)


def validate_update(
    kind: ServedKind, old: Document, new: Document, *, subresource: str = ""
) -> None:
    """Refuse a changed object that breaks rules, or changes what may not change."""
    errors = FieldErrors()
    metadata, before = new["metadata"], old["metadata"]
    check_common_metadata(kind, metadata, errors)
    check_metadata_update(metadata, before, errors)
    if kind.custom is not None:
        _check_custom_update(kind, new, subresource, errors)
        _refuse(kind, new, errors)
        return
    check_metadata_update(metadata, before, errors)
    check_qualified_finalizers(kind, metadata, errors)
    if subresource == "status":
        if kind.storage_key == "pods":
            pod_validation.check_pod_status_update(new, old, errors)
        _refuse(kind, new, errors)
        return
    update = _UPDATE.get(kind.storage_key)
    if update is not None:
        update(new, old, errors)
    if kind.storage_key in _CHECKED_AGAIN:
        check_metadata(kind, metadata, errors)
    if kind.storage_key == "pods":
        pod_validation.check_pod_update(new, old, errors)
    check = _CREATE.get(kind.storage_key)
    if kind.storage_key == "events":
        _check_event(kind, new, errors)
        if kind.group:
            object_validation.check_new_event_update(new, old, errors)
    elif check is not None and kind.storage_key not in _NOT_CHECKED_AS_NEW:
        check(new, errors)
    _refuse(kind, new, errors)


def _check_custom_update(
    kind: ServedKind, new: Document, subresource: str, errors: FieldErrors
) -> None:
    if kind.custom is None:
        return
    rules = kind.custom.open_api
    if subresource != "status":
        check_custom_object(rules, new, errors)
        return
    status = (rules.get("properties") or {}).get("status")
    if status is not None and new.get("status") is not None:
        found = FieldErrors()
        check_value(status, new["status"], "", found)
        # Messages name places as seen from the status, fields as seen from the object.
        errors.causes += [
            Cause(cause.type, cause.message, _in_status(cause.field)) for cause in found.causes
        ]


def _in_status(field: str) -> str:
    return "status" if field == "<nil>" else f"status.{field}"


def _refuse(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    if errors:
        name = document["metadata"].get("name", "")
        # Events of either group are refused as those of the core group.
        group = "" if kind.storage_key == "events" else kind.group
        raise refusals.invalid(kind.kind, name, errors.causes, group=group)
