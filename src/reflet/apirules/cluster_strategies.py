"""What kinds that configure the cluster get or keep: certificate requests, drivers, devices.

Upstream: pkg/registry/{certificates/certificates,discovery/endpointslice}/strategy.go;
pkg/registry/resource/resourceslice/strategy.go;
pkg/registry/storage/csidriver/strategy.go;
kube-aggregator/pkg/registry/apiservice/strategy.go; apimachinery/pkg/apis/meta/v1/meta.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules.service_allocation import Outside
from reflet.gotext.times import time_text

Document = dict[str, Any]

CERTIFICATE_REQUESTS: Final = "certificatesigningrequests.certificates.k8s.io"
_REQUESTER: Final = ("username", "uid", "groups", "extra")
_PROTECTION: Final = "kubernetes.io/vac-protection"
# What of the metadata a write to the status cannot change.
_KEPT: Final = ("generation", "labels", "annotations", "finalizers", "ownerReferences")


def _certificate_request(document: Document, outside: Outside) -> None:
    spec = document["spec"]
    for name in _REQUESTER:
        spec.pop(name, None)
    spec.update(outside.requester)


def _certificate_request_update(old: Document, document: Document, _: Outside) -> None:
    document["spec"] = old["spec"]


def _certificate_request_status(old: Document, document: Document, outside: Outside) -> None:
    """Keep who approved or denied, and when."""
    before, after = _conditions(old), _conditions(document)
    for kind in ("Approved", "Denied"):
        earlier = [each for each in before if each.get("type") == kind]
        places = [index for index, each in enumerate(after) if each.get("type") == kind]
        if len(earlier) == len(places):
            for index, condition in zip(places, earlier, strict=True):
                after[index] = dict(condition)
    _date_conditions(before, after, time_text(outside.now))


def _approval(old: Document, document: Document, outside: Outside) -> None:
    """Take over the conditions and nothing else."""
    conditions = _conditions(document)
    _date_conditions(_conditions(old), conditions, time_text(outside.now))
    kept = {name: value for name, value in old["status"].items() if name != "conditions"}
    document["status"] = kept | ({"conditions": conditions} if conditions else {})


def _conditions(document: Document) -> list[Document]:
    found: list[Document] = (document.get("status") or {}).get("conditions") or []
    return found


def _date_conditions(before: list[Document], after: list[Document], now: str) -> None:
    since = {
        (each.get("type"), each.get("status")): each["lastTransitionTime"]
        for each in reversed(before)
        if each.get("lastTransitionTime")
    }
    for condition in after:
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if not condition.get("lastTransitionTime"):
            key = condition.get("type"), condition.get("status")
            condition["lastTransitionTime"] = since.get(key, now)


def _api_service(document: Document, outside: Outside) -> None:
    if document["spec"].get("service") is None:
        document["status"] = {
            "conditions": [
                {
                    "type": "Available",
                    "status": "True",
                    "lastTransitionTime": time_text(outside.now),
                    "reason": "Local",
                    "message": "Local APIServices are always available",
                }
            ]
        }


def _driver(document: Document, _: Outside) -> None:
    """Drop what belongs to a feature that is off unless it is asked for."""
    document["spec"].pop("preventPodSchedulingIfMissing", None)


def _driver_update(old: Document, document: Document, outside: Outside) -> None:
    if "preventPodSchedulingIfMissing" not in old["spec"]:
        _driver(document, outside)
    if document["spec"] != old["spec"]:
        # A new driver has no generation: the first change is number one.
        document["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _attributes_class(document: Document, _: Outside) -> None:
    finalizers = document["metadata"].setdefault("finalizers", [])
    if _PROTECTION not in finalizers:
        finalizers.append(_PROTECTION)


def _resource_slice(document: Document, outside: Outside) -> None:
    for device in document["spec"].get("devices") or ():
        # Mappings, and lists as values, belong to features that are off unless they are asked for.
        device.pop("nodeAllocatableResourceMappings", None)
        for attribute in (device.get("attributes") or {}).values():
            for name in ("bools", "ints", "strings", "versions"):
                attribute.pop(name, None)
        for taint in device.get("taints") or ():
            if not taint.get("timeAdded"):
                taint["timeAdded"] = time_text(outside.now)


def _resource_slice_update(_: Document, document: Document, outside: Outside) -> None:
    _resource_slice(document, outside)


def _endpoint_slice(document: Document, _: Outside) -> None:
    """Drop the labels of a node that only an older version of the kind takes."""
    for endpoint in document.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)


def _endpoint_slice_update(_: Document, document: Document, outside: Outside) -> None:
    _endpoint_slice(document, outside)


def _metadata_kept(old: Document, document: Document, _: Outside) -> None:
    metadata, before = document["metadata"], old["metadata"]
    for name in _KEPT:
        metadata.pop(name, None)
        if name in before:
            metadata[name] = before[name]


CLUSTER_GENERATION_FROM_START: Final = frozenset(
    {
        *(
            f"{plural}.admissionregistration.k8s.io"
            for plural in (
                *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
                *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
                *("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
            )
        ),
        "flowschemas.flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        "deviceclasses.resource.k8s.io",
        "resourceslices.resource.k8s.io",
    }
)
STATUS_WITHOUT_METADATA: Final = frozenset(
    {
        "apiservices.apiregistration.k8s.io",
        "flowschemas.flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        "resourceclaims.resource.k8s.io",
        "servicecidrs.networking.k8s.io",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "volumeattachments.storage.k8s.io",
    }
)
"""Kinds whose metadata a write to the status cannot change."""

CLUSTER_CREATE_RULES: Final[Mapping[str, Callable[[Document, Outside], None]]] = {
    CERTIFICATE_REQUESTS: _certificate_request,
    "apiservices.apiregistration.k8s.io": _api_service,
    "csidrivers.storage.k8s.io": _driver,
    "endpointslices.discovery.k8s.io": _endpoint_slice,
    "resourceslices.resource.k8s.io": _resource_slice,
    "volumeattributesclasses.storage.k8s.io": _attributes_class,
}
CLUSTER_UPDATE_RULES: Final[Mapping[str, Callable[[Document, Document, Outside], None]]] = {
    CERTIFICATE_REQUESTS: _certificate_request_update,
    "csidrivers.storage.k8s.io": _driver_update,
    "endpointslices.discovery.k8s.io": _endpoint_slice_update,
    "resourceslices.resource.k8s.io": _resource_slice_update,
}
CLUSTER_STATUS_RULES: Final[Mapping[str, Callable[[Document, Document, Outside], None]]] = {
    CERTIFICATE_REQUESTS: _certificate_request_status,
    f"{CERTIFICATE_REQUESTS}/approval": _approval,
    **dict.fromkeys(STATUS_WITHOUT_METADATA, _metadata_kept),
}
