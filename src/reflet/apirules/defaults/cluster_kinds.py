"""The defaults of what configures the cluster: webhooks, drivers, flow control, devices.

Upstream: pkg/apis/{admissionregistration,flowcontrol,resource,storage}/v1/defaults.go;
kube-aggregator/pkg/apis/apiregistration/v1/defaults.go
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules.defaults.workloads import CPU_UTILIZATION

Defaulter = Callable[[dict[str, Any]], None]

OTHER_METRICS: Final = "autoscaling.alpha.kubernetes.io/metrics"
"""Where ``autoscaling/v1`` keeps the metrics of an autoscaler that it knows no field for."""

_ADMISSION: Final = "io.k8s.api.admissionregistration.v1."
_AUTOSCALING: Final = "io.k8s.api.autoscaling.v1."
_DEVICES: Final = "io.k8s.api.resource.v1."
_FLOW: Final = "io.k8s.api.flowcontrol.v1."


def _absent(**values: Any) -> Defaulter:
    """Fill in what is not there."""

    def fill(document: dict[str, Any]) -> None:
        for name, value in values.items():
            if document.get(name) is None:
                document[name] = copy.copy(value)

    return fill


def _zero(**values: Any) -> Defaulter:
    """Fill in what is not there or nothing: zero, or no text."""

    def fill(document: dict[str, Any]) -> None:
        for name, value in values.items():
            if not document.get(name):
                document[name] = value

    return fill


def _device_request(document: dict[str, Any]) -> None:
    if not document.get("allocationMode"):
        document["allocationMode"] = "ExactCount"
    if document["allocationMode"] == "ExactCount" and not document.get("count"):
        document["count"] = 1


def _device(document: dict[str, Any]) -> None:
    for mapping in (document.get("nodeAllocatableResourceMappings") or {}).values():
        mapping.setdefault("allocationMultiplier", "1")


def _driver(document: dict[str, Any]) -> None:
    _USUAL_DRIVER(document["spec"])
    if not document["spec"].get("volumeLifecycleModes"):
        document["spec"]["volumeLifecycleModes"] = ["Persistent"]


def _autoscaler(document: dict[str, Any]) -> None:
    spec = document["spec"]
    spec.setdefault("minReplicas", 1)
    notes = (document.get("metadata") or {}).get("annotations") or {}
    if spec.get("targetCPUUtilizationPercentage") is None and OTHER_METRICS not in notes:
        spec["targetCPUUtilizationPercentage"] = CPU_UTILIZATION


_USUAL_DRIVER: Final = _absent(
    attachRequired=True,
    podInfoOnMount=False,
    storageCapacity=False,
    fsGroupPolicy="ReadWriteOnceWithFSType",
    requiresRepublish=False,
    seLinuxMount=False,
)
_MATCHING: Final[Mapping[str, Any]] = {
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
}
_WEBHOOK: Final[Mapping[str, Any]] = {"failurePolicy": "Fail", **_MATCHING, "timeoutSeconds": 10}
_SERVICE: Final = _absent(port=443)

DEFAULTERS: Final[Mapping[str, Defaulter]] = {
    f"{_ADMISSION}MatchResources": _absent(**_MATCHING),
    f"{_ADMISSION}MutatingAdmissionPolicySpec": _absent(failurePolicy="Fail"),
    f"{_ADMISSION}MutatingWebhook": _absent(**_WEBHOOK, reinvocationPolicy="Never"),
    f"{_ADMISSION}NamedRuleWithOperations": _absent(scope="*"),
    f"{_ADMISSION}RuleWithOperations": _absent(scope="*"),
    f"{_ADMISSION}ServiceReference": _SERVICE,
    f"{_ADMISSION}ValidatingAdmissionPolicySpec": _absent(failurePolicy="Fail"),
    f"{_ADMISSION}ValidatingWebhook": _absent(**_WEBHOOK),
    f"{_AUTOSCALING}HorizontalPodAutoscaler": _autoscaler,
    f"{_DEVICES}Device": _device,
    f"{_DEVICES}DeviceSubRequest": _device_request,
    f"{_DEVICES}ExactDeviceRequest": _device_request,
    f"{_FLOW}ExemptPriorityLevelConfiguration": _absent(
        nominalConcurrencyShares=0, lendablePercent=0
    ),
    f"{_FLOW}FlowSchemaSpec": _zero(matchingPrecedence=1000),
    f"{_FLOW}LimitedPriorityLevelConfiguration": _absent(
        nominalConcurrencyShares=30, lendablePercent=0
    ),
    f"{_FLOW}QueuingConfiguration": _zero(handSize=8, queues=64, queueLengthLimit=50),
    "io.k8s.api.storage.v1.CSIDriver": _driver,
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference": _SERVICE,
}
