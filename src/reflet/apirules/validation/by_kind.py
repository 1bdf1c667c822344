"""Refuses objects that break the rules of their kind, with all complaints at once.

Which rules apply, and in which order, is the real server's; each rule is in a module beside.

Upstream: pkg/registry/*/*/strategy.go, Validate and ValidateUpdate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import (
    autoscalers,
    definitions,
    disruption_budgets,
    ingresses,
    network_policies,
    other_kinds,
    pods,
    services,
    workloads,
)
from reflet.apirules.validation.custom_objects import check_custom_object, check_value
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import (
    check_common_metadata,
    check_metadata,
    check_metadata_update,
    check_qualified_finalizers,
)
from reflet.errors import Cause

Document = Mapping[str, Any]
CreateCheck = Callable[[Document, FieldErrors], None]
UpdateCheck = Callable[[Document, Document, FieldErrors], None]

_RBAC: Final = "rbac.authorization.k8s.io"
_DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
_INGRESSES: Final = "ingresses.networking.k8s.io"
_NETWORK_POLICIES: Final = "networkpolicies.networking.k8s.io"
_DISRUPTION_BUDGETS: Final = "poddisruptionbudgets.policy"
_AUTOSCALERS: Final = "horizontalpodautoscalers.autoscaling"

_CREATE: Final[Mapping[str, CreateCheck]] = {
    "configmaps": other_kinds.check_config_map,
    "secrets": other_kinds.check_secret,
    "pods": pods.check_pod,
    "services": services.check_service,
    "endpoints": services.check_endpoints,
    "nodes": other_kinds.check_node,
    "events": other_kinds.check_event,
    "replicationcontrollers": workloads.check_replication_controller,
    "deployments.apps": workloads.check_deployment,
    "replicasets.apps": workloads.check_replica_set,
    "statefulsets.apps": workloads.check_stateful_set,
    "daemonsets.apps": workloads.check_daemon_set,
    "jobs.batch": workloads.check_job,
    "cronjobs.batch": workloads.check_cron_job,
    "leases.coordination.k8s.io": other_kinds.check_lease,
    f"roles.{_RBAC}": other_kinds.check_role,
    f"clusterroles.{_RBAC}": other_kinds.check_cluster_role,
    f"rolebindings.{_RBAC}": other_kinds.check_role_binding,
    f"clusterrolebindings.{_RBAC}": other_kinds.check_cluster_role_binding,
    _DEFINITIONS: definitions.check_definition,
    _INGRESSES: ingresses.check_ingress,
    _NETWORK_POLICIES: network_policies.check_network_policy,
    _DISRUPTION_BUDGETS: disruption_budgets.check_disruption_budget,
    _AUTOSCALERS: autoscalers.check_autoscaler,
}
# Besides these, an update is checked like a new object; those of pods is another story.
_UPDATE: Final[Mapping[str, UpdateCheck]] = {
    "configmaps": other_kinds.check_config_map_update,
    "secrets": other_kinds.check_secret_update,
    "services": services.check_service_update,
    "nodes": other_kinds.check_node_update,
    "deployments.apps": workloads.check_selector_kept,
    "replicasets.apps": workloads.check_selector_kept,
    "daemonsets.apps": workloads.check_selector_kept,
    "statefulsets.apps": workloads.check_stateful_set_update,
    "jobs.batch": workloads.check_job_update,
    f"rolebindings.{_RBAC}": other_kinds.check_binding_update,
    f"clusterrolebindings.{_RBAC}": other_kinds.check_binding_update,
    _DEFINITIONS: definitions.check_definition_update,
    _INGRESSES: ingresses.check_ingress_update,
    _NETWORK_POLICIES: network_policies.check_network_policy_update,
    _DISRUPTION_BUDGETS: disruption_budgets.check_disruption_budget_update,
    _AUTOSCALERS: autoscalers.check_autoscaler_update,
}
_STATUS_UPDATE: Final[Mapping[str, UpdateCheck]] = {
    "pods": pods.check_pod_status_update,
    _INGRESSES: ingresses.check_ingress_status,
    _DISRUPTION_BUDGETS: disruption_budgets.check_disruption_budget_status,
    _AUTOSCALERS: autoscalers.check_autoscaler_status,
}
# Kinds of which an update checks the metadata once more, and so says the same again.
_CHECKED_AGAIN: Final = frozenset(
    {
        *("configmaps", "secrets", "pods", "namespaces", "nodes", "serviceaccounts"),
        *("persistentvolumes", "persistentvolumeclaims", "resourcequotas", "limitranges"),
        _INGRESSES,
        *(f"{name}.{_RBAC}" for name in ("roles", "clusterroles", "rolebindings")),
        f"clusterrolebindings.{_RBAC}",
    }
)
# A job's update keeps its selector, so what made it need not be checked again; those of the others
# check everything themselves, as what was wrong before may stay.
_NOT_CHECKED_AS_NEW: Final = frozenset(
    {
        *("pods", "jobs.batch", _INGRESSES, _NETWORK_POLICIES),
        *(_DISRUPTION_BUDGETS, _AUTOSCALERS),
    }
)
# Kinds that were made before their metadata was looked at, and still are.
_METADATA_LAST: Final = frozenset({"events", _DISRUPTION_BUDGETS})


def validate_create(kind: ServedKind, document: Document) -> None:
    """Refuse a new object that breaks rules; raises Invalid with every complaint."""
    errors = FieldErrors()
    if kind.custom is not None:
        _check_custom(kind, document, errors)
    else:
        if kind.storage_key not in _METADATA_LAST:
            check_metadata(kind, document["metadata"], errors)
        check = _CREATE.get(kind.storage_key)
        if kind.storage_key == "events":
            _check_event(kind, document, errors)
        elif check is not None:
            check(document, errors)
    _refuse(kind, document, errors)
    if kind.custom is None and kind.storage_key in _METADATA_LAST:
        check_metadata(kind, document["metadata"], errors)
        _refuse(kind, document, errors)


def _check_event(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    if kind.group:
        other_kinds.check_new_event(document, errors)
    else:
        other_kinds.check_event(document, errors)


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
    if kind.storage_key != _DISRUPTION_BUDGETS:
        check_metadata_update(metadata, before, errors)
    check_qualified_finalizers(kind, metadata, errors)
    if subresource == "status":
        check_status = _STATUS_UPDATE.get(kind.storage_key)
        if check_status is not None:
            check_status(new, old, errors)
        _refuse(kind, new, errors)
        return
    update = _UPDATE.get(kind.storage_key)
    whole = kind.storage_key in _NOT_CHECKED_AS_NEW
    if update is not None and not whole:
        update(new, old, errors)
    if kind.storage_key in _CHECKED_AGAIN:
        check_metadata(kind, metadata, errors)
    if update is not None and whole:
        update(new, old, errors)
    if kind.storage_key == "pods":
        pods.check_pod_update(new, old, errors)
    check = _CREATE.get(kind.storage_key)
    if kind.storage_key == "events":
        _check_event(kind, new, errors)
        if kind.group:
            other_kinds.check_new_event_update(new, old, errors)
    elif check is not None and not whole:
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
