"""Objects that configure a cluster and are accepted; what they match is nowhere.

Owns: the manifests.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import Case, Manifest, manifest

ADMISSION: Final = "admissionregistration.k8s.io/v1"
DEVICES: Final = "resource.k8s.io/v1"
FLOW: Final = "flowcontrol.apiserver.k8s.io/v1"
NETWORK: Final = "networking.k8s.io/v1"
STORAGE: Final = "storage.k8s.io/v1"

ONLY_TRIED: Final = (
    *("API service", "flow schema", "service CIDR", "IP address", "IPv6 address"),
    "slice of names",
)
"""How the titles of those end that are sent as dry runs alone: they change what the real server
serves or which addresses it gives, one of its controllers writes to them at once, or it warns of
them."""

NAME: Final = "{namespace}-x"
RULE: Final = {
    "apiGroups": ["nowhere.example"],
    "apiVersions": ["v1"],
    "resources": ["nothings"],
    "operations": ["CREATE"],
}


def good_cluster_objects() -> Iterator[Case]:
    """Yield a poor and a rich object of each kind that configures a cluster."""
    yield from _webhooks()
    yield from _policies()
    yield from _storage()
    yield from _flows_and_networks()
    yield from _devices()
    yield from _old_autoscalers()


def _cluster(title: str, api_version: str, plural: str, kind: str, **fields: Any) -> Case:
    return title, f"/apis/{api_version}/{plural}", manifest(api_version, kind, name=NAME, **fields)


def _namespaced(title: str, api_version: str, plural: str, kind: str, **fields: Any) -> Case:
    path = f"/apis/{api_version}/namespaces/{{namespace}}/{plural}"
    return title, path, manifest(api_version, kind, **fields)


def _webhook(**fields: Any) -> Manifest:
    service = {"namespace": "nowhere", "name": "hook", "path": "/admit"}
    usual = {
        "name": "hook.nowhere.example",
        "clientConfig": {"service": service},
        "rules": [RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return usual | fields


def _webhooks() -> Iterator[Case]:
    yield _cluster(
        "mutating webhooks",
        *(ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
        webhooks=[_webhook()],
    )
    yield _cluster(
        "validating webhooks",
        *(ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
        metadata={
            "annotations": {"cert-manager.io/inject-ca-from": "cert-manager/webhook-ca"},
            "labels": {"app": "webhook"},
        },
        webhooks=[
            _webhook(
                failurePolicy="Ignore",
                timeoutSeconds=30,
                matchPolicy="Exact",
                namespaceSelector={"matchExpressions": [{"key": "a", "operator": "Exists"}]},
                rules=[RULE | {"scope": "Namespaced"}],
                matchConditions=[{"name": "never", "expression": "false"}],
            ),
            _webhook(
                name="second.nowhere.example", clientConfig={"url": "https://nowhere.example/"}
            ),
        ],
    )
    yield (
        "remote API service",
        "/apis/apiregistration.k8s.io/v1/apiservices",
        manifest(
            "apiregistration.k8s.io/v1",
            "APIService",
            name="v1.{namespace}.example.org",
            spec={
                "group": "{namespace}.example.org",
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,
                "service": {"name": "nobody", "namespace": "nowhere"},
            },
        ),
    )


def _policies() -> Iterator[Case]:
    constraints = {"resourceRules": [RULE]}
    yield _cluster(
        "validating policy",
        *(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
        spec={
            "matchConstraints": constraints,
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "validations": [{"expression": "true"}],
        },
    )
    yield _cluster(
        "validating policy binding",
        *(ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
        spec={
            "policyName": "nobody",
            "validationActions": ["Deny"],
            "matchResources": constraints,
            "paramRef": {"name": "p", "parameterNotFoundAction": "Deny"},
        },
    )
    patch = {"expression": "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}
    yield _cluster(
        "mutating policy",
        *(ADMISSION, "mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
        spec={
            "matchConstraints": constraints,
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": patch}],
        },
    )
    selector = {
        "matchLabels": {"a": "b", "c": "d"},
        "matchExpressions": [{"key": "k", "operator": "In", "values": ["v", "w"]}],
    }
    yield _cluster(
        "mutating policy binding",
        *(ADMISSION, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
        spec={
            "policyName": "nobody",
            "paramRef": {"selector": selector, "parameterNotFoundAction": "Allow"},
        },
    )


def _storage() -> Iterator[Case]:
    yield _cluster("plain CSI driver", STORAGE, "csidrivers", "CSIDriver", spec={})
    yield (
        "rich CSI driver",
        f"/apis/{STORAGE}/csidrivers",
        manifest(
            STORAGE,
            "CSIDriver",
            name="rich.{namespace}",
            spec={
                "attachRequired": False,
                "podInfoOnMount": True,
                "volumeLifecycleModes": ["Persistent", "Ephemeral"],
                "tokenRequests": [{"audience": "a"}, {"audience": "b", "expirationSeconds": 3600}],
                "requiresRepublish": True,
                "serviceAccountTokenInSecrets": True,
            },
        ),
    )
    driver = {"name": "d.example", "nodeID": "n", "topologyKeys": ["zone"]}
    yield _cluster(
        "CSI node",
        *(STORAGE, "csinodes", "CSINode"),
        spec={"drivers": [driver | {"allocatable": {"count": 5}}]},
    )
    yield _namespaced(
        "CSI storage capacity",
        *(STORAGE, "csistoragecapacities", "CSIStorageCapacity"),
        storageClassName="fast",
        capacity="10Gi",
        nodeTopology={"matchLabels": {"zone": "a"}},
    )
    yield _cluster(
        "volume attachment",
        *(STORAGE, "volumeattachments", "VolumeAttachment"),
        spec={
            "attacher": "d.example",
            "nodeName": "n1",
            "source": {"persistentVolumeName": "v1"},
        },
    )
    yield _cluster(
        "volume attributes class",
        *(STORAGE, "volumeattributesclasses", "VolumeAttributesClass"),
        driverName="d.example",
        parameters={"iops": "100"},
    )
    yield _cluster(
        "runtime class",
        *("node.k8s.io/v1", "runtimeclasses", "RuntimeClass"),
        handler="gvisor",
        overhead={"podFixed": {"cpu": "0.25", "memory": "64Mi"}},
        scheduling={"tolerations": [{"key": "a", "operator": "Exists"}]},
    )


def _flows_and_networks() -> Iterator[Case]:
    subject = {"kind": "User", "user": {"name": "nobody"}}
    rule = {"verbs": ["get"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
    rules = [{"subjects": [subject], "resourceRules": [rule]}]
    level = {"priorityLevelConfiguration": {"name": "nothing"}}
    yield _cluster("flow schema", FLOW, "flowschemas", "FlowSchema", spec={**level, "rules": rules})
    yield _cluster(
        "limited priority level",
        *(FLOW, "prioritylevelconfigurations", "PriorityLevelConfiguration"),
        spec={"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}},
    )
    yield _cluster(
        "service CIDR", NETWORK, "servicecidrs", "ServiceCIDR", spec={"cidrs": ["10.99.0.0/24"]}
    )


def _devices() -> Iterator[Case]:
    chosen = {"selectors": [{"cel": {"expression": 'device.driver == "d.example"'}}]}
    yield _cluster("device class", DEVICES, "deviceclasses", "DeviceClass", spec=chosen)
    requests = [
        {"name": "one", "exactly": {"deviceClassName": "c"}},
        {"name": "all", "exactly": {"deviceClassName": "c", "allocationMode": "All"}},
        {"name": "any", "firstAvailable": [{"name": "big", "deviceClassName": "c"}]},
    ]
    devices = {"devices": {"requests": requests}}
    yield _namespaced("resource claim", DEVICES, "resourceclaims", "ResourceClaim", spec=devices)
    yield _namespaced(
        "resource claim template",
        *(DEVICES, "resourceclaimtemplates", "ResourceClaimTemplate"),
        spec={"metadata": {"labels": {"a": "b"}}, "spec": devices},
    )
    device = {
        "name": "gpu-0",
        "attributes": {"model": {"string": "m"}, "index": {"int": 0}},
        "capacity": {"memory": {"value": "16Gi"}},
    }
    yield _cluster(
        "resource slice",
        *(DEVICES, "resourceslices", "ResourceSlice"),
        spec={
            "driver": "d.example",
            "nodeName": "n1",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [device],
        },
    )


def _old_autoscalers() -> Iterator[Case]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    place = ("autoscaling/v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
    spec = {"scaleTargetRef": target, "maxReplicas": 3}
    yield _namespaced(
        "old autoscaler with a target",
        *place,
        name="aim",
        spec=spec | {"minReplicas": 2, "targetCPUUtilizationPercentage": 50},
    )
