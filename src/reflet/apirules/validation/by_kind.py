"""Refuses objects that break the rules of their kind, with all complaints at once.

Which rules apply, and in which order, is the real server's; each rule is in a module beside.

Upstream: pkg/registry/*/*/strategy.go, Validate and ValidateUpdate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.schema.schemas import ANYTHING, Schema
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import (
    autoscalers,
    disruption_budgets,
    other_kinds,
    pods,
    quotas,
    runtime_classes,
    services,
    workloads,
)
from reflet.apirules.validation.batch import jobs
from reflet.apirules.validation.cluster import (
    admission_policies,
    api_services,
    certificate_requests,
    flow_schemas,
    priority_levels,
    webhook_configurations,
)
from reflet.apirules.validation.custom import custom_kinds, definitions
from reflet.apirules.validation.devices import claims, slices
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import (
    check_common_metadata,
    check_metadata,
    check_metadata_update,
    check_qualified_finalizers,
)
from reflet.apirules.validation.networking import (
    cluster_addresses,
    endpoint_slices,
    ingresses,
    network_policies,
)
from reflet.apirules.validation.storage import (
    attachments,
    drivers,
    persistent_volume_claims,
    persistent_volumes,
    storage_classes,
)
from reflet.apirules.validation.update_order import UPDATE_ORDERS

Document = Mapping[str, Any]
CreateCheck = Callable[[Document, FieldErrors], None]
UpdateCheck = Callable[[Document, Document, FieldErrors], None]
WholeCheck = Callable[[ServedKind, Document, FieldErrors], None]
WholeUpdateCheck = Callable[[ServedKind, Document, Document, FieldErrors], None]

_RBAC: Final = "rbac.authorization.k8s.io"
_DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
_INGRESSES: Final = "ingresses.networking.k8s.io"
_NETWORK_POLICIES: Final = "networkpolicies.networking.k8s.io"
_DISRUPTION_BUDGETS: Final = "poddisruptionbudgets.policy"
_AUTOSCALERS: Final = "horizontalpodautoscalers.autoscaling"
_STORAGE_CLASSES: Final = "storageclasses.storage.k8s.io"
_PRIORITY_CLASSES: Final = "priorityclasses.scheduling.k8s.io"
_ADMISSION: Final = "admissionregistration.k8s.io"
_VALIDATING_POLICIES: Final = f"validatingadmissionpolicies.{_ADMISSION}"
_API_SERVICES: Final = "apiservices.apiregistration.k8s.io"
_CERTIFICATE_REQUESTS: Final = "certificatesigningrequests.certificates.k8s.io"
_FLOW_SCHEMAS: Final = "flowschemas.flowcontrol.apiserver.k8s.io"
_PRIORITY_LEVELS: Final = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"

_CREATE: Final[Mapping[str, CreateCheck]] = {
    "configmaps": other_kinds.check_config_map,
    "secrets": other_kinds.check_secret,
    "pods": pods.check_pod,
    "services": services.check_service,
    "endpoints": services.check_endpoints,
    "nodes": other_kinds.check_node,
    "events": other_kinds.check_event,
    "replicationcontrollers": workloads.check_replication_controller,
    "podtemplates": workloads.check_pod_template,
    "deployments.apps": workloads.check_deployment,
    "replicasets.apps": workloads.check_replica_set,
    "statefulsets.apps": workloads.check_stateful_set,
    "daemonsets.apps": workloads.check_daemon_set,
    "jobs.batch": jobs.check_job,
    "cronjobs.batch": jobs.check_cron_job,
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
    "persistentvolumes": persistent_volumes.check_persistent_volume,
    "persistentvolumeclaims": persistent_volume_claims.check_claim,
    _STORAGE_CLASSES: storage_classes.check_storage_class,
    "resourcequotas": quotas.check_quota,
    "limitranges": quotas.check_limit_range,
    _PRIORITY_CLASSES: quotas.check_priority_class,
    "endpointslices.discovery.k8s.io": endpoint_slices.check_endpoint_slice,
    "ipaddresses.networking.k8s.io": cluster_addresses.check_ip_address,
    "servicecidrs.networking.k8s.io": cluster_addresses.check_service_cidr,
    "csidrivers.storage.k8s.io": drivers.check_csi_driver,
    "csinodes.storage.k8s.io": drivers.check_csi_node,
    "csistoragecapacities.storage.k8s.io": drivers.check_storage_capacity,
    "volumeattachments.storage.k8s.io": attachments.check_attachment,
    "volumeattributesclasses.storage.k8s.io": attachments.check_attributes,
    "runtimeclasses.node.k8s.io": runtime_classes.check_runtime_class,
    "resourceclaims.resource.k8s.io": claims.check_claim_of_devices,
    "resourceclaimtemplates.resource.k8s.io": claims.check_claim_template,
    "resourceslices.resource.k8s.io": slices.check_slice,
    "deviceclasses.resource.k8s.io": claims.check_device_class,
}
# Kinds of which one check looks at everything, the metadata too.
_WHOLE_CREATE: Final[Mapping[str, WholeCheck]] = {
    **dict.fromkeys(
        (f"{sort}webhookconfigurations.{_ADMISSION}" for sort in ("mutating", "validating")),
        webhook_configurations.check_webhook_configuration,
    ),
    _VALIDATING_POLICIES: admission_policies.check_validating_policy,
    f"validatingadmissionpolicybindings.{_ADMISSION}": admission_policies.check_validating_binding,
    f"mutatingadmissionpolicies.{_ADMISSION}": admission_policies.check_mutating_policy,
    f"mutatingadmissionpolicybindings.{_ADMISSION}": admission_policies.check_mutating_binding,
    _API_SERVICES: api_services.check_api_service,
    _CERTIFICATE_REQUESTS: certificate_requests.check_certificate_request,
    _FLOW_SCHEMAS: flow_schemas.check_flow_schema,
    _PRIORITY_LEVELS: priority_levels.check_priority_level,
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
    f"rolebindings.{_RBAC}": other_kinds.check_binding_update,
    f"clusterrolebindings.{_RBAC}": other_kinds.check_binding_update,
    _DEFINITIONS: definitions.check_definition_update,
}
_STATUS_UPDATE: Final[Mapping[str, UpdateCheck]] = {
    "pods": pods.check_pod_status_update,
    "nodes": other_kinds.check_node_update,
    "persistentvolumeclaims": persistent_volume_claims.check_claim_status,
    "resourcequotas": quotas.check_quota_status,
    _INGRESSES: ingresses.check_ingress_status,
    _DISRUPTION_BUDGETS: disruption_budgets.check_disruption_budget_status,
    _AUTOSCALERS: autoscalers.check_autoscaler_status,
    _VALIDATING_POLICIES: admission_policies.check_policy_status,
    _API_SERVICES: api_services.check_api_service_status,
    _FLOW_SCHEMAS: flow_schemas.check_flow_status,
    _PRIORITY_LEVELS: flow_schemas.check_flow_status,
}
# Kinds of which an update checks the metadata once more, and so says the same again.
_CHECKED_AGAIN: Final = frozenset(
    {
        *("configmaps", "secrets", "pods", "namespaces", "nodes", "serviceaccounts"),
        *(f"{name}.{_RBAC}" for name in ("roles", "clusterroles", "rolebindings")),
        f"clusterrolebindings.{_RBAC}",
    }
)
# Their updates check all that there is to check themselves.
_NOT_CHECKED_AS_NEW: Final = frozenset({"pods", "services", "statefulsets.apps"})
# Kinds of which an update is checked as a new object first, and what changed then.
_CHANGE_LAST: Final = frozenset({"deployments.apps", "replicasets.apps"})
# Kinds whose metadata is looked at only when everything else is right.
_METADATA_LAST: Final = frozenset({"events", _DISRUPTION_BUDGETS})
# Kinds whose own rules take any name, so that it is checked after them.
_NAMED_LAST: Final = _METADATA_LAST | {_CERTIFICATE_REQUESTS}


def _check_own_metadata(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    check_metadata_update(new["metadata"], old["metadata"], errors)
    check_qualified_finalizers(kind, new["metadata"], errors)


def _volume_update(kind: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
    any_value = persistent_volumes.has_bad_node_labels(old)
    for is_second in (False, True):
        check_metadata(kind, new["metadata"], errors)
        persistent_volumes.check_volume_spec(new, errors, any_value=any_value)
        if not is_second:
            persistent_volumes.check_mount_options(new, errors)
    persistent_volumes.check_persistent_volume_change(_spec_of(kind), new, old, errors)


def _claim_update(kind: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
    _check_own_metadata(kind, new, old, errors)
    check_metadata(kind, new["metadata"], errors)
    spec, before = new["spec"], old["spec"]
    persistent_volume_claims.check_claim_spec(spec, "spec", errors, before=before)
    persistent_volume_claims.check_claim_change(_spec_of(kind), new, old, errors)


def _spec_of(kind: ServedKind) -> Schema:
    return kind.schema.field("spec") or ANYTHING


def _storage_class_update(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    check_metadata(kind, new["metadata"], errors)
    storage_classes.check_storage_class(new, errors)
    _check_own_metadata(kind, new, old, errors)
    storage_classes.check_storage_class_change(new, old, errors)


def _quota_update(kind: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
    _check_own_metadata(kind, new, old, errors)
    quotas.check_quota(new, errors)
    quotas.check_quota_change(new, old, errors)


def _limit_range_update(kind: ServedKind, new: Document, _: Document, errors: FieldErrors) -> None:
    check_metadata(kind, new["metadata"], errors)
    quotas.check_limit_range(new, errors)


def _ingress_update(kind: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
    _check_own_metadata(kind, new, old, errors)
    check_metadata(kind, new["metadata"], errors)
    ingresses.check_ingress_update(new, old, errors)


def _after_metadata(check: UpdateCheck) -> WholeUpdateCheck:
    def update(kind: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
        _check_own_metadata(kind, new, old, errors)
        check(new, old, errors)

    return update


def _budget_update(_: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
    disruption_budgets.check_disruption_budget_update(new, old, errors)


def _as_new(check: WholeCheck) -> WholeUpdateCheck:
    def update(kind: ServedKind, new: Document, _: Document, errors: FieldErrors) -> None:
        check(kind, new, errors)

    return update


def _api_service_update(
    kind: ServedKind, new: Document, old: Document, errors: FieldErrors
) -> None:
    _check_own_metadata(kind, new, old, errors)
    api_services.check_api_service(kind, new, errors)


# Kinds of which an update is checked in an order of its own, or may keep what was wrong before;
# a subresource has a row where it is checked so too.
_WHOLE_UPDATE: Final[Mapping[str, WholeUpdateCheck]] = {
    "persistentvolumes": _volume_update,
    "persistentvolumeclaims": _claim_update,
    _STORAGE_CLASSES: _storage_class_update,
    "resourcequotas": _quota_update,
    "limitranges": _limit_range_update,
    _PRIORITY_CLASSES: _after_metadata(quotas.check_priority_class_change),
    _INGRESSES: _ingress_update,
    _NETWORK_POLICIES: _after_metadata(network_policies.check_network_policy_update),
    _DISRUPTION_BUDGETS: _budget_update,
    _AUTOSCALERS: _after_metadata(autoscalers.check_autoscaler_update),
    **UPDATE_ORDERS,
    **{place: _as_new(check) for place, check in _WHOLE_CREATE.items()},
    _API_SERVICES: _api_service_update,
    _CERTIFICATE_REQUESTS: certificate_requests.check_certificate_request_update,
    f"{_CERTIFICATE_REQUESTS}/approval": certificate_requests.check_certificate_request_approval,
    f"{_CERTIFICATE_REQUESTS}/status": certificate_requests.check_certificate_request_status,
}


def validate_create(kind: ServedKind, document: Document) -> list[str]:
    """Refuse a new object that breaks rules; raises Invalid with every complaint.

    Returns warnings about rules of custom kinds.
    """
    errors = FieldErrors()
    warnings: list[str] = []
    if kind.custom is not None:
        check_metadata(kind, document["metadata"], errors)
        warnings = custom_kinds.check_new(kind.custom, document, errors)
    elif kind.storage_key in _WHOLE_CREATE:
        _WHOLE_CREATE[kind.storage_key](kind, document, errors)
    else:
        if kind.storage_key not in _METADATA_LAST:
            check_metadata(kind, document["metadata"], errors)
        check = _CREATE.get(kind.storage_key)
        if kind.storage_key == "events":
            _check_event(kind, document, errors)
        elif check is not None:
            check(document, errors)
    _refuse(kind, document, errors)
    if kind.custom is None and kind.storage_key in _NAMED_LAST:
        check_metadata(kind, document["metadata"], errors)
        _refuse(kind, document, errors)
    return warnings


def _check_event(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    if kind.group:
        other_kinds.check_new_event(document, errors)
    else:
        other_kinds.check_event(document, errors)


def validate_update(
    kind: ServedKind, old: Document, new: Document, *, subresource: str = ""
) -> list[str]:
    """Refuse a changed object that breaks rules, or changes what may not change.

    Returns warnings about rules of custom kinds.
    """
    errors = FieldErrors()
    metadata, before = new["metadata"], old["metadata"]
    check_common_metadata(kind, metadata, errors)
    check_metadata_update(metadata, before, errors)
    if kind.custom is not None:
        is_status = subresource == "status"
        judge = custom_kinds.check_status if is_status else custom_kinds.check_changed
        warnings = judge(kind.custom, new, old, errors)
        _refuse(kind, new, errors)
        return warnings
    whole = None if subresource == "status" else _WHOLE_UPDATE.get(kind.storage_key)
    whole = _WHOLE_UPDATE.get(f"{kind.storage_key}/{subresource}", whole)
    if whole is not None:
        whole(kind, new, old, errors)
        _refuse(kind, new, errors)
        return []
    if kind.storage_key != _DISRUPTION_BUDGETS:
        _check_own_metadata(kind, new, old, errors)
    if subresource == "status":
        check_status = _STATUS_UPDATE.get(kind.storage_key)
        if check_status is not None:
            check_status(new, old, errors)
        _refuse(kind, new, errors)
        return []
    update = _UPDATE.get(kind.storage_key)
    if update is not None and kind.storage_key not in _CHANGE_LAST:
        update(new, old, errors)
    if kind.storage_key in _CHECKED_AGAIN:
        check_metadata(kind, metadata, errors)
    if kind.storage_key == "pods":
        pods.check_pod_update(new, old, errors)
    check = _CREATE.get(kind.storage_key)
    if kind.storage_key == "events":
        _check_event(kind, new, errors)
        if kind.group:
            other_kinds.check_new_event_update(new, old, errors)
    elif check is not None and kind.storage_key not in _NOT_CHECKED_AS_NEW:
        check(new, errors)
    if update is not None and kind.storage_key in _CHANGE_LAST:
        update(new, old, errors)
    _refuse(kind, new, errors)
    return []


def _refuse(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    if errors:
        name = document["metadata"].get("name", "")
        # Events of either group are refused as those of the core group.
        group = "" if kind.storage_key == "events" else kind.group
        raise refusals.invalid(kind.kind, name, errors.causes, group=group)
